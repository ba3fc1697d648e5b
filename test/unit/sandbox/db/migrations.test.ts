import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../../support/harness.ts';

// Made by the program of layout 6: five imported trades of two wallets, a name, a follow. The newest trade is at this moment.
const newestMs = 1795235041309;
const ada = '0x1111111111111111111111111111111111111111';
const bob = '0x2222222222222222222222222222222222222222';
const gm = '0x5180db8f5c931aae63c74266b211f580155ecac8';

test('a database of an older version is brought up to date with its trades, names and follows, and takes new trades', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  writeFileSync(join(env.SOTRA_DATA_DIR, 'sandbox.db'), gunzipSync(readFileSync('test/support/layout-6.db.gz')));
  const at = { env, now: newestMs + 60_000 };
  const board = async () =>
    JSON.parse((await run('--sandbox leaderboard list --json', at)).out).traders.map(
      (trader: { profile: { name: string }; pnl: { total: number } }) => [trader.profile.name, trader.pnl.total],
    );
  expect(await board()).toEqual([
    ['ada.alpha.test', 550],
    ['0x2222…2222', -10],
  ]);
  const follows = JSON.parse((await run(`--sandbox profile follows ${bob} --json`, at)).out);
  expect(follows.items.map((profile: { name: string }) => profile.name)).toEqual(['ada.alpha.test']);
  // The file of then, written a little otherwise: its trades are known.
  const file = join(env.SOTRA_DATA_DIR, 'trades.csv');
  writeFileSync(
    file,
    `time,chain,trader,token,side,amount,usd,tx
2026-11-20T09:00:00Z,base,${ada},${gm},buy,100,200,0xa1
2026-11-20T09:10:00Z,base,${ada},${gm},buy,100.0,300,0xa2
2026-11-20T09:20:00Z,base,${ada},${gm},sell,150,900.00,0xa3
2026-11-20T09:30:00Z,base,${bob},${gm},buy,10,60,0xb1
2026-11-20T09:40:00Z,base,${bob},${gm},sell,1e1,50,0xb2
`,
  );
  expect(JSON.parse((await run(`sandbox import ${file} --json`, at)).out)).toMatchObject({ imported: 0, repeated: 5 });
  // 50 of 200 tokens are left of what cost 3 each: 150, sold for 350.
  const trade = `sandbox trade --chain base --trader ${ada} --token ${gm} --side sell --amount 50 --usd 350`;
  expect((await run(trade, at)).code).toBe(0);
  expect(await board()).toEqual([
    ['ada.alpha.test', 750],
    ['0x2222…2222', -10],
  ]);
});
