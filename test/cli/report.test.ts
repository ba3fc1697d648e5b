import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';

test('--report of follow bulk says of each entry what became of it', async () => {
  const { env } = await stub(({ method, body }, response) => {
    const isSecond = body.includes('ext:1500"');
    response.writeHead(isSecond ? 400 : 200, {
      'content-type': 'application/json',
      'x-request-id': `${method}-${isSecond ? 2 : 1}`,
    });
    response.end(isSecond ? '{"error":"no"}' : '{"targetProfiles":[]}');
  });
  const folder = temporaryFolder();
  const [list, report] = [join(folder, 'list.ndjson'), join(folder, 'report.ndjson')];
  const entry = (index: number) => `{"addressOrUid":"ext:${index}","targets":["ext:a"]}\n`;
  writeFileSync(list, Array.from({ length: 2500 }, (_, index) => entry(index)).join(''));
  expect(
    (await run(`follow bulk --file ${list} --report ${report}`, { env: { ...env, SOTRA_DATA_DIR: folder } })).code,
  ).toBe(10);
  const lines = readFileSync(report, 'utf8').trim().split('\n');
  const partly = lines.map((line) => JSON.parse(line));
  expect([partly[0], partly[1500], partly[2400], partly.length]).toEqual([
    { line: 1, addressOrUid: 'ext:0', targets: ['ext:a'], request: 1, status: 'applied', requestId: 'POST-1' },
    {
      ...{ line: 1501, addressOrUid: 'ext:1500', targets: ['ext:a'], request: 2, status: 'failed' },
      ...{ requestId: 'POST-2', error: 'bad-request' },
    },
    { line: 2401, addressOrUid: 'ext:2400', targets: ['ext:a'], request: 3, status: 'not-sent', requestId: null },
    2500,
  ]);
});
