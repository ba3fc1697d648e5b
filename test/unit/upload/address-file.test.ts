import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { linesOf, readAddressFile } from '../../../src/upload/address-file.ts';
import { inPieces } from '../../support/trades.ts';

const a = '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const b = '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
const c = 'So11111111111111111111111111111111111111112';

/** What each line that is read holds, by its number. */
async function read(content: string | Uint8Array, column?: string, size = 1_000_000): Promise<Record<number, string>> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const found: Record<number, string> = {};
  for await (const batch of readAddressFile({ name: 'list', bytes: inPieces(bytes, size) }, column))
    for (const { line, text, problem } of 'hashes' in batch ? linesOf(batch) : batch) {
      expect(found).not.toHaveProperty(String(line));
      found[line] = problem ?? text.trim();
    }
  return found;
}

const table: readonly [what: string, content: string, expected: Record<number, string>, column?: string][] = [
  ['nothing', '', {}],
  ['one line without an end', a, { 1: a }],
  ['one a line', `${a}\n${c}\n`, { 1: a, 2: c }],
  ['empty lines between', `\n\n${a}\n\n${b}`, { 3: a, 5: b }],
  ['a header', `address\n${a}\n`, { 2: a }],
  ['a header alone', 'address', {}],
  ['a header of another spelling', `Wallet_Address\r\n${a}\r\n`, { 2: a }],
  ['a header only in the first line', `${a}\naddress\n`, { 1: a, 2: 'address' }],
  ['a byte order mark', `\uFEFF${a}\n${b}\n`, { 1: a, 2: b }],
  ['a word that is no header', `nobody\n${a}\n`, { 1: 'nobody', 2: a }],
  ['CSV by the name of a column', `id,Wallet,n\n1,${a},x\n2,${b},y\n`, { 2: a, 3: b }],
  ['CSV with semicolons', `id;account\n1;${a}\n`, { 2: a }],
  ['TSV whose first column has no name, as pandas writes it', `\tfrom\twallet\n0\t${b}\t${a}\n`, { 2: a }],
  ['TSV: the column of --column', `\tcounterparty\twallet\n0\t${b}\t${a}\n`, { 2: a }, 'wallet'],
  ['TSV with empty cells at the ends of a row', `note\taddress\tn\n\t${a}\t\n\t${b}\t1\n`, { 2: a, 3: b }],
  ['TSV with quoted cells that hold tabs', `"x\ty"\taddress\n"a\t${b}"\t"${a}"\n""\t${b}\n`, { 2: a, 3: b }],
  ['CSV: cells of several lines', `note,address\n"one\ntwo, ""three""",${a}\n\n"x\n${b},${b}",${b}\n`, { 2: a, 5: b }],
  ['CSV: a header of several lines', `"a\nnote",address\nx,${a}\n`, { 3: a }],
  [
    'CSV: rows of another width than the header',
    `n,address\n1,x,${a}\n${b}\n2,${a}\n`,
    { 2: 'the row has 3 cells, the header 2', 3: 'the row has 1 cell, the header 2', 4: a },
  ],
  ['CSV: --column as it is written wins over the same in another case', `To,to\n${a},${b}\n`, { 2: b }, 'to'],
  ['CSV: the separator that is most frequent in the header', `id;"last, first, x";address\n1;"x, y";${a}\n`, { 2: a }],
  ['CSV without a header', `1,${a},x\n2,${b},y\n`, { 1: a, 2: b }],
  [
    'CSV without a header, of a wrong checksum',
    '1,0xAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n',
    { 1: '0xAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' },
  ],
  ['CSV: the better name wins over the earlier column', `user,address\n${a},${b}\n`, { 2: b }],
  ['CSV: quoted cells hold the separator', `"a,b",address\n"x, ""y""",${a}\n`, { 2: a }],
  ['CSV: a pair of quotes in a quoted cell', 'n,address\n1,"ext:say ""gm"""\n', { 2: 'ext:say "gm"' }],
  ['CSV: the column of --column', `from,to\n${a},${b}\n`, { 2: b }, 'TO'],
  ['--column over one column', `to\n${a}\n`, { 2: a }, 'to'],
  ['an ext: id with a comma', `ext:1,2\next:3,4\n`, { 1: 'ext:1,2', 2: 'ext:3,4' }],
  ['quoted lines', `"address"\n"${a}"\n"${b}"\n`, { 2: a, 3: b }],
  ['lines of which one ends with a quote', `ext:"x"\n"${a}"\n`, { 1: 'ext:"x"', 2: `"${a}"` }],
  ['quoted lines without a header', `"${a}"\n"${b}"\n`, { 1: a, 2: b }],
  ['NDJSON', `{"n":1,"address":"${a}"}\n\n{"wallet":"${b}"}\n`, { 1: a, 3: b }],
  ['NDJSON: the better name', `{"user":"${a}","Wallet-Address":"${b}"}\n`, { 1: b }],
  [
    'NDJSON: a line without an address is shown unchanged',
    `{"address":"${a}"}\n{"x":1}\n{"address":7}\n{"x"\n`,
    { 1: a, 2: '{"x":1}', 3: '{"address":7}', 4: '{"x"' },
  ],
  ['a JSON array', `  [\n"${a}",\n{"address":"${b}"}, 7, null]`, { 1: a, 2: b, 3: '7', 4: 'null' }],
  ['a JSON array by --column', `[{"address":"${a}","to":"${b}"}]`, { 1: b }, 'to'],
  [
    'a JSON array by --column: what has no such field',
    `[{"address":"${a}"},"${a}",{"to":7},{"to":"${b}"}]`,
    { 1: 'has no text in a field to', 2: 'has no text in a field to', 3: 'has no text in a field to', 4: b },
    'to',
  ],
  [
    'NDJSON by --column: what has no such field',
    `{"to":"${b}"}\n{"address":"${a}"}\n"${a}"\n`,
    { 1: b, 2: 'has no text in a field to', 3: 'has no text in a field to' },
    'to',
  ],
  [
    'NDJSON: two fields whose names differ only in case',
    `{"wallet":"${a}","Wallet":"${b}"}\n`,
    { 1: 'more than one field is named like an address' },
  ],
  ['quoted lines by --column', `"to"\n"${a}"\n`, { 2: a }, 'to'],
  [
    'a JSON array with brackets, commas and quotes in its text',
    `["ext:[,]{\\"}\\\\", {"n":[1,{"a":"]"}],"address":"${a}"}\n]\n `,
    { 1: 'ext:[,]{"}\\', 2: a },
  ],
  ['a first letter like the mark in its end', `\u0EFF${a}\n`, { 1: `\u0EFF${a}` }],
  ['CSV with letters beyond ASCII', 'n,address\n€,ext:ü€\n', { 2: 'ext:ü€' }],
  ['CSV behind a byte order mark', `\uFEFFaddress,n\n${a},1\n`, { 2: a }],
  ['spaces at the ends of a line', `  ${a}  \n\t${b}\n`, { 1: a, 2: b }],
];

