import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  answering,
  failure,
  newUser,
  type Outcome,
  type RunOptions,
  run,
  stub,
  temporaryFolder,
} from '../support/harness.ts';
import { serviceCommands } from '../support/hostile/faults.ts';
import { exampleStdin, outlines } from '../support/outlines.ts';
import { some } from '../support/size.ts';

/** stdout is empty or one JSON text; with an error it is empty and stderr is that error and nothing else. */
function holds({ out, err, code }: Outcome): { exitCode: number; code: string } {
  if (code === 0) {
    if (out !== '') JSON.parse(out);
    return { exitCode: 0, code: '' };
  }
  expect(out).toBe('');
  const { error, ...others } = JSON.parse(err);
  expect(others).toEqual({});
  const keys = Object.keys(error).filter((key) => key !== 'details');
  expect(keys).toEqual(['code', 'message', 'hint', 'status', 'exitCode', 'requestId']);
  expect(error.exitCode).toBe(code);
  return error;
}

async function failing(name: string, argv: readonly string[], options: RunOptions) {
  const outcome = await run(argv, options);
  try {
    return holds(outcome);
  } catch (cause) {
    throw new Error(`${name}: ${outcome.code}\n${outcome.out.slice(0, 300)}\n${outcome.err.slice(0, 600)}`, { cause });
  }
}

test('a notice that is pending gives way to the error: deprecation, a shape that does not fit', async () => {
  const gone = await stub((_, response) => response.writeHead(404).end('{"error":"gone"}'));
  const argv = ['leaderboard', 'sections', '--sections', 'chain-solana', '--json', '--retries', '0'];
  expect((await failing('sections', argv, { env: gone.env })).exitCode).toBe(5);
  const odd = await stub((_, response) => response.end('{"traders":[{"pnl":"much"}]}'));
  const strict = await failing('strict', ['leaderboard', 'list', '--json', '--strict'], { env: odd.env });
  expect(strict).toMatchObject({ exitCode: 13, code: 'contract' });
});

test('without a service, without a key, refused, interrupted: one error for every command of the service', async () => {
  for (const { name, argv, stdin } of some(serviceCommands, 12)) {
    const own = { stdin, skipWaits: true };
    const line = [...argv, '--json', '--retries', '0'];
    const env = { SOTRA_BASE_URL: 'http://127.0.0.1:9' };
    const keyed = { ...env, SOTRA_API_KEY: 'key' };
    const codes = [];
    for (const more of [{}, { env }, { env: keyed }, { env: keyed, signal: AbortSignal.abort() }])
      codes.push((await failing(name, line, { ...own, ...more })).exitCode);
    // The interface document lets anybody ask for this one.
    const keyless = name === 'leaderboard sections' ? 9 : 4;
    expect([name, codes]).toEqual([name, [2, keyless, 9, 130]]);
  }
});

test('wrong use and damaged settings: one error for every command there is', async () => {
  const { env, file } = newUser();
  writeFileSync(file, '{"contexts": [');
  for (const { words } of some(outlines, 40)) {
    const name = words.join(' ');
    // Help is given whatever else is typed.
    if (name !== 'help')
      expect((await failing(name, [...words, '--no-such-flag', '--json'], { env })).exitCode).toBe(2);
    // Those that go on until they are told to stop are told so at once.
    const stopped = ['sandbox start', 'sandbox simulate', 'webhook listen'].includes(name);
    const signal = stopped ? { signal: AbortSignal.abort() } : {};
    const outcome = await run([...words, '--json', '--no-input'], { env, ...signal });
    // They ask of a served sandbox, and of what failed before: there is neither.
    const isMissing = ['sandbox log', 'sandbox stop', 'why', 'history show', 'history run'].includes(name);
    // It reports what is wrong as its result.
    if (name === 'doctor') expect(JSON.parse(outcome.out)).toMatchObject({ ok: false });
    // It reports what it made before it was stopped.
    else if (name === 'sandbox simulate')
      expect([outcome.code, JSON.parse(outcome.out)]).toMatchObject([130, { trades: 0 }]);
    else
      expect([name, [0, 2, 3, ...(isMissing ? [5] : []), 130]]).toEqual([
        name,
        expect.arrayContaining([holds(outcome).exitCode]),
      ]);
  }
});

