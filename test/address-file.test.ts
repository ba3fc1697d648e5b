import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readAddressFile } from '../src/resources/webhook/address-file.ts';

const a = '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const b = '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
const c = 'So11111111111111111111111111111111111111112';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What stands in each line that is taken for an address: number and text. */
async function read(content: string | Uint8Array, column?: string, size = 1_000_000): Promise<[number, string][]> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const found: [number, string][] = [];
  let line = 0;
  for await (const batch of readAddressFile(pieces(bytes, size), { name: 'list', column }))
    if ('bytes' in batch) {
      line += batch.leftOut;
      if (batch.bytes.length > 0) expect(batch.bytes.at(-1)).toBe(0x0a);
      for (const text of batch.bytes.toString('utf8').split('\n').slice(0, -1)) {
        line += 1;
        if (text.trim() !== '') found.push([line, text.trim()]);
      }
    } else found.push(...batch.texts.map((text, index): [number, string] => [batch.lines[index] ?? -1, text]));
  return found;
}

const table: readonly [what: string, content: string, column: string | undefined, expected: [number, string][]][] = [
  ['nothing', '', undefined, []],
  ['one line without an end', a, undefined, [[1, a]]],
  [
    'one a line',
    `${a}\n${c}\n`,
    undefined,
    [
      [1, a],
      [2, c],
    ],
  ],
  [
    'empty lines between',
    `\n\n${a}\n\n${b}`,
    undefined,
    [
      [3, a],
      [5, b],
    ],
  ],
  ['a header', `address\n${a}\n`, undefined, [[2, a]]],
  ['a header behind empty lines', `\n\naddress\n${a}\n`, undefined, [[4, a]]],
  ['a header alone', 'address', undefined, []],
  ['a header alone that ends', 'wallet\n', undefined, []],
  ['a header of another spelling', `Wallet_Address\r\n${a}\r\n`, undefined, [[2, a]]],
  [
    'a header only in the first line',
    `${a}\naddress\n`,
    undefined,
    [
      [1, a],
      [2, 'address'],
    ],
  ],
  [
    'a byte order mark',
    `\uFEFF${a}\n${b}\n`,
    undefined,
    [
      [1, a],
      [2, b],
    ],
  ],
  ['a byte order mark and a header', `\uFEFFaddress\n${a}\n`, undefined, [[2, a]]],
  [
    'a word that is no header',
    `nobody\n${a}\n`,
    undefined,
    [
      [1, 'nobody'],
      [2, a],
    ],
  ],
  [
    'CSV by the name of a column',
    `id,Wallet,n\n1,${a},x\n2,${b},y\n`,
    undefined,
    [
      [2, a],
      [3, b],
    ],
  ],
  ['CSV with semicolons', `id;account\n1;${a}\n`, undefined, [[2, a]]],
  ['CSV with tabs', `id\towner\n1\t${a}\n`, undefined, [[2, a]]],
  [
    'CSV without a header',
    `1,${a},x\n2,${b},y\n`,
    undefined,
    [
      [1, a],
      [2, b],
    ],
  ],
  [
    'CSV without a header, of a wrong checksum',
    '1,0xAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n',
    undefined,
    [[1, '0xAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']],
  ],
  ['CSV: the better name wins over the earlier column', `user,address\n${a},${b}\n`, undefined, [[2, b]]],
  ['CSV: quoted cells hold the separator', `"a,b",address\n"x, ""y""",${a}\n`, undefined, [[2, a]]],
  [
    'CSV: a quoted address',
    `n,address\n1,"${a}"\n2, "${b}" \n`,
    undefined,
    [
      [2, a],
      [3, b],
    ],
  ],
  [
    'CSV: a line that is too short',
    `n,address\n1\n2,${a}\n`,
    undefined,
    [
      [2, ''],
      [3, a],
    ],
  ],
  ['CSV: quotes keep their doubled ones', 'n,address\n1,"ext:say ""gm"""\n', undefined, [[2, 'ext:say "gm"']]],
  ['CSV: the column of --column', `from,to\n${a},${b}\n`, 'TO', [[2, b]]],
  ['CSV: the column of --column, not the one of a better name', `address,to\n${a},${b}\n`, 'to', [[2, b]]],
  ['--column over one column', `to\n${a}\n`, 'to', [[2, a]]],
  [
    '--column over one column that is not named',
    `${a}\n${b}\n`,
    'to',
    [
      [1, a],
      [2, b],
    ],
  ],
  [
    '--column: a usual name is a line then',
    `address\n${a}\n`,
    'to',
    [
      [1, 'address'],
      [2, a],
    ],
  ],
  [
    'an ext: id with a comma',
    `ext:1,2\next:3,4\n`,
    undefined,
    [
      [1, 'ext:1,2'],
      [2, 'ext:3,4'],
    ],
  ],
  [
    'quoted lines',
    `"address"\n"${a}"\n"${b}"\n`,
    undefined,
    [
      [2, a],
      [3, b],
    ],
  ],
  [
    'quoted lines without a header',
    `"${a}"\n"${b}"\n`,
    undefined,
    [
      [1, a],
      [2, b],
    ],
  ],
  [
    'NDJSON',
    `{"n":1,"address":"${a}"}\n\n{"wallet":"${b}"}\n`,
    undefined,
    [
      [1, a],
      [3, b],
    ],
  ],
  ['NDJSON: the better name', `{"user":"${a}","Wallet-Address":"${b}"}\n`, undefined, [[1, b]]],
  ['NDJSON by --column', `{"address":"${a}","to":"${b}"}\n`, 'to', [[1, b]]],
  [
    'NDJSON: what holds none is told as it is',
    `{"address":"${a}"}\n{"x":1}\n{"address":7}\n{"x"\n`,
    undefined,
    [
      [1, a],
      [2, '{"x":1}'],
      [3, '{"address":7}'],
      [4, '{"x"'],
    ],
  ],
  [
    'a JSON array',
    `  [\n"${a}",\n{"address":"${b}"}, 7, null]`,
    undefined,
    [
      [1, a],
      [2, b],
      [3, '7'],
      [4, 'null'],
    ],
  ],
  ['a JSON array of objects', `[{"to":"${a}","address":"${b}"}]`, undefined, [[1, b]]],
  ['a JSON array of nothing', '[]', undefined, []],
  ['NDJSON behind a byte order mark', `\uFEFF{"address":"${a}"}\n`, undefined, [[1, a]]],
  ['a JSON array behind a byte order mark', `\uFEFF["${a}"]`, undefined, [[1, a]]],
  // Each shares two of its three bytes with a byte order mark.
  ['a first letter like the mark in its end', `\u0EFF${a}\n`, undefined, [[1, `\u0EFF${a}`]]],
  ['a first letter like the mark at both ends', `\uF03F${a}\n`, undefined, [[1, `\uF03F${a}`]]],
  ['a first letter like the mark in its beginning', `\uFEC0${a}\n`, undefined, [[1, `\uFEC0${a}`]]],
  ['CSV with Windows ends', `n,address\r\n1,${a}\r\n`, undefined, [[2, a]]],
  ['a quoted first line with more behind it', `"x" ${a}\n`, undefined, [[1, `"x" ${a}`]]],
  ['CSV with letters beyond ASCII', 'n,address\n€,ext:ü€\n', undefined, [[2, 'ext:ü€']]],
  ['a JSON array with letters beyond ASCII', '["ext:ü€"]', undefined, [[1, 'ext:ü€']]],
  ['CSV behind a byte order mark', `\uFEFFaddress,n\n${a},1\n`, undefined, [[2, a]]],
  [
    'spaces at the ends of a line',
    `  ${a}  \n\t${b}\n`,
    undefined,
    [
      [1, a],
      [2, b],
    ],
  ],
];

