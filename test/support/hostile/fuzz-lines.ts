import { expect, onTestFinished } from 'vitest';
import { listChoices } from '../../../src/commands/read-input.ts';
import { anyCharacter, fc } from '../draw.ts';
import { run, stub, temporaryFolder } from '../harness.ts';
import { globalFlags, outlines } from '../outlines.ts';
import { oddWords } from './corpus.ts';

/** They go on until they are told to stop, or start a process of their own. */
const lasting = ['sandbox start', 'sandbox simulate', 'webhook listen', 'webhook replay', 'webhook trigger', 'ui'];
const known = outlines.filter(({ words }) => !lasting.includes(words.join(' ')));
/** Every exit code that the table of the command line has, but 1: that is a fault of ours. */
export const documented = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 124, 130];

const odd = fc.constantFrom(...oddWords);
const valid = fc.constantFrom(
  '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2',
  '11111111-2222-4333-8444-555555555555',
  'ext:user_1',
  'base',
  'solana',
  'open',
  'closed',
  '7d',
  '5',
  '2026-11-01T00:00:00Z',
  `0x${'11'.repeat(32)}`,
  '0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
);
const value = fc.oneof(
  valid,
  odd,
  fc.string({ maxLength: 12 }),
  // An argument can hold anything but a NUL; lone surrogates become U+FFFD on the way.
  fc.string({ unit: anyCharacter, maxLength: 12 }).map((text) => Buffer.from(text.replaceAll('\0', '')).toString()),
);

/** A command with some of its flags and arguments, some of everybody's, and what does not belong there. */
const line = fc.constantFrom(...known).chain(({ words, fields }) => {
  const own = fields.map(({ flag, positional, kind }) => {
    const choices = listChoices({ kind });
    const choice = choices.length > 0 ? fc.oneof(fc.constantFrom(...choices), value) : value;
    if (positional) return choice.map((text) => [text]);
    return kind.type === 'boolean' ? fc.constant([`--${flag}`]) : choice.map((text) => [`--${flag}`, text]);
  });
  const shared = globalFlags
    .filter(({ flag }) => flag !== 'sandbox')
    .map(({ flag, takesValue }) =>
      takesValue ? value.map((text) => [`--${flag}`, text]) : fc.constant([`--${flag}`]),
    );
  const parts = fc.array(fc.oneof(...[...own, ...own, ...shared, value.map((text) => [text])]), { maxLength: 7 });
  return parts.map((chosen) => [...words, ...chosen.flat()]);
});

/** Runs random command lines. Fails with the first that ends in a fault of ours, its seed beside it. */
export async function fuzzLines(options: { numRuns: number; seed?: number }): Promise<void> {
  const service = await stub((_, response) => response.end('{"traders":[],"items":[]}'));
  const [folder, here] = [temporaryFolder(), process.cwd()];
  // Some of the words are taken for files to write.
  process.chdir(temporaryFolder());
  onTestFinished(() => process.chdir(here));
  const env = { ...service.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  await fc.assert(
    fc.asyncProperty(line, async (argv) => {
      const signal = AbortSignal.timeout(3000);
      const { code, out, err } = await run(argv, { env, tty: 80, skipWaits: true, stdin: 'x\n', signal });
      const shown = `${JSON.stringify(argv)} ended with ${code}: ${err.slice(0, 500)}`;
      expect(documented, shown).toContain(code);
      expect(err, shown).not.toMatch(/\n {4}at /);
      // A report of what is wrong is a result, and stands on stdout; else stderr is one error.
      if (code !== 0 && argv.includes('--json')) expect(() => JSON.parse(out === '' ? err : out), shown).not.toThrow();
      expect(out + err, shown).not.toContain('\u001b[31m');
      // JSON is the text as it is; what people read turns no writing around.
      if (!/json/.test(argv.join(' '))) expect(out + err, shown).not.toContain('\u202e');
    }),
    options,
  );
}
