import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const perps = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

interface Card {
  metadata: { tokenAddress: string; trades: { direction: string; usdCost: number; tokenAmount: number }[] };
}

/** What a feed says, without what moves with the clock: token, and each trade with its figures. */
function tradesOf(cards: readonly Card[]): string[] {
  return cards
    .flatMap(({ metadata: { tokenAddress, trades } }) =>
      trades.map(({ direction, usdCost, tokenAmount }) => `${tokenAddress} ${direction} ${usdCost} ${tokenAmount}`),
    )
    .sort();
}

test('a recording makes a sandbox in which its traders have made the same trades', async () => {
  const folder = temporaryFolder();
  const [recording, db] = [join(folder, 'recorded.har'), join(folder, 'seed.db')];
  const env = { SOTRA_DATA_DIR: folder };
  const feeds: Card[] = [];
  for (const argv of [`feed actor ${trader} --all`, `profile positions ${perps} closed --chains hyperliquid --all`]) {
    const { code, out } = await run(`--sandbox ${argv} --json --record ${recording}`, { env });
    expect(code).toBe(0);
    feeds.push(...JSON.parse(out));
  }
  const expected = tradesOf(feeds);
  expect(expected.length).toBeGreaterThan(20);
  const imported = await run(`sandbox import ${recording} --db ${db} --json`);
  expect(imported).toMatchObject({ code: 0 });
  expect(JSON.parse(imported.out)).toMatchObject({ imported: expected.length, rejected: 0, traders: 3 });
  expect(JSON.parse((await run(`sandbox import ${recording} --db ${db} --json`)).out)).toMatchObject({
    imported: 0,
    repeated: expected.length,
  });
});

test('a recording without trades, another file and flags about columns are refused with the reason', async () => {
  const folder = temporaryFolder();
  const [recording, db] = [join(folder, 'recorded.har'), join(folder, 'seed.db')];
  const fail = async (argv: string) => (await run(`sandbox import ${argv} --db ${db}`)).err;
  expect(await fail(join(folder, 'none.har'))).toContain('none.har: there is no such file');
  await run(`--sandbox leaderboard list --limit 1 --record ${recording}`);
  expect(await fail(recording)).toContain(`${recording}: its answers hold no trades`);
  expect(await fail(`${recording} --preset dune`)).toContain('--preset: ');
  expect(await fail(`${recording} --map a=usd`)).toContain('--map: ');
  writeFileSync(recording, '{"no":"archive"}');
  expect(await fail(recording)).toContain(`${recording}: is not an HTTP archive (HAR)`);
});
