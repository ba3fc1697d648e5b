import { endOfString } from '../api/json.ts';

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
    const isWrong = /[\x00-\x1f\\]/.test(text.slice(at, last).replace(goodEscape, ''));
    return { at, end: last + 1, kind: isWrong ? 'wrong' : 'text' };
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
