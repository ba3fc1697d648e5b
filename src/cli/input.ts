import { checkParam } from '../contract/endpoint.ts';
import { itemOf, type Problem, parseText, unknownChoices } from '../contract/kind.ts';
import { missingInputs, usageError } from '../errors.ts';
import { isKnownChain } from '../model/chain.ts';
import { splitList } from '../model/list.ts';
import { nearest } from '../model/nearest.ts';
import { command } from '../model/shell.ts';
import type { Command } from './command.ts';
import type { Field, TypedInput } from './outline.ts';

const maxShownLength = 200;

/**
 * The checked input. Lists accept repeated flags and commas, `null` clears a nullable value. Errors: `usage` naming the flag, the value
 * and what is allowed.
 */
export function readInput(
  fields: readonly Field[],
  { params, oneOf = [] }: Pick<Command, 'params' | 'oneOf'>,
  typed: TypedInput,
): Record<string, unknown> {
  requireInputs(fields, oneOf, typed);
  return checkTyped(fields, params, (field) => readField(field, typed[field.key]));
}

/** Refuses inputs that are required and absent. Errors: `usage` naming all of them. */
export function requireInputs(
  fields: readonly Field[],
  oneOf: readonly (readonly string[])[],
  given: Readonly<Record<string, unknown>>,
): void {
  const missing = [
    ...fields.filter((field) => !field.kind.optional && given[field.key] === undefined),
    ...oneOf.filter((keys) => keys.every((key) => given[key] === undefined)).map((keys) => joinInputs(fields, keys)),
  ];
  if (missing.length > 0) throw missingInputs(missing);
}

export function checkTyped(
  fields: readonly Field[],
  params: Command['params'],
  read: (field: Field) => unknown,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const field of fields) {
    const value = read(field);
    const param = params[field.key];
    if (param === undefined) continue;
    const problem = checkParam(param, value);
    if (problem !== undefined) throw refuseValue(field, problem);
    if (value !== undefined) input[field.key] = value;
  }
  return input;
}

function joinInputs(fields: readonly Field[], keys: readonly string[]): { label: string; help: string } {
  const either = fields.filter(({ key }) => keys.includes(key));
  return { label: either.map(({ label }) => label).join(' or '), help: either[0]?.help ?? '' };
}

function readField(field: Field, typed: TypedInput[string]): unknown {
  if (typed === undefined || typeof typed === 'boolean') return typed;
  if (field.kind.nullable && typed === 'null') return null;
  const { kind, label } = field;
  if (kind.type !== 'list') return parseText(kind, String(typed));
  const isWhole = field.whole === true || kind.item.type === 'json';
  const items = [typed].flat().flatMap((text) => (isWhole ? [text.trim()] : splitList(text, label)));
  return items.map((item) => parseText(kind, item));
}

function refuseValue(field: Field, { value, message }: Problem) {
  const text = typeof value === 'string' ? value : formatTyped(value);
  const shown = text.length > maxShownLength ? `(${[...text].length} characters)` : text;
  const near = typeof value === 'string' ? nearest(value, listChoices(field)) : undefined;
  const isName = takesTrader(field) && /^(?!0x)[\p{L}\p{N}][\p{L}\p{N} ._:-]*$/u.test(text) && !whole.test(text);
  const known = isName
    ? 'A name works once an answer of the service in use named it (of the sandbox: with --sandbox); sotra alias set saves one.'
    : undefined;
  return usageError(`${field.label} ${shown}: ${message}`, near === undefined ? known : `Did you mean ${near}?`);
}

function formatTyped(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value);
}

/** The choices of a field, as they are typed. */
export function listChoices({ kind }: Pick<Field, 'kind'>): readonly string[] {
  const item = itemOf(kind);
  return item.type === 'choice' ? item.choices.map(String) : [];
}

