import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listChoices } from '../../src/commands/read-input.ts';
import { anyCharacter, fc, seed } from '../support/draw.ts';
import { contentsOf } from '../support/files.ts';
import { answering, type Outcome, run, stub, temporaryFolder } from '../support/harness.ts';
import { itemsOf, realAnswers } from '../support/hostile/answers.ts';
import { oddWords, rawControl, steering, steers, withoutProgress } from '../support/hostile/corpus.ts';
import { harmed } from '../support/hostile/harm.ts';
import { healthyService, makeState, type Target } from '../support/hostile/state.ts';
import { globalFlags, outlines } from '../support/outlines.ts';

// FUZZ_RUNS sets the number of runs, FUZZ_SEED repeats a failure; FUZZ_FILE=config.json damages only files with that in their names.
const runs = (count: number) => Number(process.env['FUZZ_RUNS'] ?? count);
const only = process.env['FUZZ_FILE'] ?? '';

/** Every documented exit code except 1, an internal error. */
const documented = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 124, 130];

/** Runs in a folder of its own: some of the words are taken for files to write. */
function moveAway(): void {
  const here = process.cwd();
  process.chdir(temporaryFolder());
  onTestFinished(() => process.chdir(here));
}

/** Commands that run until they are stopped, or start a process of their own. */
const lasting = ['sandbox start', 'sandbox simulate', 'webhook listen', 'webhook replay', 'webhook trigger', 'ui'];
const known = outlines.filter(({ words }) => !lasting.includes(words.join(' ')));

const right = [
  '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2',
  '11111111-2222-4333-8444-555555555555',
  'ext:user_1',
  'base',
  'open',
  '7d',
  '5',
  '2026-11-01T00:00:00Z',
  `0x${'11'.repeat(32)}`,
];
const word = fc.oneof(
  fc.constantFrom(...right),
  fc.constantFrom(...oddWords),
  // An argument can hold anything but a NUL; lone surrogates become U+FFFD on the way.
  fc.string({ unit: anyCharacter, maxLength: 12 }).map((text) => Buffer.from(text.replaceAll('\0', '')).toString()),
);

/** A command with some of its flags and arguments, some global flags, and odd words. */
const line = fc.constantFrom(...known).chain(({ words, fields }) => {
  const own = fields.map(({ flag, positional, kind }) => {
    const choices = listChoices({ kind });
    const value = choices.length > 0 ? fc.oneof(fc.constantFrom(...choices), word) : word;
    if (positional) return value.map((text) => [text]);
    return kind.type === 'boolean' ? fc.constant([`--${flag}`]) : value.map((text) => [`--${flag}`, text]);
  });
  const shared = globalFlags
    .filter(({ flag }) => flag !== 'sandbox')
    .map(({ flag, takesValue }) => (takesValue ? word.map((text) => [`--${flag}`, text]) : fc.constant([`--${flag}`])));
  const parts = fc.array(
    fc.oneof(
      ...own,
      ...own,
      ...shared,
      word.map((text) => [text]),
    ),
    { maxLength: 7 },
  );
  return parts.map((chosen) => [...words, ...chosen.flat()]);
});

