import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { run } from './harness.ts';
import { serveSandbox } from './served.ts';
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

/** One answer of the service, and the command that shows it. */
export interface Answer {
  argv: string;
  /** The key of its list; absent: it is the list. */
  key?: string;
  /** A column that holds a free text as it is, and one beside it that is the same in every row. */
  column: string;
  beside: string;
  value: unknown;
}

/** Keys whose texts are free: what people and other services wrote. */
const free = /^(\w*[nN]ame|\w*[sS]ymbol|commentText|itemTitle|\w*Handle|title|text|label|description|destinationUrl)$/;

/** The value with every free text replaced; with `all` every text that there is. */
export function withText(value: unknown, text: string, all: boolean, key = ''): unknown {
  if (typeof value === 'string') return all || free.test(key) ? text : value;
  if (Array.isArray(value)) return value.map((each) => withText(each, text, all, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withText(each, text, all, name)]));
}

/** The items of an answer. */
export function itemsOf({ value, key }: Answer): unknown[] {
  return (key === undefined ? value : (value as Record<string, unknown>)[key]) as unknown[];
}

/** The answer with an item for each text, alike but for its texts. */
export function hostile(answer: Answer, all = false, texts = naughty): unknown {
  const [item] = itemsOf(answer);
  const made = texts.map((text) => withText(item, text, all));
  return answer.key === undefined ? made : { ...(answer.value as object), [answer.key]: made };
}

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const position = '6527ff56-9ac0-5c42-812c-d84aa9a0cf53';

/** Answers of the lists that show texts of others, and of two records, as the sandbox gives them. */
export async function realAnswers(): Promise<{ lists: Answer[]; records: { argv: string; value: unknown }[] }> {
  const { envA: env } = await serveSandbox();
  const get = async (argv: string) => JSON.parse((await run(`${argv} --json --quiet`, { env })).out);
  const lists: Omit<Answer, 'value'>[] = [
    { argv: 'leaderboard list', key: 'traders', column: 'name', beside: 'address' },
    { argv: 'leaderboard copytraded', key: 'traders', column: 'name', beside: 'address' },
    { argv: `profile followers ${trader}`, key: 'items', column: 'name', beside: 'address' },
    { argv: `profile positions ${trader} open`, column: 'token', beside: 'chain' },
    { argv: `feed actor ${trader}`, key: 'items', column: 'token', beside: 'chain' },
  ];
  const webhook = { uid: 'u-1', destinationUrl: 'https://a.example.com/hook' };
  const filled = await Promise.all(
    lists.map(async (list): Promise<Answer> => ({ ...list, value: await get(list.argv) })),
  );
  const records = [`profile get ${trader}`, `position get ${position}`];
  return {
    lists: [...filled, { argv: 'webhook list', column: 'destinationUrl', beside: 'uid', value: [webhook] }],
    records: await Promise.all(records.map(async (argv) => ({ argv, value: await get(argv) }))),
  };
}
