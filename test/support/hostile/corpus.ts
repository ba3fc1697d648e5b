import { readFileSync } from 'node:fs';
import { some } from '../size.ts';

/** Hostile texts, words, JSON, keys and bodies; the long ones are added here. */
const odd: Readonly<Record<'texts' | 'words' | 'json' | 'keys' | 'bodies', readonly string[]>> = readJson('odd.json');

function readJson(name: string) {
  return JSON.parse(readFileSync(`test/data/hostile/text/${name}`, 'utf8'));
}

/** The big list of naughty strings, without the empty one, and some of our own. */
export const naughty: readonly string[] = [
  ...new Set<string>([
    ...readJson('blns.json').filter((text: string) => text !== ''),
    ...odd.texts,
    '日本語'.repeat(40),
    'e\u0301'.repeat(50),
    'x'.repeat(5000),
    '💸'.repeat(500),
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
  ...odd.words,
  '9'.repeat(40),
  '💸'.repeat(40),
  'x'.repeat(5000),
  `ext:${'%F0%9F%90%B1'.repeat(50)}`,
  `0x${'0'.repeat(40)}`,
  `0x${'F'.repeat(40)}`,
];

/** JSON texts that a reader may trip over. */
export const oddJson = [
  ...odd.json,
  `"${'x'.repeat(5000)}"`,
  `${'['.repeat(3000)}${']'.repeat(3000)}`,
  `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`,
];

/** Keys of objects that a reader may trip over. */
export const oddKeys = odd.keys;

/** Bodies of requests that are no JSON, no object, or deeper than any should be. */
export const oddBodies = [
  ...odd.bodies,
  '{"a":'.repeat(2000),
  '['.repeat(100_000),
  `${'['.repeat(600)}${']'.repeat(600)}`,
];
