import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAddressSet } from '../../../src/model/address-set.ts';
import { readAddressFile } from '../../../src/upload/address-file.ts';
import { type RejectedLine, runFirstPass } from '../../../src/upload/first-pass.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { isOpen, tellsOpenFiles } from '../../support/open-files.ts';

const a = '0x00000000000000000000000000000000000000aa';
const b = '0x00000000000000000000000000000000000000bb';

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

function passOf(text: string, more: { known?: string[]; signal?: AbortSignal } = {}) {
  const to = join(temporaryFolder(), 'list');
  const known = createAddressSet();
  for (const address of more.known ?? []) known.add(address);
  const rejected: RejectedLine[] = [];
  const said: string[] = [];
  const pass = runFirstPass({
    lines: readAddressFile({ name: 'list', bytes: once(text) }),
    to,
    allowBadChecksum: false,
    onRejected: (each) => rejected.push(each),
    onRead: (addresses) => said.push(`read ${addresses}`),
    // The list is whole by now; only the disk may not have it yet.
    meanwhile: async () => void said.push(`meanwhile ${statSync(to).size} bytes`),
    ...(more.known && { known }),
    signal: more.signal ?? new AbortController().signal,
  });
  return { pass, to, rejected, said };
}

test.each([
  ['lines', `${a}\n${b}\n${a}\n`],
  ['lines of other forms', `${a.toUpperCase().replace('0X', '0x')}\n ${b}\n${a}\n`],
  ['a column', `address\n${a}\n${b}\n${a}\n`],
  ['a JSON array', JSON.stringify([a, b, a])],
])('%s: each address once, normalized, a line each', async (_, text) => {
  const { pass, to, said } = passOf(text);
  expect(await pass).toMatchObject({ addresses: 2, duplicates: 1, rejected: 0 });
  expect(readFileSync(to, 'utf8')).toBe(`${a}\n${b}\n`);
  expect(said).toEqual(['read 2', 'meanwhile 86 bytes']);
});

test.each([
  ['lines', `${a}\n${b}\next:one\n`],
  ['a column', `address\n${a}\n${b}\next:one\n`],
])('%s: what is known is left out and is no repeat', async (_, text) => {
  const { pass, to } = passOf(text, { known: [a] });
  expect(await pass).toMatchObject({ addresses: 2, duplicates: 0, rejected: 0 });
  expect(readFileSync(to, 'utf8')).toBe(`${b}\next:one\n`);
});

test('lists that end up the same have the same digest, SHA-256 of the lines; where nothing is left the file is empty', async () => {
  // printf '0x00000000000000000000000000000000000000aa\n' | sha256sum
  const digest = '83f3c85abd43fb12d4a9d42959cb33ff434cf719b1e91f09349ea9882e021c67';
  expect((await passOf(`${a}\n`).pass).digest).toBe(digest);
  expect((await passOf(`address\n${a}\n${a}\n`).pass).digest).toBe(digest);
  const nothing = passOf('ext:\n');
  await nothing.pass;
  expect(readFileSync(nothing.to, 'utf8')).toBe('');
  expect(nothing.rejected.map(({ line }) => line)).toEqual([1]);
  expect(nothing.said).toEqual(['meanwhile 0 bytes']);
});

test('bad lines have the number they have in the file, empty lines and good ones counted', async () => {
  const { pass, rejected, to } = passOf(`${a}\n\nwrong!\n${b}\n\n\n0xzz\n`);
  expect(await pass).toMatchObject({ addresses: 2, rejected: 2 });
  expect(rejected.map(({ line, text }) => [line, text])).toEqual([
    [3, 'wrong!'],
    [7, '0xzz'],
  ]);
  expect(readFileSync(to, 'utf8')).toBe(`${a}\n${b}\n`);
});

test.each([
  ['lines under a header', `address\n${a}\nwrong!\n`, [[3, 'wrong!']]],
  ['a column among others', `address,n\n${a},1\nwrong!,2\n`, [[3, 'wrong!']]],
  ['a column without any', 'address,n\nwrong!,1\n', [[2, 'wrong!']]],
  ['a JSON array', JSON.stringify([a, 'wrong!']), [[2, 'wrong!']]],
  ['lines with Windows ends', `${a}\r\n\r\n  wrong! \r\n${a}\r\n`, [[3, 'wrong!']]],
])('%s: a bad one is told with its place and without the space around it', async (_, text, told) => {
  const { pass, rejected, to } = passOf(text);
  await pass;
  expect(rejected.map((each) => [each.line, each.text])).toEqual(told);
  expect(readFileSync(to, 'utf8')).toBe(text.includes(a) ? `${a}\n` : '');
});

test('a row of another width than the header is told by its reason', async () => {
  const { pass, rejected } = passOf(`n,address\n1,${b},${b}\n2,${a}\n`);
  expect(await pass).toMatchObject({ addresses: 1, rejected: 1 });
  expect(rejected).toMatchObject([{ line: 2, reason: 'the row has 3 cells, the header 2' }]);
});

test.each([
  ['1x00000000000000000000000000000000000000cc', 'another first character'],
  ['0y00000000000000000000000000000000000000cc', 'another second character'],
  ['0x00000000000000000000000000000000000000c', 'a digit too few'],
  ['0x00000000000000000000000000000000000000ccd', 'a digit too many'],
  ['0x00000000000000000000000000000000000000ccdd', 'two digits too many'],
])('%s behind good lines is no address: %s', async (wrong) => {
  const { pass, rejected, to } = passOf(`${a}\n${b}\n${wrong}\n`);
  expect(await pass).toMatchObject({ addresses: 2, duplicates: 0, rejected: 1 });
  expect(rejected.map(({ line, text }) => [line, text])).toEqual([[3, wrong]]);
  expect(readFileSync(to, 'utf8')).toBe(`${a}\n${b}\n`);
});

test.skipIf(!tellsOpenFiles)('the list is closed when it is whole, and when the reading breaks off', async () => {
  const whole = passOf(`${a}\n`);
  await whole.pass;
  expect(isOpen(whole.to)).toBe(false);
  const stopped = passOf(`${a}\n`, { signal: AbortSignal.abort() });
  await stopped.pass.catch(() => undefined);
  expect([existsSync(stopped.to), isOpen(stopped.to)]).toEqual([true, false]);
});

test('stopped while it reads it says that nothing was sent', async () => {
  const { pass } = passOf(`${a}\n`, { signal: AbortSignal.abort() });
  await expect(pass).rejects.toMatchObject({ code: 'interrupted', message: 'interrupted; nothing was sent' });
});
