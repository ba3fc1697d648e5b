import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { scripts } from '../support/hostile/faults.ts';
import { bodyOf, listen, send, signed } from '../support/listening.ts';
import { long, size, some } from '../support/size.ts';
import { until } from '../support/until.ts';

const more = Buffer.alloc(65_536, 'a');

/** A text that goes on for ever; what waits for its end never comes to one. */
async function* endless(start: string, rest = more): AsyncGenerator<Uint8Array> {
  yield Buffer.from(start);
  for (;;) {
    await setImmediate();
    yield rest;
  }
}

const register = 'webhook register --url http://127.0.0.1:9/ --file -';
const post = 'comment post --service-name E --key-file nowhere';
const lineOf = (line: number) => `stdin: line ${line} is longer than 1 MB`;

const cases: readonly [argv: string, start: string, message: string][] = [
  [register, '', lineOf(1)],
  [register, '\n\n  ', lineOf(3)],
  [register, 'address\nextra', lineOf(2)],
  [register, 'n,address\n1,', lineOf(2)],
  [register, 'n\taddress\n1\t"', lineOf(2)],
  [register, '{"address":"', lineOf(1)],
  [register, '"', lineOf(1)],
  [register, '["', 'a JSON array of more than 128 MB'],
  ['follow bulk --file -', '', lineOf(1)],
  ['follow bulk --file -', '# one\n#', lineOf(2)],
  ['follow bulk --file -', '[{"', 'a JSON array of more than 128 MB'],
  ['--sandbox sandbox import - --chain base', '', lineOf(1)],
  ['--sandbox sandbox import - --chain base', 'time,trader,token,side,amount,usd\n', lineOf(2)],
  ['--sandbox sandbox import - --chain base', '{"time":"', lineOf(1)],
  ['--sandbox sandbox import - --preset hyperliquid-fills', '[{}, {"', 'a JSON array of more than 128 MB'],
  [`${post} --file -`, '', lineOf(1)],
  ['comment sign --service-name E --key-file nowhere --file -', '{}\n', lineOf(2)],
  ['comment post --signed -', '', 'stdin is larger than 1 MB'],
  ['profile positions ext:a open --prices-file -', '{"', 'stdin is larger than 16 MB'],
  [`${post} --chain base --tx 0x${'1'.repeat(64)} --token 0x${'1'.repeat(40)} --text-file -`, '', 'stdin is larger'],
];

test.each(some(cases, 7))('%s refuses a text that starts with %j and never ends: %s', async (argv, start, message) => {
  const service = await answering([]);
  const data = temporaryFolder();
  const env = { ...service.env, SOTRA_DATA_DIR: data };
  const plain = await run(argv, { env, stdin: endless(start) });
  expect([plain.code, plain.out]).toEqual([2, '']);
  expect(plain.err).toContain(message);
  if (!/--signed|--text-file|--prices-file/.test(argv) && (start === '' || size(0, 1) === 1)) {
    const packed = Readable.from(endless(start)).pipe(createGzip({ level: 1 }));
    expect(await run(argv, { env, stdin: packed })).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  }
  expect(readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => /stdin|draft/.test(name))).toEqual(
    [],
  );
  expect(service.requests).toEqual([]);
});

const goingOn: readonly [argv: string, line: string][] = [
  [register, '0x00000000000000000000000000000000000000aa\n'],
  [register, '\n'],
  ['follow bulk --file -', '#\n'],
  ['--sandbox sandbox import - --chain base', '\n'],
  [`${post} --file -`, '\n'],
];

test.each(some(goingOn, 2))('%s: a signal ends the reading of lines that never end: %j', async (argv, line) => {
  const service = await answering([]);
  const stop = new AbortController();
  const lines = Buffer.from(line.repeat(2000));
  const stdin = Readable.from(endless('', lines), { objectMode: true });
  setTimeout(() => stop.abort(), 100);
  const { code, err } = await run(argv, { env: service.env, stdin, signal: stop.signal });
  expect([code, err]).toEqual([130, expect.stringContaining('interrupted')]);
  expect(service.requests).toEqual([]);
});

test('a large file in one line is refused at its first megabyte, packed or not', async () => {
  const zeros = gzipSync(Buffer.alloc(size(3_000_000, 200_000_000), 'a'), { level: 1 });
  for (const argv of [register, 'follow bulk --file -', '--sandbox sandbox import - --chain base'])
    expect(await run(argv, { stdin: zeros, env: (await answering([])).env })).toMatchObject({
      code: 2,
      err: expect.stringContaining(lineOf(1)),
    });
});

const endlessAnswer = scripts['endless body'] ?? (() => undefined);

test('a destination whose answer never ends has taken the event by its status: a trigger does not wait for the rest', async () => {
  const destination = await stub(endlessAnswer);
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, 'whsec_test\n');
  const words = `webhook trigger new-feed-item --sandbox --json --to ${destination.url}/hook --secret-file ${file}`;
  const { code, out } = await run(words);
  expect([code, JSON.parse(out)]).toMatchObject([0, [{ delivered: true, status: 200 }]]);
  expect(destination.requests).toHaveLength(1);
});

test('a target whose answer never ends holds up no delivery behind it', async () => {
  const target = await stub(endlessAnswer);
  const { url, stop } = await listen(temporaryFolder(), `--forward-to ${target.url}/`);
  for (const id of ['one', 'two', 'three']) expect(await send(url, bodyOf(id), signed(bodyOf(id)))).toBe(200);
  await until(() => target.requests.length === 3);
  await stop();
  expect(target.requests.map(({ body }) => JSON.parse(body).events[0].eventId)).toEqual(['one', 'two', 'three']);
});

const objects = (count: number) => `[${'{},'.repeat(count - 1)}{}]`;

test.each([
  [`{"traders":${objects(600_000)}}`, 'the service answered 200 with JSON of more than 1,000,000 values'],
  [`[${'0,'.repeat(1_000_001)}0]`, 'the service answered 200 with JSON of more than 1,000,000 values'],
  [`{"traders":${objects(250_001)}}`, 'the service answered 200 with a list of more than 250,000 rows'],
])('an answer of few bytes and too many values or rows is exit 13', async (body, message) => {
  const service = await stub((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body)),
  );
  const { code, out, err } = await run('leaderboard list --json', { env: service.env });
  expect([code, out, JSON.parse(err).error.message]).toEqual([13, '', message]);
});

test.each([
  ['follow bulk --file @', []],
  ['webhook register --url https://a.example.com/hook --file @', []],
  ['--sandbox sandbox import @ --preset hyperliquid-fills', []],
])('%s refuses a small gzip file of an array with too many values', async (argv, requests) => {
  const service = await stub((_, response) => void response.end('[]'));
  const file = join(temporaryFolder(), 'many.json.gz');
  writeFileSync(file, gzipSync(objects(5_100_000)));
  const { code, out, err } = await run(argv.replace('@', file), { env: service.env });
  expect([code, out, service.requests]).toEqual([2, '', requests]);
  expect(err).toContain('JSON of more than 5,000,000 values');
});

long('a JSON array of a million addresses is taken', async () => {
  const file = join(temporaryFolder(), 'million.json');
  const addresses = Array.from({ length: 1_000_000 }, (_, index) => `"0x${index.toString(16).padStart(40, '0')}"`);
  writeFileSync(file, `[${addresses.join()}]`);
  const { code, err } = await run(
    `--sandbox webhook register --url https://a.example.com/hook --file ${file} --dry-run`,
  );
  expect([code, err]).toEqual([0, expect.stringContaining('1,000,000 addresses')]);
});
