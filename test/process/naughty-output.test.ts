import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { answering, type Outcome, type RunOptions, run } from '../support/harness.ts';
import { type Answer, hostile, itemsOf, realAnswers, withText } from '../support/hostile/answers.ts';
import { naughty, sampled, steers, withoutProgress } from '../support/hostile/corpus.ts';
import { some } from '../support/size.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Terminal cells of a text by the tables of Unicode 15 alone: a witness to what is printed. */
function witnessWidth(): (text: string) => number {
  const wide = readTable('unicode15_EastAsianWidth.txt.gz').flatMap((line) => {
    const [, from = '', to = from] = /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?;[WF] /.exec(`${line} `) ?? [];
    return from === '' ? [] : [{ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }];
  });
  const emojis = new Set(
    readTable('unicode15_emoji-test.txt.gz').flatMap((line) => {
      const [codes = '', kind = ''] = line.split(';');
      if (!kind.trim().startsWith('fully-qualified')) return [];
      return [
        String.fromCodePoint(
          ...codes
            .trim()
            .split(' ')
            .map((hex) => Number.parseInt(hex, 16)),
        ),
      ];
    }),
  );
  const isWide = (code: number) => wide.some(({ from, to }) => code >= from && code <= to);
  const widthOf = (grapheme: string) => {
    if (emojis.has(grapheme)) return 2;
    const [first = ''] = grapheme;
    if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(first)) return 0;
    // The halfwidth voicing marks of Japanese join their letter and still take a cell of their own.
    const marks = grapheme.slice(first.length).match(/[\uff9e\uff9f]/g)?.length ?? 0;
    return (isWide(first.codePointAt(0) ?? 0) ? 2 : 1) + marks;
  };
  return (text) => {
    if (/^[\x20-\x7e]*$/.test(text)) return text.length;
    return Array.from(graphemes.segment(text), ({ segment }) => widthOf(segment)).reduce((a, b) => a + b, 0);
  };
}

function readTable(name: string): string[] {
  return gunzipSync(readFileSync(`test/data/hostile/text/${name}`))
    .toString('utf8')
    .split('\n');
}

/** Text in which nothing is hidden, so that it must come out as it went in. */
const isPlain = (text: string) => !/[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]|[\p{Mn}\p{Me}]{5}/u.test(text);

/** A field of our tsv: `\t`, `\n`, `\r` and `\\` stand for tab, newline, return and backslash. */
function tsvField(text: string): string {
  return text.replace(/\\(.)/g, (_, letter: string) => ({ t: '\t', n: '\n', r: '\r' })[letter] ?? letter);
}

/** What a spreadsheet would run. */
const isFormula = (text: string) =>
  /^[\p{Cf}\p{Z}\s]*[=+\-@\t\r\n＝＋－＠]/u.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);

