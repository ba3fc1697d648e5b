import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { stub, temporaryFolder } from '../support/harness.ts';
import { manyAddresses, serve, start } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { uploadFolders } from '../support/upload-place.ts';

const kills = Number(process.env['PROVE_KILLS'] ?? 60);

test('100 kills of one upload of 300,000 addresses: one webhook is made, and it gets them all', async () => {
  const folder = temporaryFolder();
  const list = manyAddresses(300_000);
  writeFileSync(join(folder, 'addresses.txt'), `${list.join('\n')}\n`);
  const held = new Set<string>();
  const made: object[] = [];
  const service = { slowMs: 700, changes: 0, puts: 0 };
  const { env } = await stub(async ({ method, body }, response) => {
    response.setHeader('content-type', 'application/json');
    if (method === 'GET') return void response.end(JSON.stringify(made));
    service.changes += 1;
    // Half of what is killed meanwhile was done, without an answer.
    await delay(service.slowMs * Math.random());
    if (method === 'POST')
      made.push({ uid: `w-${made.length}`, destinationUrl: 'http://127.0.0.1:9/hook', secret: 'whsec_0' });
    else service.puts += 1;
    for (const address of JSON.parse(body).walletAddresses) held.add(address);
    await delay(service.slowMs * Math.random());
    response.end(JSON.stringify(made[0]));
  });
  const argv = [
    'webhook',
    'register',
    '--url',
    'http://127.0.0.1:9/hook',
    '--file',
    join(folder, 'addresses.txt'),
    '--json',
  ];
  const all = { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  let killed = 0;
  for (let number = 0; number < 100; number += 1) {
    const run = start(argv, all);
    const before = service.changes;
    // One in five at any moment from the start on; the others once there is something to lose.
    if (number % 5 > 0)
      await until(() => service.changes > before || run.child.exitCode !== null, 'the upload goes on');
    await delay(Math.random() * 1500);
    if (run.child.exitCode === null) killed += 1;
    run.child.kill('SIGKILL');
    await run.ended;
  }
  service.slowMs = 0;
  const puts = service.puts;
  const last = await again(argv.slice(0, -1), all);
  expect(last).toMatchObject({ code: 0 });
  process.stdout.write(`${killed} kills, ${puts} PUTs before the last run, ${service.puts} in all\n`);
  expect([killed, made.length, held.size]).toEqual([100, 1, 300_000]);
  // Each kill may cost the four chunks that were on their way.
  expect(service.puts).toBeLessThan(299 + 100 * 4);
});

test(`${kills} kills at random moments of a 10,000-address upload, each resumed to its end`, async () => {
  const report = await killUploads({ kills, addresses: 10_000, parallel: 4, random: Math.random });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  expect(report.failures).toEqual([]);
  expect(report.kills).toBe(kills);
});

/** What a sandbox may do wrong while addresses are uploaded to it. */
const uploadFaults = [
  'drop:p=0.06:* /v1/webhooks/**',
  '429:p=0.03:* /v1/webhooks/**',
  '500:p=0.06:* /v1/webhooks/**',
  'truncate:p=0.06:* /v1/webhooks/**',
  'delay=200ms:p=0.15:* /v1/webhooks/**',
];

/** Passes requests on to the sandbox, faults and all, and counts how often each chunk was put. */
async function countingProxy(target: string) {
  const puts = new Map<string, number>();
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      if (incoming.method === 'PUT') {
        const key = `${incoming.url} ${JSON.parse(body.toString()).walletAddresses[0]}`;
        puts.set(key, (puts.get(key) ?? 0) + 1);
      }
      const { method = 'GET', headers } = incoming;
      const onward = httpRequest(target + incoming.url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on('error', () => outgoing.destroy());
        answer.on('close', () => (answer.complete ? undefined : outgoing.destroy()));
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, puts, close };
}

interface KillReport {
  kills: number;
  /** Killed while the program was still at work, by what was known on disk then. */
  killedBefore: { anything: number; registered: number; finished: number };
  /** Chunks that arrived more than once. */
  resent: number;
  /** What must never be: each entry is a failure. */
  failures: string[];
}

/**
 * Kills an upload at random moments and resumes each to its end, against a sandbox with faults; then compares what the sandbox holds
 * with what was to be sent.
 */
async function killUploads(options: {
  kills: number;
  addresses: number;
  parallel: number;
  random: () => number;
}): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-kills-'));
  const list = manyAddresses(options.addresses);
  const file = join(folder, 'addresses.txt');
  writeFileSync(file, `${list.join('\n')}\n`);
  const sandbox = await serve(folder, ['--empty', ...uploadFaults.flatMap((fault) => ['--fault', fault])]);
  const proxy = await countingProxy(sandbox.url);
  const report: KillReport = {
    kills: 0,
    killedBefore: { anything: 0, registered: 0, finished: 0 },
    resent: 0,
    failures: [],
  };
  const db = openDb(sandbox.db);
  const one = async (number: number): Promise<void> => {
    const data = join(folder, `run-${number}`);
    mkdirSync(data);
    const secretFile = join(data, 'secret');
    const destination = `http://127.0.0.1:9/hook-${number}`;
    const argv = ['webhook', 'register', '--url', destination, '--file', file, '--secret-file', secretFile];
    const env = {
      SOTRA_BASE_URL: proxy.url,
      SOTRA_API_KEY: 'sandbox-key-a',
      SOTRA_DATA_DIR: data,
      SOTRA_CONFIG_DIR: data,
    };
    const fail = (what: string) => report.failures.push(`run ${number}: ${what}`);
    const first = start([...argv, '--json'], env);
    // One in four at any moment from the start on; the others once there is something to lose.
    if (number % 4 > 0)
      await until(() => stateOf(data) !== undefined || first.child.exitCode !== null, 'the upload begins');
    await delay(options.random() * 2000);
    first.child.kill('SIGKILL');
    await first.ended;
    report.kills += 1;
    const state = stateOf(data);
    if (state === undefined) report.killedBefore.anything += 1;
    else if (state.uid === null) report.killedBefore.registered += 1;
    else if (state.line !== null) report.killedBefore.finished += 1;
    const isKept = uploadFolders(data).some((each) => readdirSync(each).some((name) => name.startsWith('secret-')));
    if (state?.uid && !isKept) fail('registered, and the secret is not on disk');
    let last = await again(argv, env);
    for (let tries = 1; last.code === 10 && tries < 5; tries += 1) last = await again(argv, env);
    if (last.code !== 0) return void fail(`ended with ${last.code}: ${last.err}`);
    const result = JSON.parse(last.out);
    const rows = db.all<{ id: number; uid: string; secret: string }>(
      'SELECT id, uid, secret FROM webhook WHERE destination_url = ?',
      [destination],
    );
    if (rows.length !== 1) fail(`${rows.length} webhooks`);
    const [row] = rows;
    const held = db.all<{ address: string }>('SELECT address FROM webhook_wallet WHERE webhook_id = ?', [row?.id ?? 0]);
    const known = new Set(held.map(({ address }) => address));
    const lost = list.filter((address) => !known.has(address)).length;
    if (lost > 0 || held.length !== list.length) fail(`${lost} addresses lost, ${held.length} held`);
    if (result.uid !== row?.uid) fail('the uid is not that of the webhook');
    if (readFileSync(secretFile, 'utf8').trim() !== row?.secret) fail('the secret is not that of the webhook');
    if ((statSync(secretFile).mode & 0o777) !== 0o600) fail('the secret can be read by others');
    const seen = [...proxy.puts].filter(([key, count]) => key.includes(result.uid) && count > 1).length;
    report.resent += seen;
  };
  try {
    let next = 0;
    const worker = async () => {
      for (let number = next++; number < options.kills; number = next++) await one(number);
    };
    await Promise.all(Array.from({ length: options.parallel }, worker));
  } finally {
    db.close();
    proxy.close();
    sandbox.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
  return report;
}

async function again(argv: readonly string[], env: Record<string, string>) {
  const run = start([...argv, '--json'], env);
  const code = await run.ended;
  return { code, ...run.printed };
}

/** The state of the one upload; `undefined` if there is none yet. */
function stateOf(data: string): { uid: string | null; line: string | null } | undefined {
  const [file] = uploadFolders(data).map((each) => join(each, 'state.json'));
  return file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
