import { expect } from 'vitest';
import { fc } from './draw.ts';
import { harmed } from './harm.ts';
import { run, stub, temporaryFolder } from './harness.ts';
import { steers } from './naughty.ts';
import { itemsOf, realAnswers } from './naughty-answers.ts';

const formats = [
  '',
  '--json',
  '--format ndjson',
  '--format table',
  '--format csv',
  '--format md',
  '--format tsv',
  '--plain',
  '--chart',
  '--strict',
  '--all --json',
  '--jq .',
  '--verbose',
];
const widths = fc.constantFrom(undefined, 40, 80, 200);

/**
 * Shows random answers of the service in random formats, nearly right ones most; fails with the first that ends in a fault of ours or steers
 * the terminal.
 */
export async function fuzzAnswers(options: { numRuns: number; seed?: number }): Promise<void> {
  const { lists, records } = await realAnswers();
  const short = lists.map((list) => {
    const items = itemsOf(list).slice(0, 2);
    return {
      argv: list.argv,
      value: list.key === undefined ? items : { ...(list.value as object), [list.key]: items },
    };
  });
  let body: Buffer = Buffer.from('');
  const { env } = await stub((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(body);
  });
  const folder = temporaryFolder();
  const all = { ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const one = fc.oneof(
    ...[...short, ...records].map(({ argv, value }) =>
      fc.record({ argv: fc.constant(argv), content: harmed(Buffer.from(JSON.stringify(value))) }),
    ),
  );
  const property = fc.asyncProperty(
    one,
    fc.constantFrom(...formats),
    widths,
    async ({ argv, content }, format, tty) => {
      body = content;
      const words = `${argv} ${format}`;
      const signal = AbortSignal.timeout(5000);
      const { code, out, err } = await run(words, {
        env: all,
        hurry: true,
        signal,
        ...(tty === undefined ? {} : { tty }),
      });
      const shown = `${words} of ${JSON.stringify(content.toString('latin1').slice(0, 3000))} ended with ${code}: ${err.slice(0, 500)}`;
      // Flags that a command does not have, and answers that are no JSON or far from the contract, are told.
      expect([0, 2, 9, 13], shown).toContain(code);
      expect(err, shown).not.toMatch(/internal fault|\n {4}at /);
      expect(steers.exec(err)?.[0], shown).toBe(undefined);
      if (/json/.test(format) && code === 0)
        for (const part of partsOf(out, format)) expect(() => JSON.parse(part), shown).not.toThrow();
      if (!/json|csv|jq/.test(format)) expect(steers.exec(out.replaceAll('\t', ' '))?.[0], shown).toBe(undefined);
      expect(out, shown).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/);
    },
  );
  await fc.assert(property, options);
}

function partsOf(out: string, format: string): string[] {
  return format === '--format ndjson'
    ? out
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
    : out === ''
      ? []
      : [out];
}
