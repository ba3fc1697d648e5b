/** Maximum nesting of JSON from outside, so that code that walks a value may recurse. */
const maxJsonDepth = 512;

/** Maximum values of JSON from outside: a few bytes each, they take gigabytes and minutes. */
const maxJsonValues = 1_000_000;

/**
 * Replaces JSON.parse for everything from outside. Errors: SyntaxError for invalid JSON; `BoundsError`, also one, for more than 512
 * levels or more values than `maxValues`.
 */
export function parseJson(text: string, maxValues: number = maxJsonValues): unknown {
  // Before a value is built: with many levels that takes up to half a second and 20 MB for a million characters.
  const exceeded = isSmall(text, maxValues) ? undefined : findExceeded(text, maxValues);
  if (exceeded !== undefined) throw new BoundsError(exceeded);
  return JSON.parse(text);
}

/** The value of a JSON text; `undefined` if it is none. */
export function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each UTF-16 unit of a text as a `\u` escape of JSON. */
export function unicodeEscapes(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The object without the keys that have no value. */
export function defined<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

export class BoundsError extends SyntaxError {}

/** Whether a text has too few characters and brackets to exceed anything: most answers, which need no closer look. */
function isSmall(text: string, maxValues: number): boolean {
  if (text.length > maxValues) return false;
  let opened = 0;
  for (const bracket of '[{')
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      opened += 1;
      if (opened > maxJsonDepth) return false;
    }
  return true;
}

/** The limit that the text exceeds. One pass over brackets and commas outside of strings. */
function findExceeded(text: string, maxValues: number): string | undefined {
  let [depth, values] = [0, 1];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at += 1;
      // Character by character: for short strings indexOf takes three times as long.
      while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
    } else if (code === bracket || code === brace) {
      depth += 1;
      values += 1;
      if (depth > maxJsonDepth) return `JSON nested more than ${maxJsonDepth} levels deep`;
    } else if (code === bracket + 2 || code === brace + 2) {
      depth -= 1;
    } else if (code === comma) {
      values += 1;
    }
    if (values > maxValues) return `JSON of more than ${maxValues.toLocaleString('en-US')} values`;
  }
  return undefined;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const bracket = 0x5b;
const brace = 0x7b;

/** Where the string of a JSON text ends that begins at a place; -1 if it does not. */
export function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

/** Why a text is not JSON, without the piece that JSON.parse quotes: it may be a key in the wrong file. */
export function whyNotJson(cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (/^"[\s\S]*" is not valid JSON$/.test(why)) return 'not a JSON value';
  return why.replace(/^(Unexpected token '.[^,]*'), [\s\S]*$/u, '$1');
}

/** An object for names from outside: nothing is inherited, and `__proto__` is a name like any other. */
export function byName<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/** The JSON of a value for a message; a long text is cut, and still in quotes. */
export function shortJson(value: unknown): string {
  const isLong = typeof value === 'string' && value.length > 80;
  return isLong ? `${JSON.stringify(value.slice(0, 80))}...` : String(JSON.stringify(value)).slice(0, 80);
}

/** Where a text stops being JSON, line and column from 1. */
export interface JsonError {
  line: number;
  column: number;
  /** The word or character there; empty if the text ends in the middle. */
  near: string;
}

interface Token {
  at: number;
  end: number;
  kind: '{' | '}' | '[' | ']' | ':' | ',' | 'text' | 'value' | 'wrong' | 'end';
}

/** Where a text stops being JSON; `undefined` for JSON. JSON.parse of Node 20 does not always tell the position. */
export function findJsonError(text: string): JsonError | undefined {
  const open: ('{' | '[')[] = [];
  let expected: readonly Token['kind'][] = values;
  for (let token = readToken(text, 0); ; token = readToken(text, token.end)) {
    const { at, kind } = token;
    if (!expected.includes(kind)) return locate(text, at);
    if (kind === 'end') return undefined;
    const isName = kind === 'text' && (expected === names || expected === namesOrEnd);
    if (kind === '{' || kind === '[') open.push(kind);
    if (kind === '}' || kind === ']') open.pop();
    const inside = open.at(-1);
    if (isName) expected = [':'];
    else if (kind === ':') expected = values;
    else if (kind === ',') expected = inside === '{' ? names : values;
    else if (kind === '{') expected = namesOrEnd;
    else if (kind === '[') expected = [...values, ']'];
    else expected = inside === undefined ? ['end'] : [',', inside === '{' ? '}' : ']'];
  }
}

const values: readonly Token['kind'][] = ['{', '[', 'text', 'value'];
const names: readonly Token['kind'][] = ['text'];
const namesOrEnd: readonly Token['kind'][] = ['text', '}'];
const spaces = /[ \t\r\n]*/y;
const literal = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const goodEscape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/g;

function readToken(text: string, from: number): Token {
  spaces.lastIndex = from;
  spaces.exec(text);
  const at = spaces.lastIndex;
  const character = text[at];
  if (character === undefined) return { at, end: at, kind: 'end' };
  if (/[{}[\],:]/.test(character)) return { at, end: at + 1, kind: character as Token['kind'] };
  if (character === '"') {
    const last = endOfString(text, at);
    if (last === -1) return { at: text.length, end: text.length, kind: 'wrong' };
    const unescaped = text.slice(at, last).replace(goodEscape, ({ length }) => ' '.repeat(length));
    const wrong = unescaped.search(/[\x00-\x1f\\]/);
    return wrong === -1 ? { at, end: last + 1, kind: 'text' } : { at: at + wrong, end: last + 1, kind: 'wrong' };
  }
  literal.lastIndex = at;
  if (literal.test(text)) return { at, end: literal.lastIndex, kind: 'value' };
  // A literal that the text ends in.
  const isCut = /^(?:[a-z]{1,4}|[-\d.eE+]+)$/.test(text.slice(at, at + 40).trimEnd());
  return { at: isCut ? text.length : at, end: at + 1, kind: 'wrong' };
}

function locate(text: string, at: number): JsonError {
  const lines = text.slice(0, at).split('\n');
  const [near = ''] = /^(?:[\w.+-]{1,20}|.)/su.exec(text.slice(at, at + 40)) ?? [];
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, near };
}
