import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type WebhookEvent, webhookHandler } from '../../../src/library/webhook.ts';
import { openDb } from '../../../src/sandbox/db/store.ts';
import {
  failure,
  newUser,
  openPort,
  type RunOptions,
  run,
  runJson,
  stub,
  temporaryFolder,
  until,
} from '../../support/harness.ts';
import { listen, secret } from '../../support/listening.ts';
import { freePorts } from '../../support/processes.ts';

function secretFile(text = `${secret}\n`): string {
  const file = join(temporaryFolder(), 'hook.secret');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const examine = (url: string, more = '', options: RunOptions = {}) =>
  run(`webhook exam ${url} --secret-file ${secretFile()} ${more}`, { skipWaits: true, ...options });

interface Row {
  case: string;
  status: number | null;
  ms: number;
  error: string | null;
  verdict: string;
}

const answers = (out: string) =>
  Object.fromEntries((JSON.parse(out) as Row[]).map(({ case: name, status, verdict }) => [name, [status, verdict]]));

test('an endpoint built with the library passes every case, and gets a repeat, an older event and all of a large one', async () => {
  const events: WebhookEvent[] = [];
  const onEvents = (some: WebhookEvent[]) => void events.push(...some);
  const server = createServer(webhookHandler({ secrets: secret, toleranceMs: 300_000, onEvents }).node);
  const url = `http://127.0.0.1:${await openPort(server)}/hook`;
  const { code, out, err } = await examine(url, '--json');
  expect(answers(out)).toEqual({
    good: [200, 'pass'],
    repeat: [200, 'pass'],
    'out-of-order': [200, 'pass'],
    'bad-signature': [401, 'pass'],
    unsigned: [401, 'pass'],
    stale: [401, 'pass'],
    'unknown-type': [200, 'pass'],
    empty: [401, 'pass'],
    large: [200, 'pass'],
    slow: [200, 'pass'],
  });
  expect([code, err]).toEqual([0, '10 passed, 0 warnings, 0 failed.\n']);
  const [good, repeat, older, unknown, large, slow] = events;
  expect(events).toHaveLength(6);
  expect(repeat).toEqual(good);
  const [newer, before] = [good, older].map((event) => /"cardLatestTradeAt":(\d+)/.exec(JSON.stringify(event))?.[1]);
  expect(Number(before)).toBeLessThan(Number(newer));
  const types = [good, older, unknown].map((event) => event?.eventType);
  expect(types).toEqual(['new-feed-item', 'new-feed-item', 'exam-unknown-type']);
  expect(String(large?.['padding'])).toHaveLength(5_242_880);
  expect(slow?.walletAddresses).toHaveLength(1);
  expect((JSON.parse(out) as Row[]).at(-1)?.ms).toBeGreaterThan(3000);
});

test('webhook listen with a tolerance passes, and gets a warning for old deliveries without one', async () => {
  const strict = await listen(temporaryFolder(), '--tolerance 5m');
  expect((await examine(`${strict.url}/hook`)).err).toBe('10 passed, 0 warnings, 0 failed.\n');
  const lenient = await listen(temporaryFolder());
  expect((await examine(`${lenient.url}/hook`)).err).toContain('9 passed, 1 warning, 0 failed.\n');
});

test('an endpoint that accepts everything fails with exit 12, its table on stdout and each reason on stderr', async () => {
  const naive = await stub((_, response) => response.end());
  const report = join(temporaryFolder(), 'exam.xml');
  const { code, out, err } = await examine(`${naive.url}/hook`, `--junit ${report} --columns case,status,verdict`);
  expect(code).toBe(12);
  const rows = out.trim().split('\n');
  expect(rows.filter((row) => !row.endsWith('\t200\tpass'))).toEqual([
    ...['bad-signature\t200\tfail', 'unsigned\t200\tfail', 'stale\t200\twarn', 'empty\t200\tfail'],
  ]);
  expect(err).toMatch(/^fail bad-signature: 200 in \d+ ms; expected 4xx, such as 401\n/);
  expect(err).toMatch(
    /\nLikely cause: the endpoint does not compare signatures\.\n6 passed, 1 warning, 3 failed\. Next: fix bad-signature \(see sotra help webhooks\), then run the same line again\.\n$/,
  );
  const [, , suite, ...cases] = readFileSync(report, 'utf8').trimEnd().split('\n').slice(0, -2);
  expect(suite).toBe('<testsuite name="webhook exam" tests="10" failures="3" errors="0">');
  expect(cases).toHaveLength(10);
  const isCase = /^<testcase classname="webhook exam" name="[^"<>]+" time="[\d.]+">(.*)<\/testcase>$/;
  const results = cases.map((line) => isCase.exec(line)?.[1]?.replace(/\d+ ms/, 'N ms')).filter((text) => text !== '');
  expect(results).toEqual([
    '<failure message="200 in N ms; expected 4xx, such as 401"/>',
    '<failure message="200 in N ms; expected 4xx, such as 401"/>',
    '<system-out>warning: 200 in N ms; expected 4xx (recommended): anyone who saw it can replay it</system-out>',
    '<failure message="200 in N ms; expected 4xx, such as 400; 5xx is a crash"/>',
  ]);
});

