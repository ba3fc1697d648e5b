import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { checkedLine } from '../../../src/lib/files/log-file.ts';
import { anyCharacter, fc } from '../draw.ts';
import { type Outcome, run, temporaryFolder } from '../harness.ts';
import { oddWords, withoutProgress } from './corpus.ts';
import { documented } from './fuzz-lines.ts';
import { contentsOf, healthyService, makeState, type Target } from './fuzz-targets.ts';
import { harmed } from './harm.ts';

/** Values of variables, as a shell or a CI may set them. They cannot hold a NUL. */
const envValue = fc.oneof(
  fc.constantFrom(...oddWords),
  fc.constantFrom('1', 'own', 'clicker', 'sandbox', 'dumb', 'C', 'truecolor'),
  fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => text.replaceAll(/[\0/\\]/g, '_')),
);
const envName = fc.constantFrom(
  ...[
    'SOTRA_CONTEXT',
    'SOTRA_BASE_URL',
    'SOTRA_API_KEY',
    'COLUMNS',
    'NO_COLOR',
    'FORCE_COLOR',
    'TERM',
    'LANG',
    'LC_ALL',
    'CI',
  ],
  ...[
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'HOME',
    'XDG_CONFIG_HOME',
    'SOTRA_NONSENSE',
  ],
);
const variables = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.dictionary(envName, envValue, { minKeys: 1, maxKeys: 3 }) },
);
const columns = fc.constantFrom(undefined, undefined, 80, 40, 1, 300);

/**
 * Runs commands over random files in the places of those that the program keeps or is given, and random variables; fails with the first
 * that ends in a fault of ours, prints what it should not, or changes a file it should not. `only`: part of the names of the files. Gives
 * how many ran.
 */
export async function fuzzFiles({
  only = '',
  ...options
}: {
  numRuns: number;
  seed?: number;
  only?: string;
}): Promise<number> {
  const service = await healthyService();
  const state = temporaryFolder();
  const targets = (await makeState(state, service)).filter(({ file }) => file.includes(only));
  const valid = contentsOf(state);
  const here = process.cwd();
  process.chdir(temporaryFolder());
  onTestFinished(() => process.chdir(here));
  const one = fc.oneof(...targets.map((target) => ({ weight: target.weight * 5, arbitrary: caseOf(target, valid) })));
  const base = temporaryFolder();
  let runs = 0;
  const property = fc.asyncProperty(one, variables, columns, async ({ target, argv, content }, env, tty) => {
    const folder = mkdtempSync(join(base, 'f'));
    try {
      for (const [name, bytes] of [...valid, [target.file, content] as const]) {
        if (name !== target.file && !(name === 'config.json' && target.weight > 9) && !target.needs?.test(name))
          continue;
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), name === target.file ? content : bytes, { mode: 0o600 });
      }
      const words = argv.replaceAll('FOLDER', folder).replaceAll('SERVICE', service.url);
      const bare = target.file === 'config.json' ? {} : service.env;
      const all = { ...bare, ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
      const signal = argv.includes('listen') ? AbortSignal.timeout(60) : new AbortController().signal;
      const given = { env: all, skipWaits: true, stdin: 'stub-key\n', signal, ...(tty === undefined ? {} : { tty }) };
      const outcome = await run(words, given);
      runs += 1;
      const shown = `${words} with ${target.file} = ${JSON.stringify(content.toString('latin1').slice(0, 1500))}, ended with ${outcome.code}: ${outcome.err.slice(0, 500)}`;
      checkOutput(words, outcome, shown);
      checkFile(target, argv, outcome, content, contentsOf(folder), shown);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  await fc.assert(property, options);
  return runs;
}

interface Case {
  target: Target;
  argv: string;
  content: Buffer;
}

function caseOf(target: Target, valid: ReadonlyMap<string, Buffer>): fc.Arbitrary<Case> {
  const any = harmed(valid.get(target.file) ?? Buffer.from(''));
  // A checksum keeps most harm from what reads the entry behind it.
  const content = target.isLog ? fc.oneof(any, any.map(resealed)) : any;
  return fc.record({
    target: fc.constant(target),
    argv: fc.constantFrom(...target.reads, ...(target.changes ?? [])),
    content,
  });
}

/** The lines that are JSON with checksums that fit. */
function resealed(content: Buffer): Buffer {
  const lines = content.toString('latin1').split('\n');
  const sealed = lines.map((line) => {
    try {
      const { crc: _, ...entry } = JSON.parse(line);
      return checkedLine(entry);
    } catch {
      return line;
    }
  });
  return Buffer.from(sealed.join('\n'), 'latin1');
}

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
  expect(/csv/.test(words) ? out.replaceAll('\r', '') : out, shown).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
  expect(withoutProgress(err), shown).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
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
  const isInput = !mayChange && !target.isLog;
  const now = after.get(target.file);
  // An empty database is whole: whoever opens it makes its tables, also to find nothing in them (exit 5).
  if (target.file.endsWith('.db') && before.length === 0 && (code === 0 || code === 5)) return;
  if (isInput || (!target.isLog && code !== 0 && /config\.json|keys/.test(target.file))) {
    expect(now?.equals(before), `${shown}\nthe file was changed`).toBe(true);
    return;
  }
  if (target.isLog) {
    // A last line without an end was never acknowledged; all others stay, whatever is added.
    const whole = before.subarray(0, before.lastIndexOf(0x0a) + 1);
    const kept = [...after.values()].some((bytes) => bytes.subarray(0, whole.length).equals(whole));
    expect(kept, `${shown}\nlines of the log are gone`).toBe(true);
  }
  if (target.file === 'config.json' && code === 0) checkSettings(argv, before, now, shown);
}

/** A change of one thing leaves all others as they were, also those that this sotra knows nothing of. */
function checkSettings(argv: string, before: Buffer, now: Buffer | undefined, shown: string): void {
  const rest = (bytes: Buffer | undefined) => {
    const {
      version: _,
      current: __,
      aliases = {},
      contexts = {},
      ...others
    } = JSON.parse(bytes === undefined ? '{}' : new TextDecoder().decode(bytes));
    if (/alias/.test(argv)) return { others, contexts, aliases: without(aliases, ['me', 'whale', 'constructor']) };
    return { others, aliases, contexts: without(contexts, ['own', 'new', 'clicker']) };
  };
  expect(JSON.stringify(rest(now)), `${shown}\nthe rest of the settings was changed`).toBe(
    // As text: what is nested deep would take a comparison of objects more stack than there is.
    JSON.stringify(rest(before)),
  );
}

function without(all: Record<string, unknown>, names: readonly string[]): [string, unknown][] {
  return Object.entries(all).filter(([name]) => !names.includes(name));
}
