import { expect, test } from 'vitest';
import { answering, run } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

test.each([
  `profile positions ${trader} open`,
  'position get 6527ff56-9ac0-5c42-812c-d84aa9a0cf53',
  `feed actor ${trader}`,
  `token comments base ${degen}`,
  'leaderboard copytraded',
])('%s shows times that come in milliseconds as it shows seconds', async (argv) => {
  const service = await serveSandbox({ now: () => Date.UTC(2026, 10, 20) });
  const { out: seconds } = await run(`${argv} --json`, { env: service.envA });
  const millis = seconds.replaceAll(/("\w*(?:timestamp|TradeAt|Unix)": )(\d{10})\b/g, '$1$2000');
  expect(millis).not.toBe(seconds);
  const [inSeconds, inMillis] = [await answering(seconds), await answering(millis)];
  for (const format of ['', '--format csv', '--format tsv']) {
    const [wanted, shown] = [
      await run(`${argv} ${format}`, { env: inSeconds.env, tty: 200 }),
      await run(`${argv} ${format}`, { env: inMillis.env, tty: 200 }),
    ];
    expect([shown.code, shown.out, shown.err]).toEqual([0, wanted.out, wanted.err]);
    expect(shown.out + shown.err).toMatch(format === '' ? /2026-1[01]-\d\d/ : /./);
  }
  expect((await run(`${argv} --json`, { env: inMillis.env })).out).toBe(millis);
});

test('--newer-than compares with times that come in milliseconds', async () => {
  const card = (itemId: string, timestamp: number) => ({
    itemId,
    timestamp,
    cardLatestTradeAt: timestamp,
    actor: { type: 'user', address: trader },
    metadata: { tokenChain: 'base', tokenAddress: degen, tokenSymbol: 'DEGEN', trades: [] },
    metrics: {},
  });
  const items = [card('new', 1_795_218_360_000), card('old', 1_795_218_300_000)];
  const pagination = { olderItemsURL: null, newerItemsURL: null };
  const { env } = await answering({ items, pagination });
  const { out } = await run(`feed actor ${trader} --newer-than 1795218330 --all --format csv --columns itemId`, {
    env,
  });
  expect(out).toBe('itemId\nnew\n');
});
