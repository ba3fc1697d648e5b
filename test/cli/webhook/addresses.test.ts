import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAddressSet } from '../../../src/model/address-set.ts';
import { hasWrongChecksum } from '../../../src/model/keccak.ts';
import { readAddressFile } from '../../../src/upload/address-file.ts';
import { runFirstPass } from '../../../src/upload/first-pass.ts';
import { fc } from '../../support/draw.ts';
import { checksummed } from '../../support/eip55.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { size } from '../../support/size.ts';

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

test('whatever the pieces a file comes in: each distinct address is kept once, in order, and each bad line is told', async () => {
  const folder = temporaryFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      lowEvm,
      fc.array(fc.oneof({ weight: 8, arbitrary: address }, wrong, fc.constant('')), { maxLength: 60 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
      async (first, more, end, closed, sizes) => {
        const lines = [first, ...more, ...more.slice(0, 3)];
        const to = join(folder, `list-${run++}`);
        const rejected: number[] = [];
        const pass = await runFirstPass({
          lines: readAddressFile({
            name: 'f',
            bytes: inPieces(Buffer.from(lines.join(end) + (closed ? end : '')), sizes),
          }),
          to,
          allowBadChecksum: false,
          onRejected: ({ line }) => rejected.push(line),
          onRead: () => undefined,
          meanwhile: () => Promise.resolve(),
          signal: new AbortController().signal,
        });
        const bad = ['nonsense', '0x12', '\\x00', '0X', `0x${'g'.repeat(40)}`];
        const good = lines.filter((line) => line !== '' && !bad.includes(line));
        const kept = readFileSync(to, 'utf8').split('\n').slice(0, -1);
        expect(kept).toEqual([...new Set(good)]);
        expect(pass).toMatchObject({ addresses: kept.length, duplicates: good.length - kept.length });
        expect(rejected).toEqual(lines.flatMap((line, index) => (bad.includes(line) ? [index + 1] : [])));
      },
    ),
    { numRuns: size(40, 150) },
  );
});

test('the compact set agrees with a plain one, also where it grows', () => {
  fc.assert(
    fc.property(fc.array(address, { maxLength: 400 }), fc.array(address, { maxLength: 40 }), (added, asked) => {
      const [compact, plain] = [createAddressSet(), new Set<string>()];
      for (const each of added) {
        expect(compact.add(each)).toBe(!plain.has(each));
        plain.add(each);
      }
      for (const each of [...asked, ...added]) expect(compact.has(each)).toBe(plain.has(each));
      expect(compact.size()).toBe(plain.size);
    }),
    { numRuns: size(15, 60) },
  );
  const many = createAddressSet();
  for (let index = 0; index < 100_000; index += 1) many.add(`0x${index.toString(16).padStart(40, '0')}`);
  expect(many.size()).toBe(100_000);
  expect(many.add(`0x${(99_999).toString(16).padStart(40, '0')}`)).toBe(false);
});

test('the addresses of EIP-55 have the right checksum, and with one letter of the other case the wrong one', () => {
  for (const each of checksummed) expect([each, hasWrongChecksum(each)]).toEqual([each, false]);
  for (const each of checksummed.slice(4)) {
    const at = 2 + each.slice(2).search(/[a-f]/);
    const changed = each.slice(0, at) + (each[at] ?? '').toUpperCase() + each.slice(at + 1);
    expect([changed, hasWrongChecksum(changed)]).toEqual([changed, true]);
  }
});

test('hex digits read from bytes: every byte at every place is a lowercase hex digit or refused, and one address both ways', () => {
  const digits = 'fedcba9876543210abcdef0123456789fedcba98';
  for (let at = 0; at < 40; at += size(3, 1))
    for (let byte = 0; byte < 256; byte += 1) {
      const bytes = Buffer.from(`xx${digits}`, 'latin1');
      bytes[2 + at] = byte;
      const set = createAddressSet();
      const isDigit = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
      const added = set.addHex(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 2);
      if (added !== (isDigit || undefined)) throw new Error(`byte ${byte} at ${at}: ${added}`);
      if (isDigit) expect(set.has(`0x${bytes.toString('latin1', 2)}`)).toBe(true);
    }
});
