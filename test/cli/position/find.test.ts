import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';
import { now, wallet, worldOf } from '../../support/trades.ts';

const alice = wallet('a');
const gm = `0x${'0'.repeat(38)}61`;
const mint = 'So11111111111111111111111111111111111111112';
const account = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

const sentTime = async (chain: string, typed: string) => {
  const service = await answering({});
  const argv = ['position', 'find', alice, chain, chain === 'solana' ? mint : gm, typed, '--json'];
  const { err, code } = await run(argv, { env: service.env, now });
  return service.requests[0]?.url.split('/').at(-1) ?? { err, code };
};

test.each([
  ['base', '2026-11-20T11:30:00Z', '1795174200'],
  ['base', '2026-11-20T11:30:00.900Z', '1795174200'],
  ['base', '2026-11-20 11:30:00Z', '1795174200'],
  ['base', '2026-11-20T11:30:00', '1795174200'],
  ['base', '2026-11-20T12:30:00+01:00', '1795174200'],
  ['base', '1795174200', '1795174200'],
  ['base', '1795174200123', '1795174200'],
  ['base', 'now', '1795176000'],
  ['solana', '1795174200123', '1795174200'],
  ['hyperliquid', '1795174200123', '1795174200123'],
  ['hyperliquid', '1795174200', '1795174200000'],
  ['hyperliquid', '2026-11-20T11:30:00.123Z', '1795174200123'],
])('on %s the time %s is sent as %s', async (chain, typed, sent) => {
  expect(await sentTime(chain, typed)).toBe(sent);
});

test.each([
  'yesterday',
  '2026-13-40',
  '2026-02-30',
  '2026-11-20T25:00:00Z',
  '20261127',
  '0',
  '1',
  '1795174',
  '1795174200123456',
  '12:30',
  '99999999999999999999',
])('a time that cannot be one (%s) is refused before any request, with examples', async (typed) => {
  const { err, code } = (await sentTime('base', typed)) as { err: string; code: number };
  expect(code).toBe(2);
  expect(JSON.parse(err).error).toMatchObject({
    message: `<timestamp> ${typed}: not a time`,
    hint: 'Write 2026-11-20T23:46:00Z, Unix seconds (10 digits), Unix milliseconds (13 digits), or now.',
  });
});

test('a time before the first trades is refused before any request', async () => {
  expect(await sentTime('base', '1000000000')).toMatchObject({
    code: 2,
    err: expect.stringContaining('<timestamp> 1000000000 is in the year 2001: not the time of a trade'),
  });
});

const find = async (env: Record<string, string>, argv: string) => {
  const { out, err, code } = await run(`--sandbox position find ${argv} --json`, { env, now });
  return code === 0 ? JSON.parse(out) : { code, err };
};

test('a position is found by any moment from its first trade to its last, and an open one until now', async () => {
  const env = await worldOf([
    `2026-11-20T09:00:00Z base ${alice} ${gm} buy 10 20`,
    `2026-11-20T10:00:00Z base ${alice} ${gm} sell 10 30`,
    `2026-11-20T11:00:00Z base ${alice} ${gm} buy 5 10`,
    `2026-11-20T12:00:00Z base ${wallet('b')} ${gm} buy 5 10`,
  ]);
  const at = async (time: string) => {
    const card = await find(env, `${alice} base ${gm} 2026-11-20T${time}Z`);
    return card.metadata?.trades.length ?? card.code;
  };
  expect([await at('09:00:00'), await at('09:30:00'), await at('10:00:00')]).toEqual([2, 2, 2]);
  expect([await at('11:00:00'), await at('11:59:59'), await at('12:00:00')]).toEqual([1, 1, 1]);
  expect([await at('08:59:59'), await at('10:00:01'), await at('10:59:59'), await at('12:00:01')]).toEqual([
    5, 5, 5, 5,
  ]);
});

test('where one position closes and the next opens in the same second, the newest is the one found', async () => {
  const env = await worldOf([
    `2026-11-20T11:00:00Z base ${alice} ${gm} buy 10 20`,
    `2026-11-20T12:00:00Z base ${alice} ${gm} sell 10 30`,
    `2026-11-20T12:00:00Z base ${alice} ${gm} buy 7 14`,
  ]);
  const card = await find(env, `${alice} base ${gm} 2026-11-20T12:00:00Z`);
  expect(card.metadata.positionAmount).toBe(7);
});

test('a real account that turned from short to long and back is told apart by milliseconds', async () => {
  // Recorded fills of SUI; their spacing is real, their end is 2 h 53 min 56 s before the newest trade of the built-in world.
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const at = async (ms: number) => {
    const card = await find(env, `${account} hyperliquid SUI ${ms}`);
    return [card.metadata?.perpPositionType, card.metadata?.positionStats.realizedGainsUSD.toFixed(5)];
  };
  const last = 1795165564000; // 2026-11-20T12:00:00Z less that
  expect(await at(last - 239_675)).toEqual(['long', '-0.00236']); // the fill that turned it long
  expect(await at(last - 238_600)).toEqual(['long', '-0.00236']); // 2 ms before it turned short
  expect(await at(last - 238_598)).toEqual(['short', '0.09373']); // the fill that turned it short
  expect(await at(last - 230_000)).toEqual(['short', '0.09373']); // between two fills
  expect(await at(last - 225_894)).toEqual(['short', '1.20890']); // closed it, opened and closed a long, and sold on
  expect(await at(last)).toEqual(['long', '-23.60737']);
});

test('nothing found says who, what and when, and is exit 5', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  expect(await find(env, `${account} hyperliquid SUI 2026-01-01T00:00:00Z`)).toEqual({
    code: 5,
    err: expect.stringContaining(`${account} has no position in SUI on hyperliquid around 2026-01-01T00:00:00.000Z`),
  });
  const unknown = await run('--sandbox position get no-such-id --json', { env });
  expect(unknown).toMatchObject({ code: 5, err: expect.stringContaining('position no-such-id does not exist') });
});
