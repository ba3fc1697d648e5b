import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';

const address = (index: number) => `0x${index.toString(16).padStart(40, '0')}`;

/** A service that confirms what comes, and refuses the second list of addresses or entries until told otherwise. */
async function service() {
  const state = { refuses: true };
  const folder = temporaryFolder();
  const answers = await stub(({ method, body }, response) => {
    const isSecond = body.includes(address(1500)) || body.includes('ext:1500"');
    response.statusCode = isSecond && state.refuses ? 400 : 200;
    response.setHeader('content-type', 'application/json');
    response.setHeader('x-request-id', `${method}-${isSecond ? 2 : 1}`);
    if (response.statusCode === 400) return void response.end('{"error":"no"}');
    const webhook = {
      uid: 'u-1',
      destinationUrl: 'http://127.0.0.1:9/x',
      secret: 'whsec_abcdefghij',
      targetProfiles: [],
    };
    response.end(method === 'GET' ? '[]' : JSON.stringify(webhook));
  });
  const env = { ...answers.env, SOTRA_DATA_DIR: join(folder, 'data') };
  const report = join(folder, 'report.ndjson');
  const rows = () =>
    readFileSync(report, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { state, folder, env, report, rows };
}

test('--report of an upload says of each address what became of it, also after a failure and once it is resumed', async () => {
  const { state, folder, env, report, rows } = await service();
  const list = join(folder, 'list.txt');
  writeFileSync(list, Array.from({ length: 2500 }, (_, index) => `${address(index)}\n`).join(''));
  const line = `webhook register --url http://127.0.0.1:9/x --file ${list} --concurrency 1 --report ${report}`;
  expect((await run(line, { env })).code).toBe(10);
  const partly = rows();
  expect([partly[0], partly[1500], partly[2400], partly.length]).toEqual([
    { address: address(0), chunk: 1, status: 'confirmed', requestId: 'POST-1' },
    { address: address(1500), chunk: 2, status: 'failed', requestId: 'PUT-2', error: 'bad-request' },
    { address: address(2400), chunk: 3, status: 'not-sent', requestId: null },
    2500,
  ]);
  state.refuses = false;
  expect((await run(`${line} --quiet`, { env })).code).toBe(0);
  const whole = rows();
  expect([whole[0], whole[1500], whole[2400]]).toEqual([
    { address: address(0), chunk: 1, status: 'confirmed', requestId: 'POST-1' },
    { address: address(1500), chunk: 2, status: 'confirmed', requestId: 'PUT-2' },
    { address: address(2400), chunk: 3, status: 'confirmed', requestId: 'PUT-1' },
  ]);
  expect(await run(line.replace(report, list), { env })).toMatchObject({
    code: 2,
    err: expect.stringContaining(`--report ${list}: that is ${list}, which would be emptied`),
  });
});

test('--report of follow bulk says of each entry what became of it', async () => {
  const { folder, env, report, rows } = await service();
  const list = join(folder, 'list.ndjson');
  const entry = (index: number) => `{"addressOrUid":"ext:${index}","targets":["ext:a"]}\n`;
  writeFileSync(list, Array.from({ length: 2500 }, (_, index) => entry(index)).join(''));
  expect((await run(`follow bulk --file ${list} --report ${report}`, { env })).code).toBe(10);
  const partly = rows();
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