test('no command line ends in an internal error, and --json prints JSON', async () => {
  const service = await answering({ traders: [], items: [] });
  const folder = temporaryFolder();
  moveAway();
  const env = { ...service.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const property = fc.asyncProperty(line, async (argv) => {
    const signal = AbortSignal.timeout(3000);
    const { code, out, err } = await run(argv, { env, tty: 80, skipWaits: true, stdin: 'x\n', signal });
    const shown = `${JSON.stringify(argv)} ended with ${code}: ${err.slice(0, 500)}`;
    expect(documented, shown).toContain(code);
    expect(err, shown).not.toMatch(/\n {4}at /);
    // A report of what is wrong is a result, and on stdout; else stderr is one error.
    if (code !== 0 && argv.includes('--json')) expect(() => JSON.parse(out === '' ? err : out), shown).not.toThrow();
    expect(out + err, shown).not.toContain('\u001b[31m');
    // JSON has the text unchanged; output for people has no character that changes direction.
    if (!/json/.test(argv.join(' '))) expect(out + err, shown).not.toContain('\u202e');
  });
  await fc.assert(property, { numRuns: runs(10_000), seed });
});

const formats = ['', '--json', '--format ndjson', '--format table', '--format csv', '--format tsv', '--chart'];
const more = ['--strict', '--all --json', '--jq .', '--verbose'];

/** Frames around thousands of one unit, and the units. */
const frames = [
  ['', ''],
  ['[', '0]'],
  ['"', '"'],
  ['{"error":"', '"}'],
  ['{"items":[', '0]}'],
] as const;
const units = [
  ...['[', '{"a":', '{},', '0,', '1e5,', '\\\\', '\\"', '\\u200b', '\\u001b[31m', '"secret":"', 'whsec_12345678 '],
  ...['a', ' ', '\u0301', '\u200d', '\u{1F468}\u200d', '日', '\x9b', '&amp;', '%25', '{"id":1,"chain":"base"},'],
];

test.each([
  ['short', runs(3000), 0],
  ['long', runs(150), 30_000],
  ['very long', runs(20), 1_000_000],
])(
  'whatever the service answers, %s, is shown or reported in time, and steers no terminal',
  async (_, numRuns, bytes) => {
    const { lists, records } = await realAnswers();
    const made = lists.map((list) => {
      const two = itemsOf(list).slice(0, 2);
      const times = Math.max(1, Math.ceil(bytes / JSON.stringify(two).length));
      const items = Array.from({ length: times }, () => two).flat();
      return {
        argv: list.argv,
        value: list.key === undefined ? items : { ...(list.value as object), [list.key]: items },
      };
    });
    const nearly = [...made, ...records].map(({ argv, value }) =>
      fc.record({ argv: fc.constant(argv), content: harmed(Buffer.from(JSON.stringify(value))) }),
    );
    const many = fc
      .tuple(
        fc.constantFrom(...[...made, ...records].map(({ argv }) => argv)),
        fc.constantFrom(...frames),
        fc.constantFrom(...units),
      )
      .map(([argv, [head, tail], unit]) => ({
        argv,
        content: Buffer.from(head + unit.repeat(Math.ceil(bytes / unit.length)) + tail),
      }));
    let reply: { status: number; body: Buffer } = { status: 200, body: Buffer.from('') };
    const { env } = await stub((_, response) => {
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body);
    });
    const folder = temporaryFolder();
    const all = { ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
    const property = fc.asyncProperty(
      fc.oneof(...nearly, { arbitrary: many, weight: nearly.length }),
      fc.constantFrom(...formats, ...more),
      fc.constantFrom(undefined, 40, 80, 200),
      fc.constantFrom(200, 200, 200, 400, 404, 500),
      async ({ argv, content }, format, tty, status) => {
        reply = { status, body: content };
        const words = `${argv} ${format}`;
        const signal = AbortSignal.timeout(60_000);
        const startedCpu = process.cpuUsage();
        const { code, out, err } = await run(words, { env: all, skipWaits: true, signal, ...(tty && { tty }) });
        const shown = `${words} of ${JSON.stringify(content.toString('latin1').slice(0, 3000))} ended with ${code}: ${err.slice(0, 500)}`;
        expect(process.cpuUsage(startedCpu).user / 1e6, shown).toBeLessThan(10);
        // Flags that a command does not have, and answers that are no JSON or far from the contract, are reported.
        expect([0, 2, 9, 13, ...(status === 200 ? [] : [4, 5, 6, 7, 8])], shown).toContain(code);
        expect(err, shown).not.toMatch(/internal error|\n {4}at /);
        expect(steering(err), shown).toBe(undefined);
        const parts = format === '--format ndjson' ? out.split('\n') : [out];
        if (/json/.test(format) && code === 0)
          for (const part of parts) if (part !== '') expect(() => JSON.parse(part), shown).not.toThrow();
        if (!/json|csv|jq/.test(format)) expect(steers.exec(out.replaceAll('\t', ' '))?.[0], shown).toBe(undefined);
        expect(out, shown).not.toMatch(rawControl);
      },
    );
    await fc.assert(property, { numRuns, seed });
  },
);

/** Variables as a shell or a CI may set them. They cannot hold a NUL. */
const variables = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        ...['SOTRA_CONTEXT', 'SOTRA_BASE_URL', 'SOTRA_API_KEY', 'SOTRA_NONSENSE', 'COLUMNS', 'NO_COLOR', 'FORCE_COLOR'],
        ...['TERM', 'LANG', 'CI', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'HOME', 'XDG_CONFIG_HOME'],
      ),
      fc.oneof(
        fc.constantFrom(...oddWords, '1', 'own', 'clicker', 'sandbox', 'dumb', 'truecolor'),
        fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => text.replaceAll(/[\0/\\]/g, '_')),
      ),
      { minKeys: 1, maxKeys: 3 },
    ),
  },
);

