import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { readAddressFile } from '../../../src/upload/address-file.ts';
import { fc } from '../../support/draw.ts';
import { run, temporaryFolder } from '../../support/harness.ts';
import { long, size } from '../../support/size.ts';
import { place } from '../../support/upload-place.ts';

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''));
const lowEvm = hex(40).map((digits) => `0x${digits}`);
const solana = fc.constantFrom(
  'So11111111111111111111111111111111111111112',
  '116HTnNMXBLL6LCQ1qAQEZ7E9bDXSJjV6hnZsziospk',
  '121u8nkxdL4tuB3WepS59QEc49UUvk4dqScj5YLREhRJ',
);
const external = fc.string({ minLength: 1, maxLength: 20 }).map((id) => `ext:${id.replaceAll(/[\p{C}\s]/gu, 'x')}`);
const wrong = fc.constantFrom('nonsense', '0x12', '\\x00', '0X', `0x${'g'.repeat(40)}`);
const address = fc.oneof({ weight: 6, arbitrary: lowEvm }, solana, external);

/** The file in pieces that end anywhere. */
async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let from = 0, index = 0; from < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

test('whatever the pieces a file comes in: each line is read once, in order, with its number', async () => {
  await fc.assert(
    fc.asyncProperty(
      lowEvm,
      fc.array(fc.oneof({ weight: 8, arbitrary: address }, wrong, fc.constant('')), { maxLength: 60 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
      async (first, more, end, closed, sizes) => {
        const lines = [first, ...more, ...more.slice(0, 3)];
        const bytes = Buffer.from(lines.join(end) + (closed ? end : ''));
        const read: [number, string][] = [];
        for await (const batch of readAddressFile({ name: 'f', bytes: inPieces(bytes, sizes) }))
          for (const { line, text } of batch) read.push([line, text]);
        expect(read).toEqual(lines.flatMap((text, index) => (text === '' ? [] : [[index + 1, text]])));
      },
    ),
    { numRuns: size(40, 150) },
  );
});

test('each distinct address is sent once, in order, whatever is repeated between', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(address, { minLength: 1, maxLength: 60 }), async (lines) => {
      const { sotra, sent, write } = place();
      run += 1;
      write('list', [...lines, ...lines.slice(0, 3)].join('\n'));
      const { code, out } = await sotra(`webhook add-addresses w-${run} --file @list --json`);
      const distinct = [...new Set(lines)];
      expect([code, JSON.parse(sent[0]?.body ?? '')]).toEqual([0, { walletAddresses: distinct }]);
      const duplicates = lines.length + lines.slice(0, 3).length - distinct.length;
      expect(JSON.parse(out)).toMatchObject({ addresses: distinct.length, duplicates });
    }),
    { numRuns: size(15, 60) },
  );
});

const lists = '../shared/data';

/** Real ones, which lie beside the project or do not. */
const listed = existsSync(lists) ? long : test.skip;

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

listed('252,803 real addresses are 253 chunks and all of them are held', async () => {
  const { told, held } = await register('addresses-evm/uniswap_airdrop_2020.csv.gz');
  expect(told).toMatchObject({ addresses: 252_803, chunks: 253, duplicates: 0, rejected: 0 });
  expect(held).toHaveLength(252_803);
});

listed('11,536 real Solana addresses keep their case', async () => {
  const { told, held } = await register('addresses-solana/solana_wallets.txt.gz');
  expect(told).toMatchObject({ addresses: 11_536, chunks: 12 });
  expect(held).toContain('116HTnNMXBLL6LCQ1qAQEZ7E9bDXSJjV6hnZsziospk');
});