test('done: stdout of every command of the service is JSON that parses', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  for (const { words, examples } of outlines.filter(({ endpoint }) => endpoint !== undefined)) {
    // --curl asks for a line of curl, whatever else is asked; no key is stored here.
    for (const { argv } of examples.filter((example) => !/ --(?:curl|key )/.test(example.argv))) {
      const shown = argv.includes('--json') ? argv : `${argv.replace(/ --format \w+/, '')} --json`;
      const { code, out } = await run(shown, { env, stdin: exampleStdin });
      expect([words.join(' '), code]).toEqual([words.join(' '), 0]);
      expect(() => JSON.parse(out)).not.toThrow();
    }
  }
});

test('JSON mode is set by a flag, not by a text that names one', async () => {
  const post = ['comment', 'post', '--token', 'nowhere:1', '--text'];
  const spoken = await run([...post, 'see --format json'], {});
  expect(spoken).toMatchObject({ code: 2, err: expect.stringMatching(/^error: /) });
  for (const flags of [['--json'], ['--format=json'], ['--format', 'ndjson']]) {
    const asked = await run([...post, 'gm', ...flags], {});
    expect(JSON.parse(asked.err).error).toMatchObject({ exitCode: 2 });
  }
});

const board = '{"traders":[{"n":"ana","id":12345678901234567890},{"n":"bo","id":1.0}],"note":"two\\nlines"}';

test('--jq prints strings without quotes and everything else as JSON, numbers as they came', async () => {
  const service = await answering(board);
  const print = async (filter: string, options: RunOptions = {}) =>
    (await run(['request', 'GET', '/v1/x', '--jq', filter], { env: service.env, ...options })).out;
  const filter = '.traders[].n, .traders[].id, .traders[1], .note, "", null, false, "-", (.traders | map(.n) | @csv)';
  expect(await print(filter)).toBe(
    'ana\nbo\n12345678901234567890\n1.0\n{"n":"bo","id":1.0}\ntwo\nlines\n\nnull\nfalse\n-\n"ana","bo"\n',
  );
  expect(await print('.traders[1]', { tty: 80 })).toBe('{\n  "n": "bo",\n  "id": 1.0\n}\n');
  expect(await print('empty')).toBe('');
});

test('half of a surrogate pair in a text does not keep --jq from the rest', async () => {
  const service = await answering(String.raw`{"a":"\ud83d\ude00 \ud800x \udc00","b":"\\ud800","c":"\u0041"}`);
  const { out } = await run(['request', 'GET', '/v1/x', '--jq', '.a, .b, .c'], { env: service.env });
  expect(out).toBe('\u{1f600} \ufffdx \ufffd\n\\ud800\nA\n');
});

test('--jq works on any command and its JSON, not on its table', async () => {
  const argv = ['--sandbox', 'leaderboard', 'list', '--limit', '2', '--jq', '.traders | length'];
  expect((await run(argv, { tty: 100 })).out).toBe('2\n');
});

test.each([
  ['.traders[', 'unexpected end of file'],
  ['$x', '$x is not defined'],
])('a wrong filter %s is exit 2 before anything is sent', async (filter, message) => {
  const service = await answering(board);
  expect(await run(['request', 'GET', '/v1/x', '--jq', filter], { env: service.env })).toEqual(failure(2, message));
  expect(service.requests).toEqual([]);
});

test('a filter that does not suit the answer is exit 2, prints nothing, and says why', async () => {
  const service = await answering(board);
  const wrong = await run(['request', 'GET', '/v1/x', '--jq', '.note, .note.deep'], { env: service.env });
  expect(wrong).toEqual(failure(2, 'Cannot index string with string'));
});

test('--jq sees all items of a walk as one list, and with --format ndjson each item as it comes', async () => {
  const service = await stub(({ url }, response) => {
    const at = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? 0);
    response.end(JSON.stringify({ items: [{ at }, { at }], cursor: at < 1 ? '1' : null }));
  });
  const print = async (flags: string) => (await run(`request GET /v1/x --paginate ${flags}`, { env: service.env })).out;
  expect(await print('--jq length')).toBe('4\n');
  expect(await print('--format ndjson --jq .at')).toBe('0\n0\n1\n1\n');
});

test.each(['--format csv', '--format table', '--columns rank'])('--jq cannot be used with %s', async (flags) => {
  const { code, err } = await run(`--sandbox leaderboard list --jq .traders ${flags}`);
  expect([code, err]).toEqual([2, expect.stringMatching(/^error: option '--(jq|columns) <\S+>' cannot be used with/)]);
});

test('the filter does not see the environment of the process', async () => {
  const service = await answering({});
  const env = { ...service.env, SOTRA_SECRET_THING: 'hidden-value' };
  const { out } = await run(['request', 'GET', '/v1/x', '--jq', 'env, $ENV'], { env });
  expect(out).not.toMatch(/hidden-value|stub-key/);
});
