import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';

const hook = 'http://127.0.0.1:9/hook';
const list = Array.from({ length: 3000 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);

/** An upload of 3,000 addresses that ended after its first 2,000. */
async function begun() {
  const folder = temporaryFolder();
  const sent: string[][] = [];
  let refusing = true;
  const service = await stub(({ method, body }, response) => {
    response.setHeader('content-type', 'application/json');
    const webhook = { uid: 'u-1', destinationUrl: hook, secret: 's' };
    if (method === 'GET') return void response.end(JSON.stringify(sent.length === 0 ? [] : [webhook]));
    if (refusing && sent.length === 2) {
      response.statusCode = 400;
      return void response.end('{"error":"not now"}');
    }
    sent.push(JSON.parse(body).walletAddresses);
    response.end(JSON.stringify(webhook));
  });
  const env = { ...service.env, SOTRA_DATA_DIR: folder };
  const file = join(folder, 'addresses.txt');
  writeFileSync(file, list.join('\n'));
  const argv = `webhook register --url ${hook} --addresses-file ${file} --concurrency 1 --json`;
  const first = await run(argv, { env });
  expect(first.code).toBe(10);
  refusing = false;
  const { job } = JSON.parse(first.err).error.details;
  const act = (line: string) => run(line, { env });
  return { act, argv, file, job, sent, kept: join(folder, 'webhook', 'jobs', job, 'addresses.txt'), folder };
}

const harms: [string, (kept: string) => void][] = [
  ['has one more', (kept) => appendFileSync(kept, `0x${'f'.repeat(40)}\n`)],
  ['has another', (kept) => writeFileSync(kept, `${list.join('\n').replace('2', '3')}\n`)],
  ['is empty', (kept) => writeFileSync(kept, '')],
  ['is gone', (kept) => rmSync(kept)],
];

test.each(harms)(
  'a begun upload whose own list %s is not resumed: nothing is sent; the same command puts it right and ends it',
  async (_, harm) => {
    const { act, argv, job, sent, kept } = await begun();
    harm(kept);
    const { code, out, err } = await act(`webhook resume ${job}`);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(kept);
    expect(err).toContain('hint: The command that started this upload');
    expect(sent).toHaveLength(2);
    expect((await act(argv)).code).toBe(0);
    expect(sent.flat()).toEqual(list);
    expect((await act(`webhook resume ${job}`)).code).toBe(0);
  },
);

test('the same command with a file that was changed meanwhile sends nothing and names the webhook; resume takes the old list', async () => {
  const { act, argv, file, job, sent, folder } = await begun();
  appendFileSync(file, `\n0x${'f'.repeat(40)}\n`);
  const { code, out, err } = await act(argv);
  expect({ code, out }).toEqual({ code: 6, out: '' });
  const { error } = JSON.parse(err);
  expect(error.message).toContain('webhook u-1 sends to http://127.0.0.1:9/hook already');
  expect(error.hint).toContain('sotra webhook add-addresses u-1');
  expect(sent).toHaveLength(2);
  expect((await act(`webhook resume ${job} --json`)).code).toBe(0);
  expect(sent.flat()).toEqual(list);
  expect(readdirSync(join(folder, 'webhook', 'jobs')).filter((name) => name.startsWith('draft-'))).toEqual([]);
});

test('sync does not trust the list of an upload that was changed: exit 3, named, nothing is sent', async () => {
  const { act, argv, file, sent, kept } = await begun();
  expect((await act(argv)).code).toBe(0);
  harms[1]?.[1](kept);
  const { code, out, err } = await act(`webhook sync u-1 --addresses-file ${file}`);
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toContain(kept);
  expect(sent).toHaveLength(3);
});
