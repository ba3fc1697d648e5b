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
  const sync = `webhook sync ${uid} --addresses-file ${list} --concurrency 1`;
  expect((await run(sync, { env })).code).toBe(10);
  const [job = ''] = readdirSync(join(folder, 'webhook', 'jobs'));
  const journal = join(folder, 'webhook', 'jobs', job, 'journal.ndjson');
  const before = { sent: service.requests.length, journal: readFileSync(journal, 'utf8') };
  for (const argv of [sync, `webhook resume ${job}`]) {
    const dry = await run(`${argv} --dry-run`, { env });
    expect([argv, dry.code, dry.err]).toEqual([
      argv,
      0,
      'Still to be sent: 2 requests; this is the first, the others are PUTs of up to 1,000.\n',
    ]);
    expect(dry.out).toMatch(new RegExp(`^PUT http://127\\.0\\.0\\.1:\\d+/v1/webhooks/feed/${uid}\n`));
    expect(dry.out).toContain(`{"walletAddresses":["ext:user-1000",`);
    const curl = await run(`${argv} --curl`, { env });
    expect([argv, curl.code]).toEqual([argv, 0]);
    expect(curl.out).toContain(`--data-raw '{"walletAddresses":["ext:user-1000",`);
  }
  expect({ sent: service.requests.length, journal: readFileSync(journal, 'utf8') }).toEqual(before);
  isWell = true;
  expect((await run(`webhook resume ${job}`, { env })).code).toBe(0);
  expect(service.requests.length).toBe(before.sent + 2);
  const finished = readFileSync(journal, 'utf8');
  expect(await run(`webhook resume ${job} --dry-run`, { env })).toEqual({
    code: 0,
    out: '',
    err: expect.stringMatching(/^upload \w+ was finished at .*: nothing was sent\.\n$/),
  });
  expect(readFileSync(journal, 'utf8')).toBe(finished);
});

test('a registration that was refused is shown as the POST that it would be', async () => {
  const service = await stub(({ method }, response) => {
    response.writeHead(method === 'GET' ? 200 : 400).end(method === 'GET' ? '[]' : '{"error":"no"}');
  });
  const env = { ...service.env, SOTRA_DATA_DIR: temporaryFolder() };
  expect((await run(`webhook register --url https://example.com/h --wallet-addresses ${user(1)}`, { env })).code).toBe(
    6,
  );
  const [{ job }] = JSON.parse((await run('webhook jobs --json', { env })).out);
  const { code, out, err } = await run(`webhook resume ${job} --dry-run --json`, { env });
  expect([code, err]).toEqual([0, 'Still to be sent: one request.\n']);
  expect(JSON.parse(out)).toMatchObject({
    method: 'POST',
    body: { walletAddresses: ['ext:user-0001'], destinationUrl: 'https://example.com/h' },
  });
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
