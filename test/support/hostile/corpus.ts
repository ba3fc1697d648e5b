import { readFileSync } from 'node:fs';
import { some } from '../size.ts';

const folder = 'test/data/hostile/text';

/** The big list of naughty strings, without the empty one, and some of our own. */
export const naughty: readonly string[] = [
  ...new Set([
    ...(JSON.parse(readFileSync(`${folder}/blns.json`, 'utf8')) as string[]).filter((text) => text !== ''),
    ...['=1+1', '@SUM(A1)', '-2+3', '+1', '\t=1', '\r=1', '-12.5', '1e5', '＝1', '  =1+1', '\u00a0=1+1', 'a\nb'],
    ...['a\r\nb', 'a\rb', 'a\tb', '|a|b\\|', '\\', '"', '""', ',', "'"],
    ...['\u001b]0;owned\u0007x', '\u001b[2J\u001b[1;1H', '\u009b31mred', '\u009d0;t\u009c', '\u202egnp.exe'],
    ...['US\u200bDC', '\ufeffbom', '日本語'.repeat(40)],
    ...['👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽', 'e\u0301'.repeat(50), 'ก็็็็็็็็็็', 'x'.repeat(5000), '💸'.repeat(500)],
    ...[' lead and trail ', '\u2028\u2029', '__proto__'],
  ]),
];

/** Some of them, for what takes a run each; all of them in the proof. */
export const sampled = some(naughty, 10);

/** All that may move a cursor, set a title, reorder text or hide in it; a newline ends our lines. */
export const steers =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Surrogate}]/u;

/** What a terminal shows on stderr, without the lines of progress that draw themselves anew where an answer takes long. */
const withoutProgress = (err: string): string => err.replaceAll(/\x1b\[(?:\?25[hl]|\?2026[hl]|\d*G|2K|1A)/g, '');

/** The first character that steers a terminal. */
export const steering = (text: string): string | undefined => steers.exec(withoutProgress(text))?.[0];

export const rawControl = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

/** Words of a command line, parts of an address and values of variables that a reader may trip over. */
export const oddWords = [
  ...['', ' ', '.', '..', '../..', '-', '--', '=', '--=', '%', '"', '\\', '//', '\t', '\n', 'a\nb', 'a,b,,c'],
  ...['@nobody'],
  ...['-1', '-0', '0', '0x', '0x10', '1e308', '1e400', 'NaN', 'null', 'true', '0.0000001ms', '999999999999d'],
  ...['9999999999999999', '999999999999999999999', '9'.repeat(40)],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '[]', '{}', '{"a":', "' OR 1=1 --", './nowhere/at/all'],
  ...['{"__proto__":{"a":"b"}}', '{"*.limit":"constructor"}'],
  ...['%2e%2e', '%00', '%ff%fe', '%u0041', '%zz%00', '%0d%0aset-cookie:%20a=b'],
  ...['http://', 'http://[', 'https://a@127.0.0.1:1', 'https://127.0.0.1:1/a?b#c', 'socks5://127.0.0.1:1', 'ftp://x'],
  ...['http://127.0.0.1:1', 'http://user:pw@127.0.0.1:1', 'http://[::1]:1', 'http://%zz:%ff@127.0.0.1:1'],
  ...['https://x:1'],
  ...['\u009b31m', '\u0080\u00ff\u009b31m', '\u001b[31mred', '\u202egnp', '\u{e0041}', 'e\u0301'.repeat(20)],
  ...['💸', '💸'.repeat(40), 'x'.repeat(5000)],
  ...['ext:', `ext:${'%F0%9F%90%B1'.repeat(50)}`, `0x${'0'.repeat(40)}`, `0x${'F'.repeat(40)}`],
  ...['00000000-0000-4000-8000-000000000000', 'WzEsbnVsbF0', 'W3sieCI6MX0sbnVsbF0', 'all', 'base', 'hyperliquid'],
];

/** JSON texts that a reader may trip over. */
export const oddJson = [
  ...['null', 'true', 'false', '0', '-1', '1.5', '1e999', '-1e999', '1e308', '9007199254740993', '99', '4294967296'],
  ...['""', '"x"', '"NaN"', '"null"', '"__proto__"', '"constructor"', '"../../x"', '"\\u0000"', '"\\ud800"'],
  ...['"\\u202e"'],
  ...['"\\u001b]0;owned\\u0007"', '"\\u009b31m"', '"a\\r\\nb: c"', '"https://127.0.0.1:1"'],
  ...['"http://127.0.0.1:1/?q"', '"http:"'],
  ...['"0x"', '"0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"', '"2026-11-01T00:00:00Z"', '"7d"', '"日本 💸 né"'],
  ...['[]', '{}', '[[]]', '[null]', '[{}]', '[""]', '{"":{}}', '{"__proto__":{"a":1}}', '{"toString":1}'],
  ...['{"length":-1}'],
  `"${'x'.repeat(5000)}"`,
  `${'['.repeat(3000)}${']'.repeat(3000)}`,
  `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`,
];
/** Keys of objects that a reader may trip over. */
export const oddKeys = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'x', '0'],
  ...['\u0000', 'length', '\u001b[31m', '💸'],
];
/** Bodies of requests that are no JSON, no object, or deeper than any should be. */
export const oddBodies = [
  ...['', '[', 'null', '"text"', '123', '\u00ff\u00fe', '{"targets": {"length": 1e9}}'],
  '{"__proto__": {"targets": ["ext:a"]}}',
  '{"a":'.repeat(2000),
  '['.repeat(100_000),
  `${'['.repeat(600)}${']'.repeat(600)}`,
];
