import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { whyNotJson } from '../../../src/api/json.ts';
import { redactColumns, redactLine } from '../../../src/lib/files/text-file.ts';
import { answering, run, temporaryFolder } from '../../support/harness.ts';

const hex = 'c0ffee254729296a45a3885639ac7e10f9d54979a1b2c3d4e5f60718293a4b5c';
const phrase = 'gloom napkin zebra walnut rhythm orphan lizard jungle hamster galaxy velvet scissors';
const pair = '2Ana1pUpv2ZbMVkwF5FXapYeBEjdxDatLn7nvJkhgTSXbs59SyZSx866bXirPgj8QQVB57uxHJBG1YFvkRbFj4T2';

test.each([
  // Mistyped addresses, and other text in their place.
  ['0x12', '0x12'],
  ['0xb129d76820940a14c764df8b223d8e39cf94a12', '0xb129d76820940a14c764df8b223d8e39cf94a12'],
  ['0xb129d76820940a14c764df8b223d8e39cf94a122,', '0xb129d76820940a14c764df8b223d8e39cf94a122,'],
  ['0Xb129d76820940a14c764df8b223d8e39cf94a122', '0Xb129d76820940a14c764df8b223d8e39cf94a122'],
  ['\\xb129d76820940a14c764df8b223d8e39cf94a122', '\\xb129d76820940a14c764df8b223d8e39cf94a122'],
  ['ext:', 'ext:'],
  ['vitalik.eth', 'vitalik.eth'],
  ['N/A', 'N/A'],
  ['owner_address', 'owner_address'],
  ['b129d76820940a14c764df8b223d8e39cf94a122', 'b129d7…a122'],
  ['So1111111111111111111111111111111111111111l', 'So1111…111l'],
  ['2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e', '2f1d3c…4d5e'],
  // What opens something, and what could.
  [hex, '(looks like a secret, not shown)'],
  [`0x${hex}`, '(looks like a secret, not shown)'],
  [`0X${hex.toUpperCase()}`, '(looks like a secret, not shown)'],
  [`PRIVATE_KEY=${hex}`, '(looks like a secret, not shown)'],
  [`ext:${hex}`, '(looks like a secret, not shown)'],
  [hex.slice(0, 60), '(looks like a secret, not shown)'],
  [hex.slice(0, 56), '(56 characters, not shown)'],
  [`0x${hex.slice(0, 49)}`, '(51 characters, not shown)'],
  [pair, '(looks like a secret, not shown)'],
  [hex + hex, '(looks like a secret, not shown)'],
  [`[${Array(64).fill(200).join(',')}]`, '(looks like a secret, not shown)'],
  [Array(32).fill(7).join(', '), '(looks like a secret, not shown)'],
  [phrase, '(looks like a secret, not shown)'],
  [`${phrase} ${phrase}`, '(looks like a secret, not shown)'],
  [phrase.toUpperCase(), '(looks like a secret, not shown)'],
  [phrase.replaceAll(' ', ', '), '(looks like a secret, not shown)'],
  ['scissors', '(8 characters, not shown)'],
  ['Gloom', '(5 characters, not shown)'],
  ['12. scissors', '(12 characters, not shown)'],
  ['gloom napkin zebra', '(18 characters, not shown)'],
  ['whsec_Y2FuYXJ5', '(looks like a secret, not shown)'],
  ['SOTRA_SECRET=whsec_Y2FuYXJ5', '(looks like a secret, not shown)'],
  ['canary-key/0815+"x', '(18 characters, not shown)'],
  ['sk_live_51H8x2eZvKYlo2C', '(23 characters, not shown)'],
  ['a1b2c3d4e5f60718293a4b5c6d7e8f90', '(32 characters, not shown)'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N', '(59 characters, not shown)'],
  ['correct horse', '(13 characters, not shown)'],
  ['hunter2', '(7 characters, not shown)'],
])('a wrong line %j of a list is quoted as %s', (line, shown) => {
  expect(redactLine(line)).toBe(shown);
});

test.each([
  [['id', ' name'], 'id, name'],
  [['Wallet owner', hex], 'Wallet owner, …'],
  [['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'a, b, c, d, e, …'],
  [['k=1', 'x;y'], '…, …'],
  [phrase.split(' '), '(looks like a secret, not shown)'],
])('the header %j is quoted as %s', (cells, shown) => {
  expect(redactColumns(cells)).toBe(shown);
});

test.each([
  ['gloom napkin', "Unexpected token 'g'"],
  ['[canary-key]', "Unexpected token 'c'"],
  ['["a" canary', "Expected ',' or ']' after array element in JSON at position 5"],
  ["'canary'", "Unexpected token '''"],
  [',canary', "Unexpected token ','"],
  ['[1,💸canary]', 'Unexpected token'],
  ['undefined', 'not a JSON value'],
  ['', 'Unexpected end of JSON input'],
])('the error for the invalid JSON %j does not quote it', (text, why) => {
  let told = '';
  try {
    JSON.parse(text);
  } catch (cause) {
    told = whyNotJson(cause);
  }
  expect([told, told.startsWith(why)]).toEqual([expect.not.stringMatching(/canar|gloom|undef/), true]);
});

test('bad lines are kept in a file and in JSON without what looks like a secret', async () => {
  const { env } = await answering({ error: 'no' }, 400);
  const folder = temporaryFolder();
  const [list, bad] = [join(folder, 'list.txt'), join(folder, 'bad.ndjson')];
  writeFileSync(list, `0x12\nsome one\n0x${hex}\n${phrase}\n`);
  const argv = `webhook register --url https://example.com/h --file ${list} --rejects ${bad} --json`;
  const { code, err } = await run(argv, { env });
  const hidden = '(looks like a secret, not shown)';
  const rows = readFileSync(bad, 'utf8').trimEnd().split('\n');
  expect([code, rows.map((row) => JSON.parse(row).text)]).toEqual([2, ['0x12', 'some one', hidden, hidden]]);
  const { error } = JSON.parse(err.trimEnd().split('\n').at(-1) ?? '');
  const reason = expect.stringContaining('64 hex digits');
  expect(error.details.rejected[2]).toEqual({ line: 3, text: hidden, reason });
});
