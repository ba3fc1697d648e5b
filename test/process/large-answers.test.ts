import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answering, run, stub } from '../support/harness.ts';
import { pourMegabytes } from '../support/hostile/faults.ts';
import { start } from '../support/processes.ts';
import { long, size, some } from '../support/size.ts';
import { until } from '../support/until.ts';

const webhook = (index: number) => ({
  uid: `w-${index}`,
  destinationUrl: 'http://127.0.0.1:9/a',
  walletAddresses: [`0x${index.toString(16).padStart(40, '0')}`],
  events: [],
});
const many = Array.from({ length: size(4001, 12_001) }, (_, index) => webhook(index));

test.each(some(['table', 'tsv', 'csv', 'json', 'ndjson'], 2))(
  'Ctrl-C ends a long answer in the middle of its %s',
  async (format) => {
    const service = await answering(format === 'json' ? [...many, ...many] : many);
    const stop = new AbortController();
    const onOut = () => stop.abort();
    const { code, out } = await run(`webhook list --format ${format}`, {
      env: service.env,
      signal: stop.signal,
      onOut,
    });
    expect(code).toBe(130);
    expect(out.length).toBeGreaterThan(0);
    expect(out).not.toContain(`w-${many.length - 1}`);
  },
);

test('a long list is whole in every format, with one header and its rows counted through', async () => {
  const rows = many.slice(0, size(1201, many.length));
  const service = await answering(rows);
  const print = async (way: string) => (await run(`webhook list ${way}`, { env: service.env })).out;
  const [csv, ndjson] = [
    (await print('--format csv')).trimEnd().split('\n'),
    (await print('--format ndjson')).trimEnd().split('\n'),
  ];
  expect([csv.length, ndjson.length]).toEqual([rows.length + 1, rows.length]);
  expect(csv.filter((line) => line === csv[0])).toHaveLength(1);
  expect((await print('--format table')).match(/w-\d+/g)).toHaveLength(rows.length);
  const json = await print('--json');
  expect(JSON.parse(json)).toEqual(rows);
  expect(json).toBe(`${JSON.stringify(rows, null, 2)}\n`);
});

/** The largest memory of a process so far, in MB; 0 where it has ended. */
function readPeakMb(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

long('a body of 100 MB is stopped at 64 MB; memory is bounded', async () => {
  let sentMb = 0;
  const { env } = await stub((_, response) => {
    pourMegabytes(response, 100);
    response.on('close', () => {
      sentMb = (response.socket?.bytesWritten ?? 0) / 2 ** 20;
    });
  });
  const { child, printed, ended } = start('request GET /large --json', env);
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, readPeakMb(child.pid));
  }, 20);
  const code = await ended;
  clearInterval(watch);
  expect([code, printed.out, JSON.parse(printed.err).error.code]).toEqual([13, '', 'bad-answer']);
  expect(sentMb).toBeLessThan(80);
  expect(peakMb).toBeLessThan(200);
});

/** Runs a filter on an answer of `{"n": 1}` in a process of its own. */
const filtering = (filter: string, env: Record<string, string>, ...more: string[]) =>
  start(['request', 'GET', '/v1/x', '--jq', filter, ...more], env);

/** Hundredths of a second that a process has spent computing. */
function spent(pid: number): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = after.split(' ').slice(11, 13).map(Number);
  return (user ?? 0) + (system ?? 0);
}

test.skipIf(!existsSync('/proc/self/stat')).each(
  some(
    [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const,
    1,
  ),
)('a filter that never ends: %s ends it with exit %d, and one line says so', async (signal, code) => {
  const service = await answering({ n: 1 });
  const { child, printed, ended } = filtering('def f: f; f', service.env);
  await until(() => service.requests.length > 0, 'the request');
  // Once the answer is there, only the filter takes this long.
  const before = spent(child.pid ?? 0);
  await until(() => spent(child.pid ?? 0) > before + size(20, 60), 'the filter is at work');
  child.kill(signal);
  await until(() => child.exitCode !== null, 'the end');
  expect([await ended, printed]).toEqual([code, { out: '', err: 'error: interrupted\n' }]);
});

long('a filter that takes all its memory is exit 2 with one error, and nothing of its own on stderr', async () => {
  const service = await answering({ n: 1 });
  const { printed, ended } = filtering('[.] | until(false; . + .)', service.env);
  expect([await ended, printed]).toEqual([
    2,
    {
      out: '',
      err: 'error: --jq [.] | until(false; . + .): it ran out of memory or depth\nhint: See what it works on with --json.\n',
    },
  ]);
});

long('what was filtered before one that never ends is out, and the rest of a walk is not asked for', async () => {
  const service = await stub(({ url }, response) => {
    const at = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? 0);
    response.end(JSON.stringify({ items: [{ at }], cursor: String(at + 1) }));
  });
  const filter = 'if .at < 2 then .at else [.] | until(false; . + .) end';
  const { printed, ended } = filtering(filter, service.env, '--paginate', '--format', 'ndjson');
  expect([await ended, printed.out]).toEqual([2, '0\n1\n']);
  expect(JSON.parse(printed.err).error.message).toContain('it ran out of memory or depth');
  expect(service.requests.length).toBeLessThanOrEqual(4);
});
