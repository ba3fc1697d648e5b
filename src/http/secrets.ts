import { hexOf } from '../model/address.ts';
import { hidden, hideUrlSecrets } from '../model/url-secrets.ts';
import type { HttpAnswer, HttpRequest } from '../world.ts';

/**
 * The text without the key in whatever spelling, webhook secrets, what is secret in addresses, and the values of JSON fields such as `secret`
 * and `signature`, also in JSON quoted in JSON and where the text ends inside one. Linear in the text.
 */
export function hideSecrets(text: string, key?: string): string {
  return secretHider(key)(text);
}

export function secretHider(key: string | undefined): (text: string) => string {
  const hideAny = key === undefined || key.length < 4 ? undefined : hiderOf(key);
  return (text) => {
    const named = hideFields(hideUrlSecrets(text));
    const shown = blot(named, webhookSecrets(named));
    return hideAny === undefined ? shown : hideAny(shown);
  };
}

/** Hides the key that a request carries, and the secrets that have a form of their own. */
export function requestHider({ headers }: Pick<HttpRequest, 'headers'>): (text: string) => string {
  return secretHider(headers['authorization']?.replace(/^Bearer /, ''));
}

/** Without a pattern, which would be quadratic in backslashes: the quotes of a value have equally many. */
function hideFields(text: string): string {
  const names =
    /"(?:secret|signature|password|passphrase|private_?key|api_?key|(?:access|refresh|id)_?token)(\\*)"\s*:\s*(\\*)"/gi;
  const shown: string[] = [];
  let done = 0;
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const [{ length }, slashes = '', again] = match;
    const valueAt = match.index + length;
    if (again !== slashes || !text.startsWith(slashes, match.index - slashes.length)) {
      // The last quote may begin another name.
      names.lastIndex = valueAt - 1;
      continue;
    }
    shown.push(text.slice(done, valueAt), hidden, slashes, '"');
    done = endOfValue(text, valueAt, slashes.length);
    names.lastIndex = done;
  }
  return done === 0 ? text : shown.join('') + text.slice(done);
}

/** Behind the closing quote of the value. */
function endOfValue(text: string, from: number, slashes: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = 0;
    // They end at the quote before the value at the latest.
    while (text[end - before - 1] === '\\') before += 1;
    if ((before - slashes) % (2 * slashes + 2) === 0) return end + 1;
  }
  return text.length;
}

interface KeyedAnswer {
  status: number;
  headers: HttpAnswer['headers'];
  text: string;
  body: Uint8Array;
}

/** Hides the key in an answer that repeats it. */
export type KeyHiding = <T extends KeyedAnswer>(answer: T) => T;

/**
 * Replaces the key by three stars in headers and body of an answer, whatever its spelling; in a 2xx answer not where the case differs,
 * nor base64 or hex. A key of less than eight characters stays: it could be a word of any answer.
 */
export function hidingKey(key: string | null): KeyHiding {
  if (key === null || key.length < 8) return (answer) => answer;
  const hideAny = hiderOf(key);
  // Digits may stand in a number, which has to stay one.
  const hideExact = /^\d+$/.test(key) ? (text: string) => text : exactHiderOf(key);
  return (answer) => hideIn(answer, hideAny, hideExact);
}

type Hide = (text: string) => string;

function hideIn<T extends KeyedAnswer>(answer: T, hideAny: Hide, hideExact: Hide): T {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      hideAny(name),
      Array.isArray(value) ? value.map(hideAny) : value && hideAny(value),
    ]),
  );
  const isDone = answer.status >= 200 && answer.status < 300;
  const text = (isDone ? hideExact : hideAny)(answer.text);
  return text === answer.text
    ? { ...answer, headers }
    : { ...answer, headers, text, body: new TextEncoder().encode(text) };
}

/** Hides a key in any spelling, also where the text ends inside it. */
function hiderOf(key: string): Hide {
  const coded = new RegExp(codesOf(key).join('|'), 'gi');
  const find = createFinder(key, true);
  return (text) => blot(text, find(text, true)).replace(coded, hidden);
}

/** The same for long answers: exact letters, and escapes only where the text has some. */
function exactHiderOf(key: string): Hide {
  const find = createFinder(key, false);
  return (text) =>
    text.includes(key) || /[\\%&]|[^\x20-\x7e\t\n\r]/.test(text) ? blot(text, find(text, false)) : text;
}

function webhookSecrets(text: string): Place[] {
  const start = /\bwhsec_[\w+/=-]{8}/g;
  const end = /[^\w+/=-]/g;
  const found: Place[] = [];
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    end.lastIndex = start.lastIndex;
    start.lastIndex = end.exec(text)?.index ?? text.length;
    found.push([match.index + 'whsec_'.length, start.lastIndex]);
  }
  return found;
}

function blot(text: string, places: readonly Place[]): string {
  const between = places.map(([start], index) => text.slice(places[index - 1]?.[1] ?? 0, start));
  return places.length === 0 ? text : [...between, text.slice(places.at(-1)?.[1])].join(hidden);
}

