import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import addFormats from 'ajv-formats';
import harSchemas from 'har-schema';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';
import { degen, swaps, writeKeys } from '../support/traders.ts';

const execute = promisify(execFile);

interface Har {
  log: {
    version: string;
    creator: { name: string };
    entries: {
      time: number;
      comment?: string;
      request: { method: string; url: string; headers: { name: string; value: string }[]; postData?: { text: string } };
      response: {
        status: number;
        content: { text?: string; size: number };
        headers: { name: string; value: string }[];
      };
      timings: Record<string, number>;
    }[];
  };
}

/** The archive, once the schemas of HAR 1.2 have accepted it. */
function readHar(file: string): Har['log'] {
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);
  ajv.addMetaSchema(draft06);
  ajv.addSchema(Object.values(harSchemas));
  const har = JSON.parse(readFileSync(file, 'utf8'));
  const validate = ajv.getSchema('har.json#');
  expect(validate?.(har) === true ? [] : validate?.errors).toEqual([]);
  return (har as Har).log;
}

const newTrace = () => join(temporaryFolder(), 'trace.har');

test('--trace-file writes an archive that the schemas of HAR 1.2 accept, readable by its owner alone', async () => {
  const { envA: env, url } = await serveSandbox();
  const file = newTrace();
  const { code, out } = await run(`leaderboard list --limit 2 --json --trace-file ${file}`, { env });
  expect(code).toBe(0);
  const log = readHar(file);
  expect(log).toMatchObject({ version: '1.2', creator: { name: 'sotra' } });
  expect(log.entries).toHaveLength(1);
  expect(log.entries[0]).toMatchObject({
    request: { method: 'GET', url: `${url}/v2/leaderboard?limit=2`, queryString: [{ name: 'limit', value: '2' }] },
    response: { status: 200, statusText: 'OK' },
  });
  expect(JSON.parse(log.entries[0]?.response.content.text ?? '')).toEqual(JSON.parse(out));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('the archive holds every attempt with the reason of the next, also when the command fails', async () => {
  const service = await stub((_, response, count) => {
    if (count === 1) response.destroy();
    else response.writeHead(503, { 'x-request-id': `r${count}` }).end('{"error":"busy"}');
  });
  const file = newTrace();
  expect(await run(`leaderboard list --trace-file ${file}`, { env: service.env })).toMatchObject({ code: 8, out: '' });
  const { entries } = readHar(file);
  expect(entries.map(({ response }) => response.status)).toEqual([0, 503, 503]);
  expect(entries[0]?.comment).toContain('cannot reach');
  expect(entries[1]?.comment).toContain('attempt 2, after cannot reach');
  expect(entries[2]?.comment).toContain('attempt 3, after busy (HTTP 503');
});

test('keys, cookies, secrets and signatures are hidden in the archive, in both directions', async () => {
  const answer = { secret: 'whsec-"quoted"', echo: 'Bearer stub-key', keep: 'visible' };
  const service = await answering(answer, 200, { 'set-cookie': 'session=abc', 'x-echo': 'stub-key' });
  const file = newTrace();
  const body = JSON.stringify({ signature: '0xdeadbeef', commentText: 'gm' });
  await run(['request', 'POST', '/v1/x?k=stub-key', '-d', body, '--trace-file', file], { env: service.env });
  const text = readFileSync(file, 'utf8');
  for (const secret of ['stub-key', 'deadbeef', 'whsec', 'quoted', 'session=abc']) expect(text).not.toContain(secret);
  const [entry] = readHar(file).entries;
  expect(entry?.request.postData?.text).toBe('{"signature":"***","commentText":"gm"}');
  expect(JSON.parse(entry?.response.content.text ?? '')).toEqual({
    secret: '***',
    echo: 'Bearer ***',
    keep: 'visible',
  });
  expect(entry?.request.headers).toContainEqual({ name: 'authorization', value: 'Bearer ***' });
  expect(entry?.response.content.size).toBe(JSON.stringify(answer).length);
});

test('an archive that cannot be written is exit 3 before anything is sent', async () => {
  const service = await answering({ traders: [] });
  const { code, err } = await run('leaderboard list --trace-file /no/such/folder/t.har', { env: service.env });
  expect(code).toBe(3);
  expect(err).toContain('--record /no/such/folder/t.har');
  expect(service.requests).toEqual([]);
});

test('--verbose says what the time went to, the request id, and why an attempt was repeated', async () => {
  const service = await stub((_, response, count) => {
    response.writeHead(count === 1 ? 503 : 200, { 'x-request-id': `req-${count}` });
    response.end(count === 1 ? '{"error":"busy"}' : '{"traders":[]}');
  });
  const env = { ...service.env, SOTRA_BASE_URL: service.url.replace('127.0.0.1', 'localhost') };
  const { err } = await run('leaderboard list --json --verbose', { env });
  expect(err).toMatch(/< 503 in \d+ ms, 16 bytes \(first byte \d+ ms\), request id req-1\n/);
  expect(err).toMatch(/! waiting \d+ ms: busy \(HTTP 503 from GET \/v2\/leaderboard\)\n/);
  expect(err).toMatch(/< 200 in \d+ ms, 14 bytes \(first byte \d+ ms\), request id req-2\n/);
});

test('a --curl line, pasted into bash, gets the same answer from a served sandbox', async () => {
  const { envA: env } = await serveSandbox();
  const bash = async (line: string) => {
    const { stdout } = await execute('bash', ['-c', line], { env: { ...env, PATH: process.env['PATH'] ?? '' } });
    return JSON.parse(stdout);
  };
  for (const argv of [
    ['leaderboard', 'list', '--chains', 'base,solana', '--limit', '3'],
    ['profile', 'get', 'ext:o\'brien $HOME `id` "x" [a-c] {1,2} \\ é'],
    ['request', 'GET', '/v2/leaderboard?limit=1'],
  ]) {
    const { out } = await run([...argv, '--curl'], { env });
    expect(out).toContain('$SOTRA_API_KEY');
    expect(out).not.toContain('sandbox-key-a');
    const asked = await run([...argv, '--json'], { env });
    expect([argv, asked.code]).toEqual([argv, 0]);
    expect(await bash(out)).toEqual(JSON.parse(asked.out));
  }
});

test('--curl with the built-in sandbox names the address that sandbox start serves, and says so', async () => {
  const { out, err } = await run('--sandbox leaderboard list --curl');
  expect(out).toContain(' http://127.0.0.1:4010/v2/leaderboard ');
  expect(err).toContain('sotra sandbox start');
  // Also where the command looks for a service twice, before it signs and before it sends.
  const swap = `--chain base --tx ${swaps.good} --token ${degen} --text gm --service-name Sandbox`;
  const { evm } = writeKeys(temporaryFolder());
  const signed = await run(`--sandbox comment post ${swap} --key-file ${evm} --curl`);
  expect([signed.code, signed.err.split('works while sotra sandbox start runs').length]).toEqual([0, 2]);
});

test('an archive is readable by its owner alone, follows no link, and is no file of somebody else', async () => {
  const { env } = await answering({ traders: [] });
  const folder = temporaryFolder();
  const [file, link] = [join(folder, 'trace.har'), join(folder, 'link.har')];
  writeFileSync(file, 'old', { mode: 0o644 });
  const other = await run(`leaderboard list --trace-file ${file}`, { env });
  expect([other.code, other.err]).toEqual([3, expect.stringContaining('is not a file that --record wrote')]);
  symlinkSync(file, link);
  const linked = await run(`leaderboard list --trace-file ${link}`, { env });
  expect([linked.code, linked.err]).toEqual([3, expect.stringContaining(`${link} is a link, not a regular file`)]);
  expect(readFileSync(file, 'utf8')).toBe('old');
  writeFileSync(file, '');
  expect((await run(`leaderboard list --trace-file ${file}`, { env })).code).toBe(0);
  expect([statSync(file).mode & 0o777, readHar(file).entries.length, readdirSync(folder).sort()]).toEqual([
    0o600,
    1,
    ['link.har', 'trace.har'],
  ]);
});
