import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readFollows } from '../../../../src/commands/follow/bulk.ts';
import { SotraError } from '../../../../src/errors.ts';
import { readTable, type TableRow } from '../../../../src/lib/files/table.ts';
import { openTextFile } from '../../../../src/lib/files/text-file.ts';
import { readTrades } from '../../../../src/sandbox/ledger/read-trades.ts';
import { readAddressFile } from '../../../../src/upload/address-file.ts';
import { fc } from '../../../support/draw.ts';
import { size } from '../../../support/size.ts';
import { inPieces } from '../../../support/trades.ts';

async function rowsOf(text: string | Buffer, size = 1_000_000): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  const bytes = inPieces(Buffer.from(text), size);
  for await (const batch of readTable(await openTextFile({ name: 'f', bytes }))) rows.push(...batch);
  return rows;
}

const cell = fc.oneof(
  fc.constantFrom('', ' ', '"', '""', ',', '\t', ';', '\n', 'a\n\nb', '{', '[', '#', '\uFEFF', "'", '\\'),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll(/[\r\0]/g, '')),
);

test('quoted cells are read back unchanged, whatever their text, chunks and compression', async () => {
  const table = fc
    .integer({ min: 2, max: 5 })
    .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }));
  const separators = fc.constantFrom(',', '\t', ';');
  const property = fc.asyncProperty(table, separators, fc.integer({ min: 1, max: 40 }), async (cells, mark, size) => {
    const header = cells[0]?.map((_, index) => `c${index}`) ?? [];
    const lines = [header, ...cells].map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(mark));
    const text = `${lines.join('\n')}\n`;
    for (const bytes of [Buffer.from(text), gzipSync(text)]) {
      const rows = await rowsOf(bytes, size);
      expect(rows.map((row) => row.cells)).toEqual([header, ...cells]);
      expect(rows.at(-1)?.line).toBe(text.split('\n').length - (lines.at(-1) ?? '').split('\n').length);
    }
  });
  await fc.assert(property, { numRuns: Number(process.env['FUZZ_RUNS'] ?? size(60, 200)) });
});

test('any text is rows and broken rows, each with its line', async () => {
  const piece = fc.constantFrom(...'a",\t;\n \u00a0\f\uFEFF#\\é', '""', '\r\n');
  const property = fc.asyncProperty(
    fc.array(piece, { maxLength: 30 }),
    fc.integer({ min: 1, max: 9 }),
    async (all, size) => {
      const text = `x${all.join('')}`;
      const rows = await rowsOf(text, size);
      expect(rows).toEqual(await rowsOf(text));
      const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
      for (const row of rows) expect(row.text.startsWith(lines[row.line - 1] ?? 'none')).toBe(true);
      const covered = new Set(rows.flatMap(({ line, text: own }) => own.split('\n').map((_, index) => line + index)));
      expect(lines.every((line, index) => line.trim() === '' || covered.has(index + 1))).toBe(true);
    },
  );
  await fc.assert(property, { numRuns: Number(process.env['FUZZ_RUNS'] ?? size(300, 1000)) });
});

test('a file of broken quotes costs no more than its length, and each broken row is reported', async () => {
  const broken = await rowsOf(`a,b\n${'1,"x\n'.repeat(40_001)}`);
  expect(broken.slice(1).every(({ cells, reason }) => reason !== undefined || cells.length === 2)).toBe(true);
  const pairs = await rowsOf(`a,b\n"${'x ""\n'.repeat(60_000)}`);
  expect(pairs.every(({ reason }, index) => index === 0 || reason !== undefined)).toBe(true);
});

const hostile = 'test/data/hostile';
const spectrum = join(hostile, 'csv/csvs');

test('the tables of csv-spectrum are read as they are meant', async () => {
  // One has a quote in the middle of a cell, which is an error of its row here.
  for (const file of readdirSync(spectrum).filter((name) => name !== 'location_coordinates.csv')) {
    const expected: Record<string, string>[] = JSON.parse(
      readFileSync(join(hostile, 'csv/json', file.replace('.csv', '.json')), 'utf8'),
    );
    const [header, ...rows] = await rowsOf(readFileSync(join(spectrum, file)));
    const named = rows.map(({ cells }) => Object.fromEntries(cells.map((text, index) => [header?.cells[index], text])));
    // Lines within cells end in a line feed, whatever ended them in the file.
    expect([file, named]).toEqual([file, JSON.parse(JSON.stringify(expected).replaceAll('\\r\\n', '\\n'))]);
  }
});

const suite = join(hostile, 'json/json_test_suite.json');

test('odd JSON is read or refused by every reader, never more', async () => {
  const documents: { name: string; base64: string }[] = JSON.parse(readFileSync(suite, 'utf8'));
  const readers = [
    (bytes: AsyncIterable<Uint8Array>) => readAddressFile({ name: 'f', bytes }),
    (bytes: AsyncIterable<Uint8Array>) => readAddressFile({ name: 'f', bytes }, 'a'),
    (bytes: AsyncIterable<Uint8Array>) => readFollows({ name: 'f', bytes }),
    (bytes: AsyncIterable<Uint8Array>) =>
      readTrades({ name: 'f', bytes }, { chain: undefined, preset: 'hyperliquid-fills', map: {} }),
    (bytes: AsyncIterable<Uint8Array>) =>
      readTrades({ name: 'f', bytes }, { chain: 'base', preset: undefined, map: {} }),
  ];
  for (const { name, base64 } of documents)
    for (const read of readers)
      for (const size of [1, 1000])
        try {
          for await (const _ of read(inPieces(Buffer.from(base64, 'base64'), size)));
        } catch (error) {
          expect([name, error]).toEqual([name, expect.any(SotraError)]);
        }
  expect(documents.length).toBeGreaterThan(100);
});
