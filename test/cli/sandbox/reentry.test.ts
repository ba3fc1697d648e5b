import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';

const [alice, bob] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`];
const token = `0x${'4'.repeat(40)}`;

/** Trades and positions of a world of its own. */
function world() {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const json = async (argv: string) => {
    const { out, err, code } = await run(`--sandbox ${argv} --json`, { env });
    return { code, err, ...(out === '' ? {} : JSON.parse(out)) };
  };
  const trade = (trader: string, side: string, amount: number, usd: number, more = '') =>
    json(
      `sandbox trade --chain base --trader ${trader} --token ${token} --side ${side} --amount ${amount} --usd ${usd} ${more}`,
    );
  const ids = async (status: string) => {
    const { out } = await run(`--sandbox profile positions ${alice} ${status} --json --jq .[].itemId`, { env });
    return out.trim().split('\n').filter(Boolean);
  };
  const card = async (id: string) => {
    const { positionAmount, positionStats } = (await json(`position get ${id}`)).metadata;
    return [positionAmount, positionStats.holdingsCostBasisUSD, positionStats.realizedGainsUSD];
  };
  return { trade, ids, card };
}

test('a position that its price alone closed stays closed: who buys again enters a new one', async () => {
  const { trade, ids } = world();
  const first = await trade(alice, 'buy', 100, 200);
  expect(await ids('open')).toEqual([first.positionId]);
  await trade(bob, 'buy', 1000, 1);
  expect([await ids('open'), await ids('closed')]).toEqual([[], [first.positionId]]);
  const second = await trade(alice, 'buy', 10, 50);
  expect(second.positionId).not.toBe(first.positionId);
  expect([await ids('open'), await ids('closed')]).toEqual([[second.positionId], [first.positionId]]);
  // The price rises, and the old one does not come back.
  await trade(bob, 'buy', 1, 10);
  expect(await ids('closed')).toEqual([first.positionId]);
});

test('what was left when the price closed a position begins the next one, at its cost', async () => {
  const { trade, card } = world();
  const first = await trade(alice, 'buy', 100, 200);
  await trade(bob, 'buy', 1000, 1);
  const second = await trade(alice, 'buy', 10, 50);
  expect([await card(first.positionId), await card(second.positionId)]).toEqual([
    [0, 0, 0],
    [110, 250, 0],
  ]);
  // The oldest tokens go first: 100 that cost 200, and 5 that cost 25.
  await trade(alice, 'sell', 105, 525);
  expect(await card(second.positionId)).toEqual([5, 25, 300]);
});

test('a position that was sold and bought again is another one', async () => {
  const { trade, ids } = world();
  const first = await trade(alice, 'buy', 100, 200);
  await trade(alice, 'sell', 100, 300);
  const second = await trade(alice, 'buy', 100, 200);
  expect([await ids('open'), await ids('closed')]).toEqual([[second.positionId], [first.positionId]]);
});

test('the same transaction twice is one trade; with other figures it is refused', async () => {
  const { trade, ids } = world();
  const tx = `--tx 0x${'5'.repeat(64)}`;
  const first = await trade(alice, 'buy', 100, 200, tx);
  const again = await trade(alice, 'buy', 100, 200, tx.toUpperCase().replace('--TX 0X', '--tx 0x'));
  expect([first.isRepeated, again.isRepeated, again.positionId]).toEqual([false, true, first.positionId]);
  expect([again.deliveries, again.timestamp]).toEqual([0, first.timestamp]);
  const other = await trade(alice, 'buy', 100, 300, tx);
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('is there already, of 100 tokens for 200 USD')]);
  // Another swap of the transaction.
  expect((await trade(alice, 'sell', 50, 120, tx)).isRepeated).toBe(false);
  expect(await ids('open')).toEqual([first.positionId]);
});