/** The two sides of `name=value`. */
export function splitPair(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Says which values no list of the interface document names, as of a chain that only some deployments know: they are sent as typed. */
export function warnOfUnknown(
  fields: readonly Field[],
  input: Readonly<Record<string, unknown>>,
  warn: (text: string) => void,
): void {
  for (const { key, label, kind } of fields.filter(({ source }) => source !== 'local'))
    for (const value of unknownChoices(kind, input[key])) {
      const choices = listChoices({ kind });
      const near = nearest(value, choices);
      const meant = near === undefined ? '' : ` Did you mean ${near}?`;
      warn(`${label} ${value} is sent as typed: the known ones are ${choices.join(', ')}.${meant}`);
    }
}

/** Says which lists hold more items than the service reads: the others are not sent. */
export function warnOfSurplus(
  fields: readonly Field[],
  input: Readonly<Record<string, unknown>>,
  warn: (text: string) => void,
): void {
  for (const { key, label, kind } of fields) {
    const [first, value] = [kind.type === 'list' ? kind.keepFirst : undefined, input[key]];
    if (first === undefined || !Array.isArray(value) || value.length <= first) continue;
    warn(`${label}: the service uses the first ${first} only; ${value.length - first} of ${value.length} are not sent`);
  }
}

/** A saved name, with its `@`. */
export const aliasPattern = /^@[A-Za-z0-9][\w.-]{0,31}$/;

/** An address as tables shorten it: `0x1234…cdef`, also with three dots. */
const shortened = /^(0x[0-9a-f]{4}|[1-9A-HJ-NP-Za-km-z]{4})(?:…|\.\.\.)([0-9a-z]{4})$/i;

/** An identifier as the service takes it. */
const whole = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|[0-9a-fA-F-]{36}|ext:.+)$/;

/** Whether the field takes a trader, and so a name or a rank (`#3`) of the last answers. */
const takesTrader = ({ identifier }: Pick<Field, 'identifier'>) => identifier === true;

/** Whether the symbol of a token was typed, on a chain where tokens have addresses. */
function isSymbol({ identifier }: Field, text: string, { chain }: TypedInput): boolean {
  const hasAddresses = typeof chain === 'string' && chain !== 'hyperliquid' && isKnownChain(chain);
  return identifier === 'token' && hasAddresses && /^\$?[A-Za-z][\w.-]{0,19}$/.test(text);
}

/** Whether a saved name, a shortened address, a symbol, or a name or rank of the last answers may have been typed. */
export function mentionsAlias(fields: readonly Field[], typed: TypedInput): boolean {
  const isShort = (field: Field, text: string) =>
    /(^|,)@|…|\.\.\./.test(text) ||
    isSymbol(field, text, typed) ||
    (takesTrader(field) && text.split(',').some((part) => !whole.test(part.trim())));
  const holdsOne = (field: Field) =>
    [typed[field.key]].flat().some((text) => typeof text === 'string' && isShort(field, text));
  return fields.some((field) => field.identifier !== undefined && holdsOne(field));
}

export interface KnownNames {
  aliases: Readonly<Record<string, string>>;
  /** The addresses that a name may mean: of a stored key, and of traders of the last answers. */
  named: (text: string) => Promise<readonly string[]>;
  /** The addresses of tokens of a chain with this symbol. */
  tokens: (symbol: string, chain: string) => Promise<readonly string[]>;
  /** The address of a place of the last leaderboard, counted from 1. */
  ranked: (place: number) => Promise<string | undefined>;
  /** Full addresses with this start and end. */
  find: (part: { start: string; end: string }) => Promise<string[]>;
}

/**
 * What was typed, with saved names and shortened addresses replaced in the inputs that accept an identifier. Errors: `usage` for an
 * unknown name, for a shortened address that matches none or several, and for the symbol of a token in place of its address.
 */
