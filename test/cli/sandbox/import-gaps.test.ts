import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';

const user = '0x00000000000000000000000000000000000000aa';
const fill = (order: number, side: 'B' | 'A', sz: string, px: string, startPosition: string) => ({
  user,
  coin: 'ETH',
  px,
  sz,
  side,
  time: 1_760_000_000_000 + order * 60_000,
  startPosition,
  dir: side === 'B' ? 'Open Long' : 'Close Long',
  hash: `0x${String(order).repeat(64)}`,
  oid: order,
  fee: '0',
});

async function imported(fills: readonly object[]) {
  const env = { SOTRA_DATA_DIR: temporaryFolder(), SOTRA_CONFIG_DIR: temporaryFolder() };
  const file = join(temporaryFolder(), 'fills.json');
  writeFileSync(file, JSON.stringify(fills));
  await run('sandbox reset --empty --yes', { env });
  const load = ['sandbox', 'import', file, '--preset', 'hyperliquid-fills', '--own-time'];
  const report = await run([...load, '--json'], { env });
  const { out } = await run(`--sandbox profile positions ${user} closed --chains all --json`, { env });
  const other = { SOTRA_DATA_DIR: temporaryFolder() };
  const told = [(await run(load, { env: other })).err, (await run(load, { env: other })).err];
  return { report: JSON.parse(report.out), positions: JSON.parse(out), told };
}

test('fills that are missing inside a position make its figures unavailable, and the import says of how many', async () => {
  const whole = [fill(1, 'B', '10', '100', '0'), fill(2, 'B', '5', '102', '10'), fill(3, 'A', '15', '110', '15')];
  const all = await imported(whole);
  expect([all.report.unavailable, all.told]).toEqual([0, ['', '']]);
  expect(all.positions[0].metadata.positionStats).toMatchObject({ unavailable: false, realizedGainsUSD: 140 });
  const cut = await imported(whole.filter(({ oid }) => oid !== 2));
  expect(cut.report).toMatchObject({ imported: 2, rejected: 0, unavailable: 1 });
  // The second time nothing is new.
  expect(cut.told).toEqual(['Positions that the file shows only in part: 1. Their figures are unavailable.\n', '']);
  expect(cut.positions[0].metadata.positionStats).toMatchObject({
    unavailable: true,
    realizedGainsUSD: 100,
    receivedCostBasisUSD: 550,
  });
});

test('numbers whose sums no double holds are an error of their row', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const token = '0x00000000000000000000000000000000000000bb';
  const stdin = `time,trader,token,side,amount,usd\n1,${user},${token},buy,1,1e308\n2,${user},${token},buy,1e-300,5\n3,${user},${token},buy,1,1e60\n`;
  const { code, err, out } = await run('sandbox import - --chain base --json', { env, stdin });
  expect([code, JSON.parse(out)]).toMatchObject([10, { imported: 1, rejected: 2 }]);
  expect(err).toContain('line 2: usd "1e308": must be a number from 1e-60 to 1e60');
  expect(err).toContain('line 3: amount "1e-300": must be a number from 1e-60 to 1e60');
  for (const [flag, value] of [
    ['--amount', '1e308'],
    ['--usd', '1e61'],
  ]) {
    const argv = `sandbox trade --chain base --trader ${user} --token ${token} --side buy --amount 1 --usd 1 ${flag} ${value}`;
    expect(await run(argv, { env })).toMatchObject({ code: 2, err: expect.stringContaining(`${flag} 1e`) });
  }
});
