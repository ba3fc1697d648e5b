import { tokenProblem } from '../api/address.ts';
import { isKnownChain } from '../api/chain.ts';
import { checkParam, type Param, type Params } from '../api/endpoint.ts';
import { checkValue, itemOf, type Problem, parseText, unknownChoices } from '../api/kind.ts';
import { nearest } from '../api/nearest.ts';
import type { KnownNames } from '../calls/known-names.ts';
import { command } from '../client/shell.ts';
import { missingInputs, usageError } from '../errors.ts';
import { lazy } from '../lib/io.ts';
import { identifies, labelOf, showTyped, splitList } from './params.ts';

/** What was typed, by the keys of parameters: texts, or true and false of flags. */
export type TypedInput = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

interface ReadOptions {
  /** Keys of which at least one must be given. */
  requireAnyOf?: readonly (readonly string[])[];
  /** A right line of the command. */
  example?: string | undefined;
  /** Called if something other than an identifier was typed. */
  findNames: () => Promise<KnownNames>;
  warn: (text: string) => void;
}

/**
 * The checked input. Lists accept repeated options and commas, `null` clears a nullable value; aliases, names and rows are replaced by
 * addresses. Errors: `usage` naming the option, the value and what is allowed.
 */
export async function readInput(
  params: Params,
  typed: TypedInput,
  { requireAnyOf = [], example, findNames, warn }: ReadOptions,
): Promise<Record<string, unknown>> {
  checkAnyOf(params, requireAnyOf, typed, example);
  checkNeeds(params, typed);
  const names = lazy(findNames);
  const input: Record<string, unknown> = {};
  for (const [key, param] of Object.entries(params)) {
    const label = labelOf(key, param);
    const resolve = (text: string) => resolveName(label, param, text, names);
    const value = await readValue(label, param, typed[key], resolve);
    const problem = checkParam(param, value);
    if (problem !== undefined) throw hintForOrder(params, key, typed) ?? refuseValue(label, param, problem);
    if (value === undefined) continue;
    input[key] = value;
    warnOfUnknown(label, param, value, warn);
    warnOfUnsentItems(label, param, value, warn);
  }
  checkTokens(params, input);
  return input;
}

/** Errors: `usage` naming all that is missing. */
function checkAnyOf(
  params: Params,
  requireAnyOf: readonly (readonly string[])[],
  typed: TypedInput,
  example: string | undefined,
): void {
  const missing = requireAnyOf
    .filter((keys) => keys.every((key) => typed[key] === undefined))
    .map((keys) => {
      const either = keys.flatMap((key) => (params[key] === undefined ? [] : [{ key, param: params[key] }]));
      const labels = either.map(({ key, param }) => labelOf(key, param));
      return {
        label: labels.length === 2 ? labels.join(' or ') : `one of ${labels.join(', ')}`,
        help: [...new Set(either.map(({ param }) => param.help))].join('; '),
      };
    });
  if (missing.length > 0) throw missingInputs(missing, example && `For example: sotra ${example}`);
}

/** Errors: `usage` for an option without the one that it belongs to. */
function checkNeeds(params: Params, typed: TypedInput): void {
  for (const [key, param] of Object.entries(params)) {
    const { needs } = param;
    const needed = needs === undefined ? undefined : params[needs];
    if (needs === undefined || needed === undefined || typed[key] === undefined || typed[needs] !== undefined) continue;
    const [label, other] = [labelOf(key, param), labelOf(needs, needed)];
    throw usageError(`${label} needs ${other}: ${needed.help}`, `Add ${other}, or omit ${label}.`);
  }
}

async function readValue(
  label: string,
  param: Param,
  typed: TypedInput[string],
  resolve: (text: string) => Promise<string>,
): Promise<unknown> {
  const { kind } = param;
  if (typed === undefined || typeof typed === 'boolean') return typed;
  if (kind.nullable && typed === 'null') return null;
  const readText = async (text: string) => {
    const resolved = await resolve(text);
    requireHexPrefix(label, param, resolved);
    return parseText(itemOf(kind), resolved);
  };
  if (kind.type !== 'list') return readText(String(typed));
  const keepsCommas = param.noCommaSplit === true || kind.item.type === 'json';
  const texts = [typed].flat().flatMap((text) => (keepsCommas ? [text.trim()] : splitList(text, label)));
  return Promise.all(texts.map(readText));
}

