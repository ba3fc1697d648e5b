import { unicodeEscapes } from '../model/json.ts';
import { patternOnUse, unseenClass } from '../model/safe-text.ts';
import { terminalText } from './terminal.ts';

// Deeper lines are not indented further, so that a deeply nested answer stays linear in size.
const deepest = 100;
const quote = 0x22;
const backslash = 0x5c;

/** Valid JSON text as JSON.stringify(value, null, 2) lays it out, with every number, string and key exactly as it was. */
export function indentJson(text: string): string {
  return [...indentedPieces(text)].join('');
}

/** The same in pieces of about a megabyte. */
function* indentedPieces(text: string): Generator<string> {
  let piece = '';
  let depth = 0;
  const newline = () => `\n${'  '.repeat(Math.min(depth, deepest))}`;
  let previous = '';
  for (const token of jsonTokens(text)) {
    if (token === '}' || token === ']') {
      depth -= 1;
      if (previous !== '{' && previous !== '[') piece += newline();
    } else if (previous === '{' || previous === '[' || previous === ',') {
      piece += newline();
    }
    if (token === '{' || token === '[') depth += 1;
    piece += token === ':' ? ': ' : token;
    previous = token;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

const pieceLength = 1_000_000;

/** Valid JSON text without spaces between its tokens, in pieces of about a megabyte. */
export function compactJson(text: string): string {
  return [...compactPieces(text)].join('');
}

function* compactPieces(text: string): Generator<string> {
  let piece = '';
  for (const token of jsonTokens(text)) {
    piece += token;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** Valid JSON text with DEL and the C1 controls, which terminals obey, as `\u` escapes. */
export function safeJson(text: string): string {
  return text.replace(/[\x7f-\x9f]/g, unicodeEscapes);
}

const unseen = patternOnUse(`[${unseenClass}]`, 'gu');

/** The same for a terminal: characters that hide or reorder text are escaped too, and where more would be cleaned there, all beyond ASCII. */
export function visibleJson(text: string): string {
  const visible = safeJson(text).replace(unseen(), unicodeEscapes);
  return terminalText(visible) === visible ? visible : visible.replace(/[\u0080-\uffff]/g, unicodeEscapes);
}

/** The tokens of valid JSON text, without white space. */
export function* jsonTokens(text: string): Generator<string> {
  // By hand: a pattern for strings would overflow the stack on long ones.
  for (let at = 0, end = 0; at < text.length; at = end) {
    const code = text.charCodeAt(at);
    end = at + 1;
    if (code <= space) continue;
    if (code === quote) {
      while (end < text.length && text.charCodeAt(end) !== quote) end += text.charCodeAt(end) === backslash ? 2 : 1;
      end += 1;
    } else if (!punctuation.includes(code)) while (end < text.length && isWord(text.charCodeAt(end))) end += 1;
    yield text.slice(at, end);
  }
}

const space = 0x20;
const punctuation: readonly number[] = [...'{}[],:'].map((character) => character.charCodeAt(0));

function isWord(code: number): boolean {
  return code > space && code !== quote && !punctuation.includes(code);
}

/** One line of JSON a row, without its end; rows of the answer exactly as they came. Takes valid JSON text. */
export function rowLines(
  rows: readonly unknown[],
  { value, text }: { value: unknown; text: string | undefined },
): readonly string[] {
  const came = text === undefined ? undefined : textsOf(new Set(rows), value, text);
  return rows.map((row) => came?.get(row) ?? JSON.stringify(row ?? null));
}

interface Place {
  value: unknown;
  at: string | number;
  /** How many tokens came before it. */
  start: number;
}

/** The texts of these objects and lists; of a repeated key the last value, as when parsed. */
function textsOf(wanted: ReadonlySet<unknown>, value: unknown, text: string): ReadonlyMap<unknown, string> {
  if (wanted.has(value)) return new Map([[value, compactJson(text)]]);
  const found = new Map<unknown, string>();
  const tokens: string[] = [];
  const open: Place[] = [];
  for (const token of jsonTokens(text)) {
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      const held =
        top === undefined ? value : (top.value as Record<string | number, unknown> | null | undefined)?.[top.at];
      open.push({ value: held, at: token === '[' ? 0 : '', start: tokens.length });
    } else if (token === ',' && typeof top?.at === 'number') top.at += 1;
    else if (token.startsWith('"') && typeof top?.at === 'string' && tokens.at(-1) !== ':') top.at = JSON.parse(token);
    tokens.push(token);
    if (token !== '}' && token !== ']') continue;
    const done = open.pop();
    if (done !== undefined && wanted.has(done.value)) found.set(done.value, tokens.slice(done.start).join(''));
  }
  return found;
}
