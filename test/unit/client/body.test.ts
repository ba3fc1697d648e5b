import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { readBody } from '../../../src/client/body.ts';

async function* chunks(...parts: readonly (string | Uint8Array)[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

const text = '{"name":"ü","n":1}';

const forms: readonly [encoding: string | undefined, body: string | Uint8Array][] = [
  [undefined, text],
  ['', text],
  ['identity', text],
  [' Identity ', text],
  ['gzip', gzipSync(text)],
  [' GZip', gzipSync(text)],
  ['x-gzip', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['br', brotliCompressSync(text)],
];

test.each(forms)('a body in the encoding %j is read', async (encoding, body) => {
  const read = await readBody(chunks(body), encoding, 1000);
  expect(read).toEqual({ text, bytes: Buffer.byteLength(text) });
});

test('a character that is cut apart comes together, a byte order mark is left out of the text alone', async () => {
  const bytes = Buffer.from('\uFEFFaü');
  const read = await readBody(chunks(bytes.subarray(0, 5), bytes.subarray(5)), undefined, 1000);
  expect([read.text, read.bytes]).toEqual(['aü', 6]);
  expect((await readBody(chunks('abc'), undefined, 1000)).text).toBe('abc');
  expect((await readBody(chunks(), undefined, 1000)).text).toBe('');
});

const limits: readonly [body: string | Uint8Array, encoding: string | undefined, max: number, isRead: boolean][] = [
  ['12345', undefined, 5, true],
  ['12345', undefined, 4, false],
  [gzipSync('1'.repeat(2048)), 'gzip', 2048, true],
  [gzipSync('1'.repeat(2048)), 'gzip', 2047, false],
  [gzipSync('1'), 'gzip', gzipSync('1').length, true],
  [gzipSync('1'), 'gzip', gzipSync('1').length - 1, false],
];

test.each(limits)('of %j (%s) at most %i bytes are read: %s', async (body, encoding, max, isRead) => {
  const reading = readBody(chunks(body), encoding, max);
  if (isRead) expect((await reading).text).toMatch(/^(1+|12345)$/);
  else await expect(reading).rejects.toMatchObject({ code: 'bad-answer', outcome: 'unknown' });
});

test('the limit counts all parts of a body together', async () => {
  await expect(readBody(chunks('123', '45'), undefined, 4)).rejects.toMatchObject({ code: 'bad-answer' });
  expect((await readBody(chunks('123', '45'), undefined, 5)).text).toBe('12345');
});

test.each([
  [2 * 1024 * 1024, '2 MB'],
  [3 * 1024, '3 KB'],
  [1500, '1500 bytes'],
])('a limit of %i bytes is called %s', async (max, name) => {
  const reading = readBody(chunks(new Uint8Array(max + 1)), undefined, max);
  await expect(reading).rejects.toThrow(`the answer is larger than ${name}`);
  await expect(readBody(chunks(new Uint8Array(max + 1)), undefined, max)).rejects.toMatchObject({
    hint: expect.stringContaining('--limit'),
  });
});

test('an unknown encoding is named, one that does not decode too', async () => {
  await expect(readBody(chunks('x'), 'zstd', 9)).rejects.toMatchObject({
    code: 'bad-answer',
    message: 'the service answered in an unknown encoding: zstd',
    hint: expect.stringContaining('proxy'),
  });
  await expect(readBody(chunks('x'), 'toString', 9)).rejects.toThrow('unknown encoding: tostring');
  await expect(readBody(chunks('no gzip'), 'gzip', 90)).rejects.toMatchObject({
    code: 'bad-answer',
    message: 'the service answered with gzip that does not decode: Z_DATA_ERROR',
    hint: expect.stringContaining('proxy'),
    cause: expect.anything(),
  });
  await expect(readBody(chunks(gzipSync(text).subarray(0, 20)), 'gzip', 90)).rejects.toThrow('Z_BUF_ERROR');
});

async function* broken(code: string | undefined): AsyncIterable<Uint8Array> {
  yield gzipSync(text).subarray(0, 12);
  throw Object.assign(new Error('cut'), { code });
}

test('what breaks on the way stays what it was, compressed or not', async () => {
  await expect(readBody(broken('ECONNRESET'), undefined, 90)).rejects.toThrow('cut');
  for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', undefined])
    await expect(readBody(broken(code), 'gzip', 90)).rejects.toThrow('cut');
});

test('what is not read any more is closed', async () => {
  let isOpen = true;
  const zeros = gzipSync(new Uint8Array(60_000));
  async function* endless(): AsyncIterable<Uint8Array> {
    try {
      for (;;) yield zeros;
    } finally {
      isOpen = false;
    }
  }
  await expect(readBody(endless(), 'gzip', 100_000)).rejects.toMatchObject({ code: 'bad-answer' });
  await vi.waitFor(() => expect(isOpen).toBe(false));
});
