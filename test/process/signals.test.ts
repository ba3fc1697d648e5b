import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/lib/files/sqlite.ts';
import { cardOf } from '../support/feed-cards.ts';
import { answering, run, stub, temporaryFolder, until } from '../support/harness.ts';
import { start, startShell } from '../support/processes.ts';
import { size, some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';

const exits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const signals = Object.keys(exits) as (keyof typeof exits)[];

/** A folder with files to work on, and a way to start the built program in it; `@/` in a command line is the folder. */
function place(more: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: join(folder, 'data'), SOTRA_CONFIG_DIR: join(folder, 'config'), ...more };
  const addresses = Array.from({ length: 3000 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
  const comment = { chain: 'base', tokenAddress: degen, transactionHash: `0x${'1'.repeat(64)}`, commentText: 'gm' };
  writeKeys(folder);
  writeFileSync(join(folder, 'addresses.txt'), addresses.join('\n'));
  writeFileSync(
    join(folder, 'follows.ndjson'),
    addresses.map((each) => `${JSON.stringify({ addressOrUid: 'ext:me', targets: [each] })}\n`).join(''),
  );
  writeFileSync(join(folder, 'comments.ndjson'), `${JSON.stringify(comment)}\n`);
  writeFileSync(join(folder, 'secret'), 'whsec_test\n');
  const begin = (argv: string) => start(argv.replaceAll('@/', `${folder}/`), env);
  return { folder, env, begin };
}

/** Answers the first requests of a kind and leaves the next without an answer, so that the command is in its middle. */
const hanging = () =>
  stub(({ method, url }, response, count) => {
    response.setHeader('content-type', 'application/json');
    const webhook = { uid: 'u-1', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' };
    if (url.startsWith('/v1/webhooks') && method === 'GET') return void response.end('[]');
    if (url === '/v1/webhooks/feed' && method === 'POST') return void response.end(JSON.stringify(webhook));
    if (url.startsWith('/v1/feed/actor') && count === 1) {
      const pagination = { olderCursor: 'x', olderItemsURL: `${url}&olderThan=x` };
      return void response.end(JSON.stringify({ items: [cardOf('n1', 1_700_000_000)], pagination }));
    }
  });

const working: readonly (readonly [argv: string, requests: number, says: string])[] = [
  ['leaderboard list --retries 5', 1, ''],
  ['webhook register --url http://127.0.0.1:9/hook --file @/addresses.txt', 3, 'The same command continues'],
  ['follow bulk --file @/follows.ndjson', 1, ''],
  [`feed actor ${degen} --all --format csv`, 2, ''],
  ['comment post --file @/comments.ndjson --key-file @/evm.hex --service-name Example', 1, 'is not known'],
];
const cases = working.flatMap((each) => signals.map((signal) => [...each, signal] as const));

// The first three are every signal in the middle of one request.
test.each([...cases.slice(0, 3), ...some(cases.slice(3), 1)])(
  '%s: in its middle (request %i, says %j) %s ends it with its exit code, in JSON too',
  async (argv, count, says, signal) => {
    const service = await hanging();
    const { child, printed, ended } = place(service.env).begin(`${argv}${argv.includes('csv') ? '' : ' --json'}`);
    await until(() => service.requests.length >= count, `request ${count} of ${argv}`);
    child.kill(signal);
    expect(await ended).toBe(exits[signal]);
    expect(printed.err).toContain(says);
    expect(printed.err).not.toContain('internal error');
    if (argv.startsWith('leaderboard'))
      expect(JSON.parse(printed.err).error).toMatchObject({ code: 'interrupted', exitCode: exits[signal] });
  },
);

test.each(some(signals, 1))(
  '%s ends a listener and a sandbox with 0: they were asked to stop, and remove their ready files',
  async (signal) => {
    const { folder, begin } = place();
    const listener = begin('webhook listen --port 0 --secret-file @/secret --ready-file @/listening');
    const sandbox = begin('sandbox start --port 0 --empty --ready-file @/serving');
    await until(() => existsSync(join(folder, 'listening')) && existsSync(join(folder, 'serving')), 'both answer');
    for (const { child, ended } of [listener, sandbox]) {
      child.kill(signal);
      expect(await ended).toBe(0);
    }
    expect(readdirSync(folder).filter((name) => /listening|serving/.test(name))).toEqual([]);
  },
);

test.each(some(['json', 'table', 'ndjson', 'csv', 'tsv'], 1))(
  '| head -1 of --format %s is quiet and exit 0',
  async (format) => {
    const profile = { id: 'x', name: 'x'.repeat(2000), images: {}, addresses: [], metadata: {} };
    const traders = Array.from({ length: 250 }, (_, index) => ({ profile, pnl: { total: index } }));
    const service = await stub((_, response) => response.end(JSON.stringify({ traders })));
    const line = `sotra leaderboard list --limit 250 --format ${format} | head -1; exit \${PIPESTATUS[0]}`;
    const { printed, ended } = startShell(line, place(service.env).env);
    expect([await ended, printed.out.split('\n').length, printed.err]).toEqual([0, 2, '']);
  },
);

/** Commands that read stdin, and what they are given before the signal: more than a pipe holds, so that they have begun to read it. */
const reading = [
  ['webhook register --url http://127.0.0.1:9/hook --file -', `${degen}\n`.repeat(50_000)],
  ['--sandbox sandbox import - --chain base', `time,trader,token,side,amount,usd\n${'\n'.repeat(2_000_000)}`],
] as const;

test.each(
  some(
    signals.flatMap((signal) => reading.map(([argv, text]) => [argv, signal, text] as const)),
    1,
  ),
)('%s: in the middle of its stdin %s ends it with its exit code, nothing sent or left', async (argv, signal, text) => {
  const service = await stub((_, response) => response.end('[]'));
  const { folder, begin } = place(service.env);
  const { child, printed, ended } = begin(argv);
  await new Promise((resolve) => child.stdin.write(text, resolve));
  child.kill(signal);
  expect(await ended).toBe(exits[signal]);
  expect(printed).toMatchObject({ out: '', err: expect.stringContaining('interrupted') });
  expect(printed.err).not.toContain('internal error');
  expect(service.requests).toEqual([]);
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(left.filter((name) => /stdin-|draft-|tmp$|lock$/.test(name))).toEqual([]);
});

test.each(some(['--for 10m', ''], 1))(
  'sandbox simulate %s: a signal ends it with its exit code, and what it made so far is kept',
  async (more) => {
    const { env, begin } = place();
    const trades = async () => JSON.parse((await run('sandbox status --json', { env })).out).trades as number;
    const before = await trades();
    const { child, printed, ended } = begin(`sandbox simulate --rate 50/s ${more} --json`);
    const db = connect(join(env.SOTRA_DATA_DIR, 'sandbox.db'));
    onTestFinished(() => db.close());
    const counting = db.prepare('SELECT count(*) AS n FROM trade');
    await until(() => (counting.get([]) as { n: number }).n >= before + 20, 'trades');
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
    const made = JSON.parse(printed.out).trades;
    expect(made).toBeGreaterThanOrEqual(20);
    expect(await trades()).toBe(before + made);
  },
);

test.each(some(['table', 'tsv', 'csv', 'json', 'ndjson'], 2))(
  'Ctrl-C ends a long answer in the middle of its %s',
  async (format) => {
    const count = format === 'json' ? 8000 : 4000;
    const list = Array.from({ length: count }, (_, index) => ({
      uid: `w-${index}`,
      destinationUrl: 'http://127.0.0.1:9/a',
      walletAddresses: [degen],
      events: [],
    }));
    const { env } = await answering(list);
    const stop = new AbortController();
    const onOut = () => stop.abort();
    const { code, out } = await run(`webhook list --format ${format}`, { env, signal: stop.signal, onOut });
    expect([code, out === '', out.includes(`w-${count - 1}`)]).toEqual([130, false, false]);
  },
);

/** Hundredths of a second that a process has spent computing. */
function spent(pid: number): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = after.split(' ').slice(11, 13).map(Number);
  return (user ?? 0) + (system ?? 0);
}

test.skipIf(!existsSync('/proc/self/stat')).each(some(signals, 1))(
  'a filter that never ends: %s ends it with its exit code, and one line says so',
  async (signal) => {
    const service = await answering({ n: 1 });
    const { child, printed, ended } = start(['request', 'GET', '/v1/x', '--jq', 'def f: f; f'], service.env);
    await until(() => service.requests.length > 0, 'the request');
    // Once the answer is there, only the filter takes this long.
    const before = spent(child.pid ?? 0);
    await until(() => spent(child.pid ?? 0) > before + size(20, 60), 'the filter is at work');
    child.kill(signal);
    expect([await ended, printed]).toEqual([exits[signal], { out: '', err: 'error: interrupted\n' }]);
  },
);
