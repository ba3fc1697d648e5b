import { expect, test } from 'vitest';
import { readAddressFile } from '../../../src/upload/address-file.ts';
import { fc } from '../../support/draw.ts';
import { size } from '../../support/size.ts';
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
