import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answering, failure, newUser, run, stub, temporaryFolder } from '../support/harness.ts';
import { size, some } from '../support/size.ts';

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
const lineOf = (line: number) => `stdin: line ${line} is longer than 1 MB`;

const cases: readonly [argv: string, start: string, message: string][] = [
  [register, '', lineOf(1)],
  [register, 'n,address\n1,', lineOf(2)],
  [register, '{"address":"', lineOf(1)],
  [register, '["', 'a JSON array of more than 128 MB'],
  ['follow bulk --file -', '# one\n#', lineOf(2)],
  ['--sandbox sandbox import - --chain base', 'time,trader,token,side,amount,usd\n', lineOf(2)],
  ['--sandbox sandbox import - --preset hyperliquid-fills', '[{}, {"', 'a JSON array of more than 128 MB'],
  ['comment post --service-name E --key-file nowhere --file -', '', lineOf(1)],
  ['comment post --signed -', '', 'stdin is larger than 1 MB'],
  ['profile positions ext:a open --prices-file -', '{"', 'stdin is larger than 16 MB'],
];

test.each(some(cases, 7))('%s refuses a text that starts with %j and never ends: %s', async (argv, start, message) => {
  const service = await answering([]);
  const env = { ...newUser().env, ...service.env };
  expect(await run(argv, { env, stdin: endless(start) })).toEqual(failure(2, message));
  if (!/--signed|--text-file|--prices-file/.test(argv) && (start === '' || size(0, 1) === 1)) {
    const packed = Readable.from(endless(start)).pipe(createGzip({ level: 1 }));
    expect(await run(argv, { env, stdin: packed })).toEqual(failure(2, message));
  }
  const left = readdirSync(env.SOTRA_DATA_DIR, { recursive: true, encoding: 'utf8' });
  expect(left.filter((name) => /stdin|draft/.test(name))).toEqual([]);
  expect(service.requests).toEqual([]);
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
  expect(await run('leaderboard list', { env: service.env })).toEqual(failure(13, `error: ${message}\n`));
});

test.each([
  'follow bulk --file @',
  'webhook register --url https://a.example.com/hook --file @',
  '--sandbox sandbox import @ --preset hyperliquid-fills',
])('%s refuses a small gzip file of an array with too many values', async (argv) => {
  const service = await answering([]);
  const file = join(temporaryFolder(), 'many.json.gz');
  writeFileSync(file, gzipSync(objects(5_100_000)));
  const refused = await run(argv.replace('@', file), { env: service.env });
  expect(refused).toEqual(failure(2, 'JSON of more than 5,000,000 values'));
  expect(service.requests).toEqual([]);
});