export async function resolveAliases(
  fields: readonly Field[],
  typed: TypedInput,
  known: KnownNames,
): Promise<TypedInput> {
  const resolved = { ...typed };
  for (const field of fields) {
    const value = typed[field.key];
    if (value === undefined || typeof value === 'boolean' || field.identifier === undefined) continue;
    const isCoin = (text: string) => field.identifier === 'token' && /^@\d+$/.test(text);
    const one = async (text: string) => (isCoin(text.trim()) ? text : resolveIdentifier(field, text.trim(), known));
    const item = async (text: string) =>
      field.kind.type === 'list' ? (await Promise.all(splitList(text, field.label).map(one))).join(',') : one(text);
    resolved[field.key] = typeof value === 'string' ? await item(value) : await Promise.all(value.map(item));
    for (const text of [resolved[field.key]].flat())
      if (isSymbol(field, String(text), typed)) throw await refuseSymbol(field, String(text), typed, known);
  }
  return resolved;
}

async function refuseSymbol({ label }: Field, text: string, { chain }: TypedInput, { tokens }: KnownNames) {
  const [first, ...others] = await tokens(text, String(chain));
  const meant =
    first === undefined
      ? 'Give its contract address or mint: lists of positions show it with --columns tokenAddress.'
      : others.length === 0
        ? `${text} on ${chain} is ${first}.`
        : `Several have this symbol: ${[first, ...others].slice(0, 5).join(', ')}.`;
  return usageError(`${label} ${text}: not the address of a token on ${chain}`, meant);
}

/** What a name, a rank or a shortened address stands for; other text as it is. Errors: as in `resolveAliases`. */
async function resolveIdentifier(
  field: Pick<Field, 'label' | 'identifier'>,
  text: string,
  known: KnownNames,
): Promise<string> {
  const { label } = field;
  if (text.startsWith('@')) return findAlias(field, text, known);
  const [, start, end] = shortened.exec(text) ?? [];
  if (start !== undefined && end !== undefined) return findShortened(`${label} ${text}`, { start, end }, known);
  if (!takesTrader(field)) return text;
  const [, place] = /^#(\d+)$/.exec(text) ?? [];
  if (place !== undefined) {
    const found = await known.ranked(Number(place));
    if (found) return found;
    throw usageError(
      `${label} ${text}: the last leaderboard in the history has no such place`,
      'Show one with sotra leaderboard list; a place of the board of the sandbox needs --sandbox. With SOTRA_HISTORY=0 no board is remembered.',
    );
  }
  if (isReference(text)) return text;
  const [first = text, ...others] = await known.named(text);
  if (others.length === 0) return first;
  throw usageError(
    `${label} ${text}: ${others.length + 1} have this name: ${[first, ...others].slice(0, 5).join(', ')}`,
    'Give the address of the one you mean.',
  );
}

/** Whether a text is one of our own references (an address, an id, a place, a saved name), whoever is called so. */
export function isReference(text: string): boolean {
  return whole.test(text) || shortened.test(text) || /^(?:[#@]|0x|ext:)/i.test(text.trim());
}

async function findShortened(
  label: string,
  part: { start: string; end: string },
  { find }: KnownNames,
): Promise<string> {
  const [first, ...others] = await find(part);
  if (first !== undefined && others.length === 0) return first;
  throw usageError(
    `${label}: is shortened, and ${first === undefined ? 'no known address' : 'more than one known address'} fits it`,
    'Give the whole address: --json shows it.',
  );
}

/** What a saved name (with its `@`) stands for, else who has it as a handle. Errors: `usage` for an unknown one. */
async function findAlias(
  field: Pick<Field, 'label' | 'identifier'>,
  name: string,
  { aliases, named }: KnownNames,
): Promise<string> {
  const found = Object.hasOwn(aliases, name.slice(1)) ? aliases[name.slice(1)] : undefined;
  if (found !== undefined) return found;
  const near = nearest(name.slice(1), Object.keys(aliases));
  const [handle, ...others] = near === undefined && takesTrader(field) ? await named(name.slice(1)) : [];
  if (handle !== undefined && others.length === 0) return handle;
  throw usageError(
    `${field.label} ${name}: no such alias`,
    near === undefined ? command`Save it first: sotra alias set ${name} <identifier>.` : `Did you mean @${near}?`,
  );
}
