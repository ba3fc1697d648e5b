import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { compileFilter } from '../../src/lib/output/jq.ts';
import { answering, run, stub } from '../support/harness.ts';

const board = '{"traders":[{"n":"ana","id":12345678901234567890},{"n":"bo","id":1.0}],"note":"two\\nlines"}';

test('--jq prints strings without quotes and everything else as JSON, numbers as they came', async () => {
  const service = await answering(board);
  const print = async (filter: string, tty?: number) => {
    const { out, code } = await run(['request', 'GET', '/v1/x', '--jq', filter], {
      env: service.env,
      ...(tty === undefined ? {} : { tty }),
    });
    return [code, out];
  };
  expect(
    await print('.traders[].n, .traders[].id, .traders[1], .note, "", null, false, "-", (.traders | map(.n) | @csv)'),
  ).toEqual([0, 'ana\nbo\n12345678901234567890\n1.0\n{"n":"bo","id":1.0}\ntwo\nlines\n\nnull\nfalse\n-\n"ana","bo"\n']);
  expect(await print('.traders[1]', 80)).toEqual([0, '{\n  "n": "bo",\n  "id": 1.0\n}\n']);
  expect(await print('empty')).toEqual([0, '']);
});

test('--jq works on any command and its JSON, not on its table', async () => {
  const argv = ['--sandbox', 'leaderboard', 'list', '--limit', '2', '--jq', '.traders | length'];
  expect(await run(argv, { tty: 100 })).toMatchObject({ code: 0, out: '2\n' });
});

test.each([
  ['.traders[', 'unexpected end of file'],
  ['$x', '$x is not defined'],
])('a wrong filter %s is exit 2 before anything is sent', async (filter, message) => {
  const service = await answering(board);
  const { code, out, err } = await run(['request', 'GET', '/v1/x', '--jq', filter], { env: service.env });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(message);
  expect(service.requests).toEqual([]);
});

test('a filter that does not suit the answer is exit 2, prints nothing, and says why', async () => {
  const service = await answering(board);
  const { code, out, err } = await run(['request', 'GET', '/v1/x', '--jq', '.note, .note.deep'], { env: service.env });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('Cannot index string with string');
});

test('control characters in strings do not reach the output', async () => {
  const service = await answering({ s: 'a\u001b[31mb\u0007\u009bc', t: ['\u007f'] });
  const { out } = await run(['request', 'GET', '/v1/x', '--jq', '.s, .t'], { env: service.env });
  expect(out).toBe('ab\n["\\u007f"]\n');
});

test('of the numbers of a walk --jq keeps what a double holds', async () => {
  const service = await answering('{"items":[{"id":9007199254740991},{"id":1.0}],"cursor":null}');
  const address = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  for (const flags of [[], ['--format', 'ndjson']]) {
    const filter = flags.length === 0 ? '.[].id' : '.id';
    const argv = ['profile', 'followers', address, '--all', '--quiet', '--jq', filter, ...flags];
    expect((await run(argv, { env: service.env })).out).toBe('9007199254740991\n1\n');
  }
});

test('--jq sees all items of a walk as one list, and with --format ndjson each item as it comes', async () => {
  const service = await stub(({ url }, response) => {
    const at = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? 0);
    response.end(JSON.stringify({ items: [{ at }, { at }], cursor: at < 1 ? '1' : null }));
  });
  const whole = await run(['request', 'GET', '/v1/x', '--paginate', '--jq', 'length'], { env: service.env });
  expect(whole.out).toBe('4\n');
  const each = await run(['request', 'GET', '/v1/x', '--paginate', '--format', 'ndjson', '--jq', '.at'], {
    env: service.env,
  });
  expect(each.out).toBe('0\n0\n1\n1\n');
});

test.each([['--format csv'], ['--format table'], ['--columns rank']])(
  '--jq with %s is a contradiction',
  async (flags) => {
    const { code, err } = await run(`--sandbox leaderboard list --jq .traders ${flags}`);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: option '--(jq|columns) <\S+>' cannot be used with option/);
  },
);

test('the filter does not see the environment of the process', async () => {
  const service = await answering({});
  const env = { ...service.env, SOTRA_SECRET_THING: 'hidden-value' };
  const { out } = await run(['request', 'GET', '/v1/x', '--jq', 'env, $ENV'], { env });
  expect(out).not.toContain('hidden-value');
  expect(out).not.toContain('stub-key');
});

test('a signal while the filter is still being read leaves no thread behind', async () => {
  const stop = new AbortController();
  const thread = new Worker(new URL('../../dist/jq-thread.cjs', import.meta.url));
  const gone = once(thread, 'exit');
  const startThread = async () => {
    setImmediate(() => stop.abort());
    return thread;
  };
  await expect(compileFilter('.', { startThread, signal: stop.signal })).rejects.toThrow('aborted');
  await gone;
});

test.each([1, 60])(
  'a signal %d ms after the start is an interruption, whether or not the filter is read',
  async (ms) => {
    const service = await stub(() => undefined);
    const argv = 'request GET /v1/x --jq .';
    const { code, out, err } = await run(argv, { env: service.env, signal: AbortSignal.timeout(ms) });
    expect({ code, out, err }).toEqual({ code: 130, out: '', err: 'error: interrupted\n' });
  },
);