test.each(table)(
  'addresses of a file: %s, in pieces of any size, packed or not',
  async (_, content, expected, column) => {
    expect(await read(content, column)).toEqual(expected);
    expect(await read(content, column, 1)).toEqual(expected);
    expect(await read(content, column, 7)).toEqual(expected);
    expect(await read(gzipSync(content), column)).toEqual(expected);
    expect(await read(gzipSync(content), column, 5)).toEqual(expected);
  },
);

test('a file that begins with one of the two bytes of gzip is read as it is', async () => {
  expect(await read(Uint8Array.from([0x1f, 0x41, 0x0a]))).toEqual({ 1: '\x1fA' });
  await expect(read(Uint8Array.from([0x41, 0x8b, 0x0a]))).rejects.toThrow('list: line 1 is not UTF-8 text');
});

test('an array of more than ten thousand addresses keeps their numbers', async () => {
  const found = await read(JSON.stringify(Array.from({ length: 10_002 }, (_, index) => `ext:${index + 1}`)));
  expect(Object.keys(found)).toHaveLength(10_002);
  expect(found).toMatchObject({ 1: 'ext:1', 10000: 'ext:10000', 10001: 'ext:10001', 10002: 'ext:10002' });
});

test('a first line longer than what is looked at is still read whole', async () => {
  const long = `ext:${'x'.repeat(70_000)}`;
  expect(await read(`${long}\n${a}\n`, undefined, 4096)).toEqual({ 1: long, 2: a });
});