function caseOf(target: Target, valid: ReadonlyMap<string, Buffer>) {
  return fc.record({
    target: fc.constant(target),
    argv: fc.constantFrom(...target.reads, ...(target.changes ?? [])),
    content: harmed(valid.get(target.file) ?? Buffer.from('')),
  });
}

test('whatever is in its files and variables, a command reports it and changes nothing', async () => {
  const service = await healthyService();
  const state = temporaryFolder();
  const targets = (await makeState(state, service)).filter(({ file }) => file.includes(only));
  const valid = contentsOf(state);
  moveAway();
  const base = temporaryFolder();
  const one = fc.oneof(...targets.map((target) => ({ weight: target.weight ?? 1, arbitrary: caseOf(target, valid) })));
  const columns = fc.constantFrom(undefined, undefined, 80, 40, 1, 300);
  const property = fc.asyncProperty(one, variables, columns, async ({ target, argv, content }, env, tty) => {
    const folder = mkdtempSync(join(base, 'f'));
    const isSettings = target.file === 'config.json';
    for (const [name, bytes] of valid) {
      if (name !== target.file && !target.needs?.test(name)) continue;
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), name === target.file ? content : bytes, { mode: 0o600 });
    }
    const words = argv.replaceAll('FOLDER', folder).replaceAll('SERVICE', service.url);
    const own = { ...(isSettings ? {} : service.env), ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
    const signal = argv.includes('listen') ? AbortSignal.timeout(60) : new AbortController().signal;
    const given = { env: own, skipWaits: true, stdin: 'stub-key\n', signal, ...(tty && { tty }) };
    const outcome = await run(words, given);
    const shown = `${words} with ${target.file} = ${JSON.stringify(content.toString('latin1').slice(0, 1500))}, ended with ${outcome.code}: ${outcome.err.slice(0, 500)}`;
    checkOutput(words, outcome, shown);
    checkFile(target, argv, outcome, content, contentsOf(folder), shown);
    rmSync(folder, { recursive: true, force: true });
  });
  await fc.assert(property, { numRuns: runs(10_000), seed });
});

function checkOutput(words: string, { code, out, err }: Outcome, shown: string): void {
  expect(documented, shown).toContain(code);
  expect(err, shown).not.toMatch(/\n {4}at /);
  // The service answers as it should: what is wrong is the file.
  expect(err, shown).not.toContain('the answer is not of the shape');
  if (/--json/.test(words)) {
    const isStream = /comment (?:sign|post) --file /.test(words);
    const parts = isStream ? out.split(/\n(?=\{)/) : [out];
    for (const part of parts) if (part !== '') expect(() => JSON.parse(part), shown).not.toThrow();
    if (code !== 0 && out === '' && !isStream)
      expect(() => JSON.parse(err.trimEnd().split('\n').at(-1) ?? ''), shown).not.toThrow();
  } else if (!/csv|export|completion/.test(words)) expect(out, shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
  // A return in a cell of csv is data.
  expect(/csv/.test(words) ? out.replaceAll('\r', '') : out, shown).not.toMatch(rawControl);
  expect(withoutProgress(err), shown).not.toMatch(rawControl);
}

function checkFile(
  target: Target,
  argv: string,
  { code }: Outcome,
  before: Buffer,
  after: Map<string, Buffer>,
  shown: string,
): void {
  const mayChange = target.changes?.includes(argv) === true;
  const now = after.get(target.file);
  // An empty database is valid: opening it makes its tables, also if nothing is found in them (exit 5).
  if (target.file.endsWith('.db') && before.length === 0 && (code === 0 || code === 5)) return;
  if (!mayChange || (code !== 0 && /config\.json|keys/.test(target.file)))
    expect(now?.equals(before), `${shown}\nthe file was changed`).toBe(true);
  else if (target.file === 'config.json' && code === 0)
    expect(restOf(argv, now), `${shown}\nthe rest of the settings was changed`).toBe(restOf(argv, before));
}

/** The settings that a change of one alias or context keeps, as text: to compare deeply nested objects would take too much stack. */
function restOf(argv: string, bytes: Buffer | undefined): string {
  const text = bytes === undefined ? '{}' : new TextDecoder().decode(bytes);
  const { version: _, current: __, aliases = {}, contexts = {}, ...others } = JSON.parse(text);
  const without = (all: object, names: readonly string[]) =>
    Object.entries(all).filter(([name]) => !names.includes(name));
  if (argv.includes('alias'))
    return JSON.stringify([others, contexts, without(aliases, ['me', 'whale', 'constructor'])]);
  return JSON.stringify([others, aliases, without(contexts, ['own', 'new', 'clicker'])]);
}