/** Errors: `usage` for an EVM address without 0x, which is short enough to pass for one of Solana. */
function requireHexPrefix(label: string, param: Param, text: string): void {
  const [bare, digits] = /^(?:0X)?([\da-fA-F]{40})$/.exec(text) ?? [];
  if (bare !== undefined && identifies(param) !== undefined)
    throw usageError(`${label} ${text}: must begin with 0x`, `Did you mean 0x${digits}?`);
}

function refuseValue(label: string, param: Param, { value, message }: Problem) {
  const text = Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value);
  const words = listChoices(param).filter((each) => Number.isNaN(Number(each)));
  const meant = nearest(text, words) ?? findInUrl(text) ?? findNumber(param, text);
  const hint = meant === undefined ? hintForName(param, text) : `Did you mean ${meant}?`;
  return usageError(`${label} ${showTyped(text)}: ${message}`, hint);
}

/** The identifier or hash in a URL, such as the one of a page in a block explorer. */
function findInUrl(text: string): string | undefined {
  const parts = /^https?:/.test(text) ? text.split(/[/?#=&]/) : [];
  return parts.find((part) => identifier.test(part) || /^0x[\da-f]{64}$/i.test(part));
}

/** The number in `$1,000` or `1M`. */
function findNumber(param: Param, text: string): string | undefined {
  const digits = text.replace(/^\$|_|,(?=\d{3}\b)/g, '');
  const plain = digits.replace(/(?<=^\d+)k$/i, '000').replace(/(?<=^\d+)m$/i, '000000');
  const item = itemOf(param.kind);
  const isNumber = /^(integer|number)$/.test(item.type) && checkValue(item, parseText(item, plain)) === undefined;
  return isNumber || listChoices(param).includes(plain) ? plain : undefined;
}

/** The error for two arguments that were swapped: `usage` with the right order. */
function hintForOrder(params: Params, key: string, typed: TypedInput) {
  const places = Object.entries(params).filter(([, { positional }]) => positional);
  const param = places.find(([name]) => name === key)?.[1];
  const allows = (each: Param, name: string) => listChoices(each).includes(String(typed[name]));
  const isSwapped = places.some(([name, each]) => name !== key && param && (allows(each, key) || allows(param, name)));
  if (!isSwapped) return undefined;
  const labels = places.map(([name, each]) => labelOf(name, each)).join(' ');
  return usageError(`${typed[key]} is in the wrong place`, `The order is ${labels}.`);
}

function hintForName(param: Param, text: string): string | undefined {
  const isName = /^(?!0x)[\p{L}\p{N}][\p{L}\p{N} ._:-]*$/u.test(text) && !identifier.test(text);
  if (!isName || identifies(param) !== 'trader') return undefined;
  if (/\.eth$/i.test(text)) return 'ENS names are not looked up: give the address, 0x and 40 hex digits.';
  return 'Commands that read also take a name or row (#3) of the last board (sotra leaderboard list); sotra alias set saves a name for all commands.';
}

/** The choices of a parameter, as they are typed. */
export function listChoices({ kind }: Pick<Param, 'kind'>): readonly string[] {
  const item = itemOf(kind);
  return item.type === 'choice' ? item.choices.map(String) : [];
}

/** The interface document does not list every chain: another is passed through unchanged. */
function warnOfUnknown(label: string, param: Param, value: unknown, warn: (text: string) => void): void {
  if (param.location === 'local') return;
  const choices = listChoices(param);
  for (const unknown of unknownChoices(param.kind, value)) {
    const near = nearest(unknown, choices);
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    warn(`${label} ${unknown} is passed through unchanged; known: ${choices.join(', ')}.${meant}`);
  }
}

function warnOfUnsentItems(label: string, { kind }: Param, value: unknown, warn: (text: string) => void): void {
  const first = kind.type === 'list' ? kind.keepFirst : undefined;
  if (first === undefined || !Array.isArray(value) || value.length <= first) return;
  warn(`${label}: the service uses the first ${first} only; ${value.length - first} of ${value.length} are not sent`);
}

/** Errors: `usage` for a token that cannot be one of its chain. */
function checkTokens(params: Params, input: Readonly<Record<string, unknown>>): void {
  const { chain } = input;
  // A chain that the document does not name may have other tokens than addresses.
  if (typeof chain !== 'string' || chain === 'hyperliquid' || !isKnownChain(chain)) return;
  for (const [key, param] of Object.entries(params)) {
    const token = input[key];
    if (identifies(param) !== 'token' || typeof token !== 'string') continue;
    const label = labelOf(key, param);
    if (/^\$?[A-Za-z][\w.-]{0,19}$/.test(token))
      throw usageError(
        `${label} ${token}: not the address of a token on ${chain}`,
        'Give its contract address or mint: lists of positions show it with --columns tokenAddress.',
      );
    const message = tokenProblem(chain, token);
    if (message !== undefined) throw refuseValue(label, param, { value: token, message });
  }
}

/** An identifier as the service takes it. */
const identifier = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|[0-9a-fA-F-]{36}|ext:.+)$/;

/** An address as tables shorten it: `0x1234…cdef`, also with three dots. */
const shortened = /^(0x[0-9a-f]{4}|[1-9A-HJ-NP-Za-km-z]{4})(?:…|\.\.\.)([0-9a-z]{4})$/i;

/** Whether a text is an address, an id, a row or an alias, even if a trader has that name. */
export function isReference(text: string): boolean {
  return identifier.test(text) || shortened.test(text) || /^(?:[#@]|0x|ext:)/i.test(text.trim());
}

/** What was typed, or what an alias, a stored key, a row or a name on the last board means. Errors: `usage` for an unknown or ambiguous one. */
async function resolveName(
  label: string,
  param: Param,
  typed: string,
  findNames: () => Promise<KnownNames>,
): Promise<string> {
  const named = identifies(param);
  if (named === undefined) return typed;
  const text = typed.trim();
  const isCoin = named === 'token' && /^@\d+$/.test(text);
  if (text.startsWith('@') && !isCoin) return requireAlias(text, (await findNames()).aliases, label);
  if (named === 'token') return text;
  const [, row] = /^#(\d+)$/.exec(text) ?? [];
  if (row !== undefined) return findRow(label, text, Number(row), await findNames());
  if (isReference(text)) return text;
  const names = await findNames();
  const alias = Object.hasOwn(names.aliases, text) ? names.aliases[text] : undefined;
  const own = [alias, await names.findKey(text)].flatMap((each) => each ?? []);
  const found = [...new Set([...own, ...(names.takesBoard ? await names.findNamed(text) : [])])];
  const [first] = found;
  if (found.length > 1)
    throw usageError(
      `${label} ${text}: ${found.length} have this name: ${found.slice(0, 5).join(', ')}`,
      'Give the address of the one you mean.',
    );
  if (first !== undefined) names.tell(text, first);
  return first ?? text;
}

/** The identifier of an alias. Errors: `usage` for an unknown one; `label` is where it was typed, such as `--token`. */
export function requireAlias(name: string, aliases: KnownNames['aliases'] = {}, label = 'alias'): string {
  const found = Object.hasOwn(aliases, name.slice(1)) ? aliases[name.slice(1)] : undefined;
  if (found !== undefined) return found;
  const near = nearest(name.slice(1), Object.keys(aliases));
  throw usageError(
    `${label} ${name}: no such alias`,
    near === undefined
      ? command`See sotra alias list, or save it: sotra alias set ${name} <identifier>.`
      : `Did you mean @${near}?`,
  );
}

async function findRow(label: string, typed: string, row: number, names: KnownNames): Promise<string> {
  if (!names.takesBoard)
    throw usageError(
      `${label} ${typed}: a command that changes or sends something takes no row of a board`,
      'Give an address, an id, an alias (@name) or the name of a stored key.',
    );
  const found = await names.findRow(row);
  if (!found)
    throw usageError(
      `${label} ${typed}: the last board of this service has no such row`,
      'Show one with sotra leaderboard list; a row of the board of the sandbox needs --sandbox. With SOTRA_HISTORY=0 no board is remembered.',
    );
  names.tell(typed, found);
  return found;
}