/** Patterns for the bytes of the key in hex and, at each of the three offsets, base64; longer ones first. */
function codesOf(key: string): string[] {
  const bytes = new TextEncoder().encode(key);
  const base64 = [0, 1, 2].map((before) => {
    const text = btoa('\0'.repeat(before) + String.fromCharCode(...bytes));
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const base64Url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const codes = [hexOf(bytes), ...base64, ...base64Url].map((code) =>
    [...code].map((digit) => codeSpellings[digit] ?? digit).join(''),
  );
  return [...new Set(codes)].sort((a, b) => b.length - a.length);
}

const codeSpellings: Readonly<Record<string, string>> = { '/': '(?:\\\\?\\/|%2f)', '+': '(?:\\+|%2b|\\\\u002b)' };

/** A pattern for a character: as it is, or escaped for JSON (any number of times), an address or HTML. */
function spellingOf(character: string, before = ''): string {
  const code = character.charCodeAt(0);
  const plain = escapePattern(character);
  const hex = anyCase(code.toString(16));
  const escaped = `${before}${slashes}(?:u(?:0{0,4}${hex}|\\{0{0,6}${hex}\\})|x${hex}|${plain})`;
  const names = namesOf[character] ?? '(?!)';
  const coded = `${percent}${hex}|${entity}(?:#0{0,8}${code}|#[xX]0{0,8}${hex}|${names});?`;
  // Longer first, but backslashes that stand for themselves must be left to each other.
  return character === '\\' ? `(?:${plain}|${escaped}|${coded})` : `(?:${escaped}|${coded}|${plain})`;
}

const slashes = '\\\\{1,256}';
const percent = '%(?:25){0,8}';
const entity = '&(?:amp;){0,8}';
const namesOf: Readonly<Record<string, string>> = {
  '"': 'quot',
  '&': 'amp',
  "'": 'apos',
  '<': 'lt',
  '>': 'gt',
  '/': 'sol',
  '\\': 'bsol',
  '+': 'plus',
  '=': 'equals',
  _: 'lowbar',
  '-': 'hyphen|dash',
  '.': 'period',
  ':': 'colon',
};

const escapeSign = `(?:\\x1b|${slashes}(?:u001[bB]|x1[bB]|e|033)|${percent}1[bB])`;

/**
 * A pattern for what a reader does not see between two characters: what is not printed in ASCII, in the same spellings, and terminal
 * controls. The counts keep the time linear.
 */
const unseen = `(?:${[
  `(?:${escapeSign}\\]|\\x9d)[^\\x07\\x1b\\x9c]{0,256}?(?:\\x07|\\x9c|${slashes}u0007|${percent}07|${escapeSign}\\\\)`,
  `(?:${escapeSign}|\\x9b)(?:\\[[0-?]{0,64}[ -/]{0,8}[@-~]|[ -/]{0,8}[0-Z\\\\^-~])`,
  '[^\\x1b\\x20-\\x7e]',
  `${slashes}(?:[abefnrtv0]|u(?!00[2-7])[0-9a-fA-F]{4}|u\\{(?!0{0,4}[2-7][0-9a-fA-F]\\})[0-9a-fA-F]{1,6}\\}|x[0189a-fA-F][0-9a-fA-F])`,
  `${percent}(?:[0189a-fA-F][0-9a-fA-F]|7[fF])`,
  `${entity}(?:[a-zA-Z]{2,20}|#(?:1[3-9]\\d|[2-9]\\d\\d|\\d{4,7}|[xX](?:[89a-fA-F][0-9a-fA-F]|[0-9a-fA-F]{3,6})));`,
].join('|')}){0,9}`;

type Place = readonly [start: number, end: number];

/**
 * Finds a text of four ASCII characters or more, in every spelling; `fold`: in any case; `cut`: also where the end of the text breaks it off
 * after eight characters or more. Time: the product of both lengths at most.
 */
function createFinder(wanted: string, fold: boolean): (text: string, cut: boolean) => Place[] {
  const letters = [...wanted];
  const [first = '', ...others] = letters.slice(0, 3);
  const flags = fold ? 'i' : '';
  // Only at the first of several backslashes: a million of them must not be a million beginnings.
  const opening = [spellingOf(first, '(?<!\\\\)'), ...others.map((letter) => unseen + spellingOf(letter))].join('');
  const start = new RegExp(opening, `g${flags}`);
  const steps = new Map(letters.map((letter) => [letter, new RegExp(unseen + spellingOf(letter), `y${flags}`)]));
  const rest = letters.slice(3);
  const endOf = (text: string, from: number): { end: number; isWhole: boolean } => {
    let end = from;
    for (const letter of rest) {
      const step = steps.get(letter) as RegExp;
      step.lastIndex = end;
      if (!step.test(text)) return { end, isWhole: false };
      end = step.lastIndex;
    }
    return { end, isWhole: true };
  };
  return (text, cut) => {
    const found: Place[] = [];
    start.lastIndex = 0;
    for (let match = start.exec(text); match !== null; match = start.exec(text)) {
      const { end, isWhole } = endOf(text, start.lastIndex);
      if (isWhole) found.push([match.index, end]);
      else if (cut && end - match.index >= 8 && isUnfinished(text, end)) return [...found, [match.index, text.length]];
      start.lastIndex = isWhole ? end : match.index + 1;
    }
    return found;
  };
}

/** Whether only the start of one more escaped character follows. */
function isUnfinished(text: string, end: number): boolean {
  return text.length - end < 300 && /^(?:\\*(?:u[\da-f{]*|x[\da-f]?)?|%[\da-f]*|&[#\da-z;]*)$/i.test(text.slice(end));
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