test('an endpoint that answers 500 accepts nothing: an unsigned delivery that it refuses is a warning', async () => {
  const broken = await stub((_, response) => response.writeHead(500).end());
  const { code, out } = await examine(`${broken.url}/hook`, '--json');
  expect(code).toBe(12);
  const warned = (JSON.parse(out) as Row[]).filter(({ verdict }) => verdict === 'warn');
  expect(warned.map((row) => row.case)).toEqual(['bad-signature', 'unsigned', 'stale']);
  expect(answers(out)).toMatchObject({ good: [500, 'fail'], empty: [500, 'fail'], slow: [500, 'fail'] });
});

test('no answer in time, and a connection that is cut, are failures of their case alone', async () => {
  const service = await stub((_, response, count) => {
    if (count === 2) response.destroy();
    else if (count > 2) response.writeHead(401).end();
  });
  const { code, out } = await examine(`${service.url}/hook`, '--json --timeout 300ms');
  const [hanging, cut, refusing] = JSON.parse(out) as Row[];
  expect(code).toBe(12);
  expect(hanging).toMatchObject({ status: null, error: 'no answer within 0.3 s', verdict: 'fail' });
  expect(cut).toMatchObject({ status: null, error: 'the connection was closed without an answer', verdict: 'fail' });
  expect(refusing).toMatchObject({ status: 401, error: null, verdict: 'fail' });
});

test('a good delivery that is refused has likely causes', async () => {
  const service = await stub((_, response) => response.writeHead(400).end());
  const { err } = await examine(`${service.url}/hook`);
  expect(err).toMatch(
    /\nLikely causes: another secret than in \S+, a body that is parsed .*, hex instead of base64url\.\n/,
  );
});

