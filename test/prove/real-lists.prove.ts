import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { run, temporaryFolder } from '../support/harness.ts';

const lists = '../shared/data';

/** Registers a list with a sandbox of its own: what the command says, and the addresses that are held then. */
async function register(list: string) {
  const folder = temporaryFolder();
  const argv = `--sandbox webhook register --url http://127.0.0.1:9/hook --file ${lists}/${list} --json`;
  const { code, out } = await run(argv, { env: { SOTRA_DATA_DIR: folder } });
  expect(code).toBe(0);
  const db = openDb(join(folder, 'sandbox.db'));
  const held = db.all<{ address: string }>('SELECT address FROM webhook_wallet').map(({ address }) => address);
  db.close();
  return { told: JSON.parse(out), held };
}

test.skipIf(!existsSync(lists))('252,803 real addresses are 253 chunks and all of them are held', async () => {
  const { told, held } = await register('addresses-evm/uniswap_airdrop_2020.csv.gz');
  expect(told).toMatchObject({ addresses: 252_803, chunks: 253, duplicates: 0, rejected: 0, resentChunks: 0 });
  expect(held).toHaveLength(252_803);
});

test.skipIf(!existsSync(lists))('11,536 real Solana addresses keep their case', async () => {
  const { told, held } = await register('addresses-solana/solana_wallets.txt.gz');
  expect(told).toMatchObject({ addresses: 11_536, chunks: 12 });
  expect(held).toContain('116HTnNMXBLL6LCQ1qAQEZ7E9bDXSJjV6hnZsziospk');
});
