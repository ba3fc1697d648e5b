import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answering, stub } from '../support/harness.ts';
import { start } from '../support/processes.ts';
import { long, size, some } from '../support/size.ts';
import { until } from '../support/until.ts';

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
