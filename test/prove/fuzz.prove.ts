import { expect, onTestFinished, test } from 'vitest';
import { listChoices } from '../../src/commands/read-input.ts';
import { anyCharacter, fc, seed } from '../support/draw.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { itemsOf, realAnswers } from '../support/hostile/answers.ts';
import { oddJson, oddKeys, oddWords, rawControl, steering, steers } from '../support/hostile/corpus.ts';
import { globalFlags, outlines } from '../support/outlines.ts';

// FUZZ_RUNS sets the number of runs, FUZZ_SEED repeats a failure.
const runs = (count: number) => Number(process.env['FUZZ_RUNS'] ?? count);

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

const oddText = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...oddJson) }, fc.json({ maxDepth: 2 }));

/** Changes of JSON as text, at a place in it: objects could not have 1e999 or a key given twice. */
const changes: readonly ((head: string, tail: string, odd: string, key: string) => string)[] = [
  (head) => head,
  (head, tail, odd) => head + tail.replace(/:[^,}\]]*/, `:${odd}`),
  (head, tail) => head + tail.replace(/,[^,}\]]*/, ''),
  (head, tail, odd, key) => head + tail.replace('{', () => `{${JSON.stringify(key)}:${odd},`),
  (head, tail, odd) => head + tail.replace(/"[^"\n]*":/, (name) => `${name}${odd},${name}`),
  (head, tail) => `${head}\u0000\ufeff\r\n${tail}`,
  (head, tail) => head + '\u0000'.repeat(tail.length),
];

/** The text of an answer, damaged in a few places, or something else. */
function harmed(text: string): fc.Arbitrary<Buffer> {
  const change = fc.tuple(
    fc.constantFrom(...changes),
    fc.double({ min: 0, max: 1, noNaN: true }),
    oddText,
    fc.constantFrom(...oddKeys),
  );
  const changed = fc.array(change, { minLength: 1, maxLength: 3 }).map((all) =>
    all.reduce((now, [act, place, odd, key]) => {
      const at = Math.floor(place * now.length);
      return act(now.slice(0, at), now.slice(at), odd, key);
    }, text),
  );
  return fc
    .oneof({ weight: 5, arbitrary: changed }, oddText, fc.string({ unit: anyCharacter }))
    .map((odd) => Buffer.from(odd));
}

/** Frames around thousands of one unit, and the units. */
const frames = [
  ['', ''],
  ['"', '"'],
  ['{"error":"', '"}'],
  ['{"items":[', '0]}'],
] as const;
const units = [
  ...['[', '{"a":', '{},', '1e5,', '\\\\', '\\u001b[31m', '"secret":"', 'whsec_12345678 ', '\r\n ', '&#115;'],
  ...['a', '\u0301', '\u{1F468}\u200d', '日', '\x9b', '%25', '{"id":1,"chain":"base"},'],
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
      const all = Array.from({ length: times }, () => two).flat();
      return { argv: list.argv, value: list.key === undefined ? all : { ...(list.value as object), [list.key]: all } };
    });
    const nearly = [...made, ...records].map(({ argv, value }) =>
      fc.record({ argv: fc.constant(argv), content: harmed(JSON.stringify(value)) }),
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