const refused: readonly [what: string, content: string | Uint8Array, message: string, column?: string][] = [
  ['no column of addresses', 'id,name\n1,x\n', 'list: no column of addresses in the first line: id, name'],
  ['no such column', `id,address\n1,${a}\n`, '--column to: list has no such column: id, address', 'to'],
  ['a column of a list without a header', `${a}\n`, '--column to: list has no such column: …', 'to'],
  ['a column of quoted lines', `"address"\n"${a}"\n`, '--column to: list has no such column: address', 'to'],
  ['a quoted first line with more behind it', `"x" ${a}\n`, 'list: line 1: a quote is inside a cell'],
  ['two columns of one name', `address,n,n\n${a},1,2\n`, 'list: line 1: columns 2 and 3 have the same name'],
  ['two columns of the wanted name', `to,to\n${a},${b}\n`, 'list: more than one column is named to', 'to'],
  ['two columns of addresses', `wallet,Wallet\n${a},${b}\n`, 'list: more than one column is named like addresses'],
  [
    'two addresses in a first line without a header',
    `${a},${b}\n`,
    'list: the first line has 2 addresses and no header: which column holds them?',
  ],
  ['a header with a broken quote', `"n,address\n1,${a}\n`, 'list: line 1: a quote is not closed'],
  ['UTF-16', Buffer.from(`\uFEFFaddress\n${a}\n`, 'utf16le'), 'list: UTF-16 text, must be UTF-8'],
  ['UTF-16 without a mark', Buffer.from(`address\n${a}\n`, 'utf16le'), 'list: UTF-16 text, must be UTF-8'],
  [
    'lines that end in a carriage return alone',
    `address\r${a}\r${b}\r`,
    'list: line 1 holds a carriage return: lines must end with a line feed',
  ],
  ['a line that is not UTF-8', Buffer.from(`${a}\next:\xe9\n`, 'latin1'), 'list: line 2 is not UTF-8 text'],
  [
    'an array that is not UTF-8',
    Buffer.from('["ext:\xe9"]', 'latin1'),
    'list: starts with [ and is not a JSON array: it is not UTF-8 text',
  ],
  ['a line longer than 1 MB', `${a}\n${'x'.repeat(1_048_577)}\n${a}\n`, 'list: line 2 is longer than 1 MB'],
  ['a gzip file that is cut off', gzipSync(`${a}\n`).subarray(0, -4), 'list: the gzip file is damaged or cut off'],
];

test.each(refused)('an unusable file is refused: %s', async (_, content, message, column) => {
  await expect(read(content, column)).rejects.toMatchObject({ code: 'usage', message });
});

test.each(['["a"', '["a", x]', '["a",]', '["a"}', '["a"]\n["b"]', '[[]'])('%j is no JSON array', async (text) => {
  const message = expect.stringMatching(/^list: starts with \[ and is not a JSON array: (Expected|Unexpected)/);
  await expect(read(text)).rejects.toMatchObject({ code: 'usage', message });
});

test('a table without a column of addresses wants one named, one with two wants a header', async () => {
  const name = 'Name the column with --column, or give one address a line.';
  const header = 'Add a header and name the column with --column, or give one address a line.';
  await expect(read('id,name\n1,x\n')).rejects.toMatchObject({ hint: name });
  await expect(read(`${a},${b}\n`)).rejects.toMatchObject({ hint: header });
});
