import { execFile } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/lib/files/sqlite.ts';
import { cardOf } from '../support/feed-cards.ts';
import { run, type Seen, stub, temporaryFolder } from '../support/harness.ts';
import { bodyOf, listen, send, signed } from '../support/listening.ts';
import { start } from '../support/processes.ts';
import { inTurn, some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';
import { until } from '../support/until.ts';

const execute = promisify(execFile);
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const exits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
/** All take the same way through the program. */
const signalsInTurn = inTurn(signals);
const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';

function place(env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  writeKeys(folder);
  const addresses = Array.from({ length: 3000 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}\n`);
  writeFileSync(join(folder, 'addresses.txt'), addresses.join(''));
  const follows = addresses.map((each) => `${JSON.stringify({ addressOrUid: 'ext:me', targets: [each.trim()] })}\n`);
  writeFileSync(join(folder, 'follows.ndjson'), follows.join(''));
  const comment = { chain: 'base', tokenAddress: degen, transactionHash: `0x${'1'.repeat(64)}`, commentText: 'gm' };
  writeFileSync(join(folder, 'comments.ndjson'), `${JSON.stringify(comment)}\n`);
  writeFileSync(join(folder, 'secret'), 'whsec_test\n');
  const all = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, ...env };
  const begin = (argv: string) => {
    const one = start(argv.replaceAll('FOLDER', folder).split(' '), all);
    onTestFinished(() => void one.child.kill('SIGKILL'));
    return one;
  };
  return { folder, begin };
}

/** Answers the first requests of a kind and leaves the next without an answer, so that the command is in its middle. */
const hanging = () =>
  stub(({ method, url }: Seen, response, count) => {
    response.setHeader('content-type', 'application/json');
    const webhook = { uid: 'u-1', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' };
    if (url.startsWith('/v1/webhooks') && method === 'GET') return void response.end('[]');
    if (url === '/v1/webhooks/feed' && method === 'POST') return void response.end(JSON.stringify(webhook));
    if (url.startsWith('/v1/feed/actor') && count === 1) {
      const older = `${url}&olderThan=x`;
      const pagination = { olderCursor: 'x', olderItemsURL: older };
      return void response.end(JSON.stringify({ items: [cardOf('n1', 1_700_000_000)], pagination }));
    }
  });

const working: [string, number, string][] = [
  ['webhook register --url http://127.0.0.1:9/hook --file FOLDER/addresses.txt', 3, 'The same command continues'],
  ['follow bulk --file FOLDER/follows.ndjson', 1, ''],
  [`feed actor ${wallet} --all --format csv`, 2, ''],
  ['comment post --file FOLDER/comments.ndjson --key-file FOLDER/evm.hex --service-name Example', 1, 'is not known'],
  ['leaderboard list --retries 5', 1, ''],
];

test.each(
  some(
    working.flatMap((one) => signals.map((signal) => [...one, signal] as const)),
    2,
  ),
)('%s: in its middle (request %i, says %j) %s ends it with its exit code', async (argv, count, says, signal) => {
  const service = await hanging();
  const { begin } = place(service.env);
  const { child, printed, ended } = begin(argv);
  await until(() => service.requests.length >= count, `request ${count} of ${argv}`);
  const from = performance.now();
  child.kill(signal);
  expect(await ended).toBe(exits[signal]);
  expect(performance.now() - from).toBeLessThan(20_000);
  expect(printed.err).toContain('error: ');
  expect(printed.err).toContain(says);
  expect(printed.err).not.toContain('internal error');
});

test.each(signalsInTurn())(
  '%s ends a listener and a sandbox with 0: they were asked to stop, and remove their ready files',
  async (signal) => {
    const { folder, begin } = place();
    const listener = begin('webhook listen --port 0 --secret-file FOLDER/secret --ready-file FOLDER/listening');
    const sandbox = begin('sandbox start --port 0 --empty --ready-file FOLDER/serving');
    await until(() => existsSync(join(folder, 'listening')) && existsSync(join(folder, 'serving')), 'both answer');
    for (const { child, ended } of [listener, sandbox]) {
      child.kill(signal);
      expect(await ended).toBe(0);
    }
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => /listening|serving/.test(name))).toEqual([]);
  },
);

test.each(signals)('%s ends a command with the exit code of shells, in JSON too', async (signal) => {
  const service = await hanging();
  const { child, printed, ended } = place(service.env).begin('leaderboard list --json');
  await until(() => service.requests.length > 0, 'the request');
  child.kill(signal);
  expect(await ended).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
  expect(JSON.parse(printed.err).error).toMatchObject({ code: 'interrupted', exitCode: exits[signal] });
});

test('two signals at once end it just the same', async () => {
  const service = await hanging();
  const { child, ended } = place(service.env).begin('leaderboard list');
  await until(() => service.requests.length > 0, 'the request');
  child.kill('SIGINT');
  child.kill('SIGTERM');
  expect([130, 143]).toContain(await ended);
});

test.each(some(['json', 'table', 'ndjson', 'csv', 'tsv'], 1))(
  '| head -1 of --format %s is quiet and exit 0',
  async (format) => {
    const traders = Array.from({ length: 250 }, (_, index) => ({
      profile: { id: String(index), name: 'x'.repeat(2000), images: {}, addresses: [], metadata: {} },
      pnl: { total: index },
    }));
    const service = await stub((_, response) => response.end(JSON.stringify({ traders })));
    const folder = temporaryFolder();
    const env = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, ...service.env };
    const script = `${process.execPath} bin/sotra.js leaderboard list --limit 250 --format ${format} | head -1; exit \${PIPESTATUS[0]}`;
    const { stdout, stderr } = await execute('bash', ['--norc', '-c', script], { env });
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toBe('');
  },
);

/** Commands that read stdin, and what they are given before the signal: more than a pipe holds, so that they have begun to read it. */
const reading: [string, string][] = [
  ['--sandbox sandbox import - --chain base', `time,trader,token,side,amount,usd\n${'\n'.repeat(2_000_000)}`],
  ['webhook register --url http://127.0.0.1:9/hook --file -', `${degen}\n`.repeat(50_000)],
];

test.each(
  some(
    signals.flatMap((signal) => reading.map(([argv, text]) => [argv, signal, text] as const)),
    2,
  ),
)(
  '%s: in the middle of its stdin %s ends it with its exit code, nothing sent, nothing left',
  async (argv, signal, text) => {
    const service = await stub((_, response) => response.end('[]'));
    const folder = temporaryFolder();
    writeKeys(folder);
    const data = join(folder, 'data');
    const env = { ...service.env, SOTRA_DATA_DIR: data, SOTRA_CONFIG_DIR: join(folder, 'config') };
    const { child, printed, ended } = start(argv.split(' '), env);
    onTestFinished(() => void child.kill('SIGKILL'));
    await new Promise((resolve) => child.stdin.write(text, resolve));
    child.kill(signal);
    expect(await ended).toBe(exits[signal]);
    expect(printed).toMatchObject({ out: '', err: expect.stringContaining('interrupted') });
    expect(printed.err).not.toContain('internal error');
    expect(service.requests).toEqual([]);
    const left = existsSync(data) ? readdirSync(data, { recursive: true, encoding: 'utf8' }) : [];
    expect(left.filter((name) => /stdin-|draft-|tmp$|lock$/.test(name))).toEqual([]);
  },
);

function runPlace(more: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, ...more };
  const begin = (argv: string) => {
    const one = start(argv.replaceAll('FOLDER', folder).split(' '), env);
    onTestFinished(() => void one.child.kill('SIGKILL'));
    return one;
  };
  const act = (argv: string) => run(argv.replaceAll('FOLDER', folder), { env });
  return { folder, begin, act };
}

async function stopSimulation(argv: string, signal: NodeJS.Signals) {
  const { folder, begin, act } = runPlace();
  const trades = async () => JSON.parse((await act('sandbox status --json')).out).trades as number;
  const before = await trades();
  const { child, printed, ended } = begin(`${argv} --json`);
  const db = connect(join(folder, 'sandbox.db'));
  onTestFinished(() => db.close());
  const counting = db.prepare('SELECT count(*) AS n FROM trade');
  const count = () => (counting.get([]) as { n: number }).n;
  await until(
    () => count() >= before + 20,
    () => `trades: ${printed.err}`,
  );
  child.kill(signal);
  const code = await ended;
  const made = JSON.parse(printed.out).trades;
  expect(made).toBeGreaterThanOrEqual(20);
  expect(await trades()).toBe(before + made);
  return code;
}

test.each(signalsInTurn())(
  'sandbox simulate --for: %s before its time ends it with its exit code, and what it made so far is kept',
  async (signal) => {
    expect(await stopSimulation('sandbox simulate --rate 50/s --for 10m', signal)).toBe(exits[signal]);
  },
);

test.each(signalsInTurn())('sandbox simulate without --for: %s ends it with its exit code', async (signal) => {
  expect(await stopSimulation('sandbox simulate --rate 50/s', signal)).toBe(exits[signal]);
});

test.each(signalsInTurn())(
  'webhook events --follow: %s ends it with its exit code, and says how many events it printed',
  async (signal) => {
    const { folder, begin } = runPlace();
    const { url } = await listen(folder);
    const { child, printed, ended } = begin('webhook events --follow');
    // It prints what comes once it has begun.
    for (let sent = 0; printed.out === ''; sent += 1) {
      const body = bodyOf(`event-${sent}`);
      expect(await send(url, body, signed(body))).toBe(200);
    }
    child.kill(signal);
    expect(await ended).toBe(exits[signal]);
    const count = printed.out.trim().split('\n').length;
    expect(printed.err).toBe(`error: interrupted after ${count} event${count === 1 ? '' : 's'}\n`);
  },
);

test.each(signalsInTurn())(
  'sandbox start --detach: %s before it answers ends it with 130, and no server is left',
  async (signal) => {
    const { folder, begin } = runPlace();
    // The server waits for its database, so that it does not answer before the signal comes.
    const holder = connect(join(folder, 'sandbox.db'));
    holder.exec('BEGIN EXCLUSIVE');
    const { child, printed, ended } = begin('sandbox start --detach --port 0 --json');
    await until(() => existsSync(join(folder, 'sandbox.log')), 'the server begins');
    child.kill(signal);
    expect(await ended).toBe(exits[signal]);
    holder.exec('ROLLBACK');
    holder.close();
    expect(printed).toEqual({ out: '', err: expect.stringContaining('interrupted') });
    // What has the log open runs still.
    const open = () =>
      execute('bash', ['--norc', '-c', `ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c '${folder}/' || true`]);
    for (const end = Date.now() + 20_000; Number((await open()).stdout) > 0; )
      if (Date.now() > end) throw new Error('the server runs still');
    expect(existsSync(join(folder, 'sandbox-ready.json'))).toBe(false);
  },
);

test.each(signalsInTurn())(
  'feed actor --watch: %s ends it with its exit code, and says how many cards it printed',
  async (signal) => {
    const cards = [cardOf('n1', 1_700_000_001)];
    const service = await stub((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ items: cards, pagination: {} }));
    });
    const { begin } = runPlace(service.env);
    const { child, printed, ended } = begin(`feed actor ${wallet} --watch 100ms --format ndjson`);
    await until(() => printed.err.includes('Watching for new cards'), 'it watches');
    cards.unshift(cardOf('n2', 1_700_000_002));
    await until(() => printed.out.includes('"n2"'), 'the new card');
    child.kill(signal);
    expect(await ended).toBe(exits[signal]);
    expect(printed.err).toContain('interrupted after 1 card');
  },
);
