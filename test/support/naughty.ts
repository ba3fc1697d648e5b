import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { some } from './size.ts';

const folder = 'test/data/hostile/text';

/** The big list of naughty strings, without the empty one, and some of our own. */
export const naughty: readonly string[] = [
  ...new Set([
    ...(JSON.parse(readFileSync(`${folder}/blns.json`, 'utf8')) as string[]).filter((text) => text !== ''),
    ...[
      '=1+1',
      '@SUM(A1)',
      '-2+3',
      '+1',
      '\t=1',
      '\r=1',
      '-12.5',
      '1e5',
      '＝1',
      '  =1+1',
      '\u00a0=1+1',
      'a\nb',
      'a\r\nb',
      'a\rb',
      'a\tb',
      '|a|b\\|',
      '\\',
      '"',
      '""',
      ',',
      "'",
    ],
    ...[
      '\u001b]0;owned\u0007x',
      '\u001b[2J\u001b[1;1H',
      '\u009b31mred',
      '\u009d0;t\u009c',
      '\u202egnp.exe',
      'US\u200bDC',
      '\ufeffbom',
      '日本語'.repeat(40),
    ],
    ...[
      '👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽',
      'e\u0301'.repeat(50),
      'ก็็็็็็็็็็',
      'x'.repeat(5000),
      '💸'.repeat(500),
      ' lead and trail ',
      '\u2028\u2029',
      '__proto__',
    ],
  ]),
];

/** Some of them, for what takes a run each; all of them in the proof. */
export const sampled = some(naughty, 10);

/** All that may move a cursor, set a title, reorder text or hide in it; a newline ends our lines. */
export const steers =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Surrogate}]/u;

/** What a terminal shows on stderr, without the lines of progress that draw themselves anew where an answer takes long. */
export const withoutProgress = (err: string): string => err.replaceAll(/\x1b\[(?:\?25[hl]|\?2026[hl]|\d*G|2K|1A)/g, '');

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Terminal cells of a text by the tables of Unicode 15 alone: a witness to what is printed. */
export function witnessWidth(): (text: string) => number {
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
  return gunzipSync(readFileSync(`${folder}/${name}`))
    .toString('utf8')
    .split('\n');
}
