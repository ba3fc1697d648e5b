import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../../support/harness.ts';

const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
const user = (number: number) => `ext:user-${String(number).padStart(4, '0')}`;

test('--dry-run and --curl of an upload that stopped show what would be sent next, send nothing and leave all as it is', async () => {
  let isWell = false;
  const service = await stub(({ body }, response) => {
    const isSecond = body.includes(user(1500));
    response.writeHead(isSecond && !isWell ? 400 : 200).end(isSecond && !isWell ? '{"error":"no"}' : '{}');
  });
  const folder = temporaryFolder();
  const env = { ...service.env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const list = join(folder, 'users.txt');
  writeFileSync(list, Array.from({ length: 2500 }, (_, index) => `${user(index)}\n`).join(''));
  const upload = `webhook add-addresses ${uid} --addresses-file ${list} --concurrency 1`;
  expect((await run(upload, { env })).code).toBe(10);
  const [job = ''] = readdirSync(join(folder, 'webhook', 'jobs'));
  const journal = join(folder, 'webhook', 'jobs', job, 'journal.ndjson');
  const before = { sent: service.requests.length, journal: readFileSync(journal, 'utf8') };
  const dry = await run(`${upload} --dry-run`, { env });
  expect([dry.code, dry.err]).toEqual([
    0,
    'Still to be sent: 2 requests; this is the first, the others are PUTs of up to 1,000.\n',
  ]);
  expect(dry.out).toMatch(new RegExp(`^PUT http://127\\.0\\.0\\.1:\\d+/v1/webhooks/feed/${uid}\n`));
  expect(dry.out).toContain(`{"walletAddresses":["ext:user-1000",`);
  const sync = `webhook sync ${uid} --addresses-file ${list}`;
  for (const argv of [upload, sync]) {
    const curl = await run(`${argv} --curl`, { env });
    expect([argv, curl.code]).toEqual([argv, 0]);
    expect(curl.out).toContain(`--data-raw '{"walletAddresses":["ext:user-1000",`);
  }
  const checked = await run(`${sync} --dry-run`, { env });
  expect([checked.code, checked.err]).toEqual([10, `Would send 1,500 of 2,500 addresses to webhook ${uid}.\n`]);
  expect({ sent: service.requests.length, journal: readFileSync(journal, 'utf8') }).toEqual(before);
  isWell = true;
  expect((await run(upload, { env })).code).toBe(0);
  expect(service.requests.length).toBe(before.sent + 2);
  const finished = readFileSync(journal, 'utf8');
  expect(await run(`${upload} --dry-run`, { env })).toEqual({
    code: 0,
    out: '',
    err: expect.stringMatching(/^upload \w+ was finished at .*: nothing was sent\.\n$/),
  });
  expect(readFileSync(journal, 'utf8')).toBe(finished);
});

test('webhook list masks secrets also in an answer that is no list', async () => {
  const secret = 'hush.canary.webhook.4242';
  const service = await answering({
    webhooks: [{ uid: 1, secret }],
    signing: { hookSecret: secret },
    k: 'whsec_abcdefghij',
  });
  const { code, out } = await run('webhook list --json', { env: service.env });
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { webhooks: [{ uid: 1, secret: 'hu***' }], signing: { hookSecret: 'hu***' }, k: 'whsec_ab***' },
  ]);
  const asked = await run('webhook list --json --show-secrets', { env: service.env });
  expect(asked.out).toContain(secret);
});
