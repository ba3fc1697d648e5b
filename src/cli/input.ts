import { checkParam } from '../contract/endpoint.ts';
import { itemOf, type Problem, parseText, unknownChoices } from '../contract/kind.ts';
import { missingInputs, usageError } from '../errors.ts';
import { isKnownChain } from '../model/chain.ts';
import { splitList } from '../model/list.ts';
import { nearest } from '../model/nearest.ts';
import { command } from '../model/shell.ts';
import type { Command } from './command.ts';
import type { Field, Outline, TypedInput } from './outline.ts';

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
function requireInputs(
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

function checkTyped(
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
  if (kind.type !== 'list') {
    refuseBareHex(field, String(typed));
    return parseText(kind, String(typed));
  }
  const isWhole = field.whole === true || kind.item.type === 'json';
  const items = [typed].flat().flatMap((text) => (isWhole ? [text.trim()] : splitList(text, label)));
  for (const item of items) refuseBareHex(field, item);
  return items.map((item) => parseText(kind, item));
}

/** Errors: `usage` for an EVM address without 0x, which is short enough to pass for one of Solana. */
function refuseBareHex({ label, identifier }: Field, text: string): void {
  const [bare, digits] = /^(?:0X)?([\da-fA-F]{40})$/.exec(text) ?? [];
  if (identifier !== undefined && bare !== undefined)
    throw usageError(`${label} ${text}: must begin with 0x`, `Did you mean 0x${digits}?`);
}

export function refuseValue(field: Field, { value, message }: Problem) {
  const text = typeof value === 'string' ? value : formatTyped(value);
  const shown = text.length > maxShownLength ? `(${[...text].length} characters)` : text;
  const near = typeof value === 'string' ? nearest(value, listChoices(field)) : undefined;
  const isName = takesTrader(field) && /^(?!0x)[\p{L}\p{N}][\p{L}\p{N} ._:-]*$/u.test(text) && !whole.test(text);
  const known = isName
    ? /\.eth$/i.test(text)
      ? 'ENS names are not looked up: give the address, 0x and 40 hex digits.'
      : 'In commands that read, a name on the last board works (sotra leaderboard list). sotra alias set saves a name for all commands.'
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

/** Whether the field takes a trader, and so the name of an alias or a key, or a name or a row (`#3`) of the last board. */
const takesTrader = ({ identifier }: Pick<Field, 'identifier'>) => identifier === true;

/** Whether tokens of a chain are known by addresses; a chain that the document does not name may have others. */
export function hasTokenAddresses(chain: unknown): chain is string {
  return typeof chain === 'string' && chain !== 'hyperliquid' && isKnownChain(chain);
}

/** Whether the symbol of a token was typed, on a chain where tokens have addresses. */
function isSymbol({ identifier }: Field, text: string, { chain }: TypedInput): boolean {
  return identifier === 'token' && hasTokenAddresses(chain) && /^\$?[A-Za-z][\w.-]{0,19}$/.test(text);
}

/** Whether something other than an address or an id may have been typed: an alias, a symbol, or a name or a row of the last board. */
export function mentionsAlias(fields: readonly Field[], typed: TypedInput): boolean {
  const isShort = (field: Field, text: string) =>
    /(^|,)@/.test(text) ||
    isSymbol(field, text, typed) ||
    (takesTrader(field) && text.split(',').some((part) => !whole.test(part.trim())));
  const holdsOne = (field: Field) =>
    [typed[field.key]].flat().some((text) => typeof text === 'string' && isShort(field, text));
  return fields.some((field) => field.identifier !== undefined && holdsOne(field));
}

/** Whether a command only reads: then it takes a name or a row of the last board. */
export function isReading({ endpoint, uses }: Pick<Outline, 'endpoint' | 'uses'>): boolean {
  return endpoint === undefined ? !uses.includes('changes') : endpoint.method === 'GET';
}

export interface KnownNames {
  aliases: Readonly<Record<string, string>>;
  /** Whether the command takes names and rows of the last board. */
  takesBoard: boolean;
  /** The address of a stored key. */
  findKey: (name: string) => Promise<string | undefined>;
  /** The addresses of the traders on the last board with this name. */
  findNamed: (name: string) => Promise<readonly string[]>;
  /** The address of a row of the last board, counted from 1. */
  findRow: (row: number) => Promise<string | undefined>;
  /** Told what a name or a row stands for. */
  tell: (typed: string, identifier: string) => void;
}

/**
 * What was typed, with aliases, names and rows replaced in the inputs that accept an identifier. Errors: `usage` for an unknown alias, a row that
 * is not there, a name that several have, and the symbol of a token in place of its address.
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
      if (isSymbol(field, String(text), typed))
        throw usageError(
          `${field.label} ${text}: not the address of a token on ${typed['chain']}`,
          'Give its contract address or mint: lists of positions show it with --columns tokenAddress.',
        );
  }
  return resolved;
}

/** What an alias, a name or a row stands for; other text as it is. Errors: as in `resolveAliases`. */
async function resolveIdentifier(
  field: Pick<Field, 'label' | 'identifier'>,
  text: string,
  known: KnownNames,
): Promise<string> {
  const { label } = field;
  if (text.startsWith('@')) return findAlias(label, text, known);
  if (!takesTrader(field)) return text;
  const [, row] = /^#(\d+)$/.exec(text) ?? [];
  if (row !== undefined) return findRow(`${label} ${text}`, text, Number(row), known);
  if (isReference(text)) return text;
  const own = [Object.hasOwn(known.aliases, text) ? known.aliases[text] : undefined, await known.findKey(text)];
  const named = known.takesBoard ? await known.findNamed(text) : [];
  const found = [...new Set([...own.flatMap((each) => each ?? []), ...named])];
  const [first] = found;
  if (found.length > 1)
    throw usageError(
      `${label} ${text}: ${found.length} have this name: ${found.slice(0, 5).join(', ')}`,
      'Give the address of the one you mean.',
    );
  if (first !== undefined) known.tell(text, first);
  return first ?? text;
}

async function findRow(label: string, typed: string, row: number, known: KnownNames): Promise<string> {
  if (!known.takesBoard)
    throw usageError(
      `${label}: a command that changes or sends something takes no row of a board`,
      'Give an address, an id, an alias (@name) or the name of a stored key.',
    );
  const found = await known.findRow(row);
  if (!found)
    throw usageError(
      `${label}: the last board in the history has no such row`,
      'Show one with sotra leaderboard list; a row of the board of the sandbox needs --sandbox. With SOTRA_HISTORY=0 no board is remembered.',
    );
  known.tell(typed, found);
  return found;
}

/** Whether a text is one of our own references (an address, an id, a place, a saved name), whoever is called so. */
export function isReference(text: string): boolean {
  return whole.test(text) || shortened.test(text) || /^(?:[#@]|0x|ext:)/i.test(text.trim());
}

/** What an alias (with its `@`) stands for. Errors: `usage` for an unknown one. */
function findAlias(label: string, name: string, { aliases }: KnownNames): string {
  const found = Object.hasOwn(aliases, name.slice(1)) ? aliases[name.slice(1)] : undefined;
  if (found !== undefined) return found;
  const near = nearest(name.slice(1), Object.keys(aliases));
  throw usageError(
    `${label} ${name}: no such alias`,
    near === undefined ? command`Save it first: sotra alias set ${name} <identifier>.` : `Did you mean @${near}?`,
  );
}