describe('naughty strings as texts of the service', () => {
  let real: ReturnType<typeof realAnswers> | undefined;
  /** Taken from the sandbox once, by the first test that needs them. */
  const answers = () => {
    real ??= realAnswers();
    return real;
  };
  const lists = async () => some((await answers()).lists, 1);

  async function show(
    answer: Answer,
    words: string,
    options: RunOptions & { all?: boolean; texts?: readonly string[] } = {},
  ): Promise<Outcome> {
    const { env } = await answering(hostile(answer, options.all, options.texts));
    const shown = await run(`${answer.argv} ${words}`, { env, ...options });
    return { ...shown, err: withoutProgress(shown.err) };
  }

  test('a table of any width is safe, as wide as it says, and its columns stand below each other', async () => {
    const width = witnessWidth();
    for (const answer of await lists()) {
      for (const tty of some([40, 60, 80, 140, 300], 2)) {
        const { out, err, code } = await show(answer, '--format table', { tty, texts: sampled });
        expect([answer.argv, tty, code, steers.exec(out + err)?.[0]]).toEqual([answer.argv, tty, 0, undefined]);
        const isTable = (out.split('\n')[1] ?? '').startsWith('──');
        const wide = isTable ? out.split('\n').filter((line) => width(line) > tty) : [];
        expect([answer.argv, tty, wide]).toEqual([answer.argv, tty, []]);
      }
      const { out } = await show(answer, `--format table --columns ${answer.column},${answer.beside}`, { tty: 400 });
      const rows = out.split('\n').filter((line) => line !== '' && !line.startsWith('──'));
      const tail = / {2}(\S+)$/.exec(rows[1] ?? '')?.[1] ?? '';
      const body = rows.filter((line) => line.endsWith(`  ${tail}`));
      expect([answer.argv, body.length]).toEqual([answer.argv, naughty.length]);
      // Every 500 rows are a table of their own.
      for (const part of [body.slice(0, 500), body.slice(500)])
        expect(new Set(part.map((line) => width(line.slice(0, -tail.length)))).size).toBe(1);
    }
  });

  test('every other human format is safe, with charts and --verbose too', async () => {
    for (const answer of await lists())
      for (const words of ['--format tsv', '', '--verbose', '--chart'])
        for (const all of [false, true]) {
          if (words === '--chart' && !/leaderboard list|positions/.test(answer.argv)) continue;
          const { out, err, code } = await show(answer, words, {
            all,
            texts: sampled,
            ...(words === '' ? {} : { tty: 100 }),
          });
          const shown = [answer.argv, words, all, steers.exec((out + err).replaceAll('\t', ' '))?.[0]];
          expect(shown).toEqual([answer.argv, words, all, undefined]);
          // Where even a chain is no chain, it may say that it cannot show that.
          expect(all ? [0, 13] : [0]).toContain(code);
        }
  });

  test('records are safe in every format, each text in its place', async () => {
    const formats = ['--format table', '--format csv', '--format tsv', '', '--json', '--format ndjson'];
    for (const { argv, value } of (await answers()).records)
      for (const [index, text] of sampled.entries()) {
        const format = formats[index % formats.length] ?? '';
        const served = withText(value, text, false);
        const { env } = await answering(served);
        const { out, err, code } = await run(`${argv} ${format}`, { env, ...(format === '' ? {} : { tty: 60 }) });
        expect([text, format, code]).toEqual([text, format, 0]);
        if (/json/.test(format)) expect(JSON.parse(out)).toEqual(served);
        else if (format !== '--format csv')
          expect([text, steers.exec((out + withoutProgress(err)).replaceAll('\t', ' '))?.[0]]).toEqual([
            text,
            undefined,
          ]);
        expect(out).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/);
      }
  });

  test('csv gives back every text as it was but for controls and what changes its direction, and nothing that a spreadsheet runs', async () => {
    for (const answer of await lists()) {
      const { out, code } = await show(answer, `--format csv --columns ${answer.column},${answer.beside}`);
      expect([code, out]).toEqual([0, expect.not.stringMatching(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/)]);
      const rows: Record<string, string>[] = parse(out, { columns: true, record_delimiter: '\n' });
      expect(rows).toHaveLength(naughty.length);
      for (const [index, text] of naughty.entries()) {
        const cell = rows[index]?.[answer.column] ?? '';
        const kept = text.replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
        if (!/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text)) expect(cell).toBe(isFormula(kept) ? `'${kept}` : kept);
        expect([text, isFormula(cell)]).toEqual([text, false]);
      }
    }
  });

  test('tsv and piped rows give back every text in which nothing is hidden, and each row stays one line', async () => {
    for (const answer of await lists())
      for (const words of ['--format tsv', '']) {
        const { out } = await show(answer, `${words} --columns ${answer.column},${answer.beside}`);
        const rows = out.split('\n').slice(words === '' ? 0 : 1, -1);
        expect(rows).toHaveLength(naughty.length);
        for (const [index, text] of naughty.entries()) {
          const fields = (rows[index] ?? '').split('\t');
          expect(fields).toHaveLength(2);
          const [first = ''] = fields;
          const guard = words !== '' && isFormula(text) ? "'" : '';
          if (isPlain(text.replaceAll(/[\t\n\r]/g, ''))) expect(tsvField(first)).toBe(guard + text);
        }
      }
  });

  test('json and ndjson are what was served, to the last code unit, and hold no raw control', async () => {
    for (const answer of await lists()) {
      const { out } = await show(answer, '--json', { all: true });
      const served = hostile(answer, true);
      expect(JSON.parse(out)).toEqual(served);
      const lines = await show(answer, '--format ndjson', { all: true });
      const items = lines.out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(items).toEqual(itemsOf({ ...answer, value: served }));
      expect(out + lines.out).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f]/);
    }
  });
});
