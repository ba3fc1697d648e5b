import { expect, test } from 'vitest';
import { chooseSeed, fc, randomSeed } from '../support/draw.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { itemsOf, realAnswers } from '../support/hostile/answers.ts';
import { attackListener } from '../support/hostile/attack.ts';
import { steers } from '../support/hostile/corpus.ts';
import { fuzzDeliveries } from '../support/hostile/deliveries.ts';
import { fuzzFiles } from '../support/hostile/fuzz-files.ts';
import { fuzzLines } from '../support/hostile/fuzz-lines.ts';
import { harmed } from '../support/hostile/harm.ts';
import { size } from '../support/size.ts';

// FUZZ_RUNS changes how many, FUZZ_SEED begins where a failure was; FUZZ_FILE=config.json harms only the files with that in their names.
const runs = (count: number) => Number(process.env['FUZZ_RUNS'] ?? count);
const seed = chooseSeed(size(1, randomSeed()));
const only = process.env['FUZZ_FILE'] ?? '';

test('no command line ends in a fault of ours, and JSON mode keeps its word', async () => {
  await fuzzLines({ numRuns: runs(size(80, 10_000)), seed });
});

test('whatever stands in the files it reads and in its variables, it says so and changes nothing', async () => {
  const numRuns = runs(size(50, 10_000));
  expect(await fuzzFiles({ numRuns, seed, only })).toBe(numRuns);
});

const formats = [
  '',
  '--json',
  '--format ndjson',
  '--format table',
  '--format csv',
  '--format tsv',
  '--chart',
  '--strict',
  '--all --json',
  '--jq .',
  '--verbose',
];
const widths = fc.constantFrom(undefined, 40, 80, 200);

/**
 * Shows random answers of the service in random formats, nearly right ones most; fails with the first that ends in a fault of ours or steers
 * the terminal. With `bytes` they are about that long, and some are errors or one thing by the thousand.
 */
async function fuzzAnswers({ bytes, ...options }: { numRuns: number; seed?: number; bytes?: number }): Promise<void> {
  const { lists, records } = await realAnswers();
  const short = lists.map((list) => {
    const two = itemsOf(list).slice(0, 2);
    const items = bytes === undefined ? two : filled(two, bytes);
    return {
      argv: list.argv,
      value: list.key === undefined ? items : { ...(list.value as object), [list.key]: items },
    };
  });
  let body: Buffer = Buffer.from('');
  let status = 200;
  const { env } = await stub((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body);
  });
  const folder = temporaryFolder();
  const all = { ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const known = [...short, ...records].map(({ argv, value }) =>
    fc.record({ argv: fc.constant(argv), content: harmed(Buffer.from(JSON.stringify(value))) }),
  );
  const lines = [...short, ...records].map(({ argv }) => argv);
  const many = fc
    .record({ argv: fc.constantFrom(...lines), around: fc.constantFrom(...frames), unit: fc.constantFrom(...units) })
    .map(({ argv, around: [head, tail], unit }) => ({
      argv,
      content: Buffer.from(head + unit.repeat(Math.ceil((bytes ?? 0) / unit.length)) + tail),
    }));
  const one = bytes === undefined ? fc.oneof(...known) : fc.oneof(...known, { arbitrary: many, weight: known.length });
  const statuses = bytes === undefined ? [200] : [200, 200, 200, 400, 401, 404, 429, 500];
  const property = fc.asyncProperty(
    one,
    fc.constantFrom(...formats),
    widths,
    fc.constantFrom(...statuses),
    async ({ argv, content }, format, tty, answered) => {
      body = content;
      status = answered;
      const words = `${argv} ${format}`;
      const signal = AbortSignal.timeout(bytes === undefined ? 5000 : 60_000);
      const { code, out, err } = await run(words, {
        env: all,
        skipWaits: true,
        signal,
        ...(tty === undefined ? {} : { tty }),
      });
      const shown = `${words} of ${JSON.stringify(content.toString('latin1').slice(0, 3000))} ended with ${code}: ${err.slice(0, 500)}`;
      // Flags that a command does not have, and answers that are no JSON or far from the contract, are told.
      expect([0, 2, 9, 13, ...(status === 200 ? [] : [4, 5, 6, 7, 8])], shown).toContain(code);
      expect(err, shown).not.toMatch(/internal error|\n {4}at /);
      expect(steers.exec(err)?.[0], shown).toBe(undefined);
      if (/json/.test(format) && code === 0)
        for (const part of partsOf(out, format)) expect(() => JSON.parse(part), shown).not.toThrow();
      if (!/json|csv|jq/.test(format)) expect(steers.exec(out.replaceAll('\t', ' '))?.[0], shown).toBe(undefined);
      expect(out, shown).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/);
    },
  );
  await fc.assert(property, options);
}

/** What stands around one thing by the thousand, and the things. */
const frames = [
  ['', ''],
  ['[', '0]'],
  ['"', '"'],
  ['{"error":"', '"}'],
  ['{"items":[', '0]}'],
  ['[{"uid":"', '"}]'],
] as const;
const units = [
  ...[
    '[',
    '{"a":',
    '{},',
    '[],',
    '0,',
    '1e5,',
    '"",',
    '\\\\',
    '\\"',
    '\\u200b',
    '\\u001b[31m',
    '"secret":"',
    'whsec_12345678 ',
  ],
  ...[
    'a',
    ' ',
    '\u0301',
    '\u200d',
    '\u{1F468}\u200d',
    '\u061c',
    '日',
    '\x9b',
    '&amp;',
    '%25',
    '{"id":1,"chain":"base"},',
  ],
];

/** The items again and again, until they are as many bytes. */
function filled(items: readonly unknown[], bytes: number): unknown[] {
  const times = Math.ceil(bytes / Math.max(2, JSON.stringify(items).length));
  return Array.from({ length: times }, () => items).flat();
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

test('whatever the service answers, it is shown or told, and steers no terminal', () =>
  fuzzAnswers({ numRuns: runs(size(20, 60)) }));

test('so are long answers, errors among them', () =>
  fuzzAnswers({ numRuns: Math.ceil(runs(size(20, 60)) / 20), bytes: 30_000 }));

test('generated deliveries neither stop nor block a listener, and the good ones among them are stored once', async () => {
  const count = size(100, 300);
  const listener = await attackListener();
  const report = await fuzzDeliveries(listener, { count, seed: 1, maxBytes: 200_000 });
  expect(report).toMatchObject({ deliveries: count, failures: [] });
  expect(await listener.stop()).toEqual({ code: 0, signal: null });
});