test.each(table)(
  'addresses of a file: %s, in pieces of any size, packed or not',
  async (_, content, column, expected) => {
    expect(await read(content, column)).toEqual(expected);
    expect(await read(content, column, 1)).toEqual(expected);
    expect(await read(content, column, 7)).toEqual(expected);
    expect(await read(gzipSync(content), column)).toEqual(expected);
    expect(await read(gzipSync(content), column, 5)).toEqual(expected);
  },
);

test.each([
  [[0x1f, 0x41, 0x0a], '\x1fA'],
  [[0x41, 0x8b, 0x0a], 'A\ufffd'],
])('a file that begins with %j has one of the two bytes of gzip and is read as it is', async (bytes, text) => {
  expect(await read(Uint8Array.from(bytes))).toEqual([[1, text]]);
});

test('an array of more than ten thousand addresses keeps their numbers', async () => {
  const found = await read(JSON.stringify(Array.from({ length: 10_002 }, (_, index) => `ext:${index + 1}`)));
  expect(found).toHaveLength(10_002);
  expect(found.slice(9_998)).toEqual([
    [9_999, 'ext:9999'],
    [10_000, 'ext:10000'],
    [10_001, 'ext:10001'],
    [10_002, 'ext:10002'],
  ]);
});

test('a first line longer than what is looked at is still read whole', async () => {
  const long = `ext:${'x'.repeat(70_000)}`;
  expect(await read(`${long}\n${a}\n`, undefined, 4096)).toEqual([
    [1, long],
    [2, a],
  ]);
});

const refused: readonly [what: string, content: string | Uint8Array, column: string | undefined, message: string][] = [
  ['no column of addresses', 'id,name\n1,x\n', undefined, 'list: no column of addresses in the first line: id, name'],
  [
    'a long first line is told in part',
    `id,${'x'.repeat(200)}\n`,
    undefined,
    `list: no column of addresses in the first line: id, …`,
  ],
  ['no such column', `id,address\n1,${a}\n`, 'to', '--column to: list has no such column: id, address'],
  ['no such column, but an address in the first line', `1,${a}\n`, 'to', '--column to: list has no such column: …, …'],
  ['an array that does not end', '["a"', undefined, 'list: starts with [ and is not a JSON array'],
  [
    'a gzip file that is cut off',
    gzipSync(`${a}\n`).subarray(0, -4),
    undefined,
    'list: cannot be read to its end: unexpected end of file',
  ],
];

test.each(refused)('a file that is none is refused: %s', async (_, content, column, message) => {
  await expect(read(content, column)).rejects.toMatchObject({ code: 'usage', message });
});