test('if nothing listens, there is one error, also in the report', async () => {
  const [port] = await freePorts(1);
  const report = join(temporaryFolder(), 'exam.xml');
  const url = `http://127.0.0.1:${port}/?a="<1>"&b=2`;
  const gone = await examine(url, `--junit ${report}`);
  expect(gone).toEqual(failure(9, `error: cannot connect to ${url}: nothing is listening at 127.0.0.1:${port}\n`));
  expect(gone.err).not.toContain('sotra why');
  const message = `cannot connect to http://127.0.0.1:${port}/?a=&quot;&lt;1&gt;&quot;&amp;b=2: nothing is listening`;
  expect(readFileSync(report, 'utf8')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite name="webhook exam" tests="1" failures="0" errors="1">
<testcase classname="webhook exam" name="endpoint" time="0"><error message="${message} at 127.0.0.1:${port}"/></testcase>
</testsuite>
</testsuites>
`);
});

test('an endpoint on another machine is asked about first', async () => {
  const elsewhere = 'https://hooks.example.com/in?token=abc';
  const asked = 'send 10 test deliveries to https://hooks.example.com/in?token=***';
  expect(await examine(elsewhere)).toEqual(failure(2, asked));
  expect((await examine(elsewhere, '', { answers: ['n'] })).code).toBe(2);
});

test('a dry run lists the cases, sends nothing and leaves the report as it is', async () => {
  const service = await stub((_, response) => response.end());
  const report = join(temporaryFolder(), 'exam.xml');
  const { out } = await examine(service.url, `--dry-run --json --junit ${report}`);
  const rows = JSON.parse(out);
  expect(rows).toHaveLength(10);
  expect(rows[3]).toEqual({
    ...{ case: 'bad-signature', sent: 'an event signed with another secret', expected: '4xx, such as 401' },
    ...{ status: null, ms: null, error: null, verdict: null },
  });
  expect([service.requests, existsSync(report)]).toEqual([[], false]);
});

test('Ctrl-C ends it between two cases, and the report says so', async () => {
  const stopping = new AbortController();
  const service = await stub((_, response, count) => {
    response.end();
    if (count === 2) stopping.abort();
  });
  const report = join(temporaryFolder(), 'exam.xml');
  const { code, out } = await examine(service.url, `--junit ${report}`, { signal: stopping.signal });
  expect([code, out, service.requests.length]).toEqual([130, '', 2]);
  expect(readFileSync(report, 'utf8')).toContain('<error message="interrupted"/></testcase>\n</testsuite>');
});

test('the report is never written over the secret', async () => {
  const service = await stub((_, response) => response.end());
  const file = secretFile();
  const { code } = await run(`webhook exam ${service.url} --secret-file ${file} --junit ${file}`);
  expect([code, readFileSync(file, 'utf8'), service.requests]).toEqual([2, 'whsec_test\n', []]);
});

test('a webhook whose destination does not listen is named with the line that removes it', async () => {
  const [{ env }, [port = 0]] = [newUser(), await freePorts(1)];
  const open = await stub((_, response) => response.end());
  const register = async (url: string) =>
    (await runJson(`--sandbox webhook register --url ${url} --wallet-addresses ext:a`, { env })).uid;
  await register(`${open.url}/hook`);
  const uid = await register(`http://127.0.0.1:${port}/hook`);
  const startedMs = Date.now();
  const fast = { skipWaits: true, now: () => startedMs + 20 * (Date.now() - startedMs) };
  const { code, err, out } = await run('webhook trigger new-feed-item --sandbox', { env, ...fast, tty: 80 });
  expect(out.split('\n')[0]?.trimEnd()).toMatch(/^Destination +Accepted {2}Status {2}Error$/);
  const line = `sotra --sandbox webhook delete ${uid}\n`;
  const message = `Not accepted by http://127.0.0.1:${port}/hook. To delete that webhook:\n  ${line}`;
  expect([code, err]).toEqual([9, expect.stringContaining(message)]);
  await run(`--sandbox webhook delete ${uid} --yes`, { env });
  expect(await run('webhook trigger new-feed-item --sandbox', { env })).toMatchObject({ code: 0, err: '' });
});

test('a listener that starts shortly after the event still gets it', async () => {
  const [{ env }, [port = 0]] = [newUser(), await freePorts(1)];
  const hook = `--url http://127.0.0.1:${port}/hook --wallet-addresses ext:a`;
  await run(`--sandbox webhook register ${hook}`, { env });
  const triggered = runJson('webhook trigger new-feed-item --sandbox', { env });
  const db = openDb(join(env.SOTRA_DATA_DIR, 'sandbox.db'));
  await until(() => db.get('SELECT 1 FROM outbox WHERE tries = 1'), 'a try that nobody answers');
  db.close();
  const { server } = await stub((_, response) => response.end());
  await new Promise((resolve) => server.close(resolve));
  server.listen(port, '127.0.0.1');
  expect(await triggered).toMatchObject([{ delivered: true, status: 200 }]);
});
