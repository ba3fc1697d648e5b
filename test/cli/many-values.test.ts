import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { long } from '../support/size.ts';

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
