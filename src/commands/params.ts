import { Argument, Option } from 'commander';
import { parseDuration } from '../api/duration.ts';
import { flagName, local, type Param } from '../api/endpoint.ts';
import { matching } from '../api/formats.ts';
import { boolean, describeKind, formatted, integer, itemOf, listOf, optional, parsed, text } from '../api/kind.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { usageError } from '../errors.ts';

/** The option of a parameter. It collects what was typed; `readInput` checks it. */
export class ParamOption extends Option {
  readonly key: string;
  readonly param: Param;

  constructor(flags: string, key: string, param: Param) {
    super(flags, describeParam(param));
    this.key = key;
    this.param = param;
    this.conflicts([...(param.conflicts ?? [])]);
    if (param.kind.type === 'list') this.argParser((typed: string, before: string[] = []) => [...before, typed]);
    else if (param.kind.type !== 'boolean') this.argParser(singleValue(`--${flagName(key, param)}`, (typed) => typed));
  }

  /** The key of the parameter, which is not always its flag in camelCase. */
  override attributeName(): string {
    return this.key;
  }
}

/** The argument of a parameter. */
export class ParamArgument extends Argument {
  readonly key: string;
  readonly param: Param;

  constructor(key: string, param: Param) {
    const name = `${flagName(key, param)}${param.kind.type === 'list' ? '...' : ''}`;
    super(param.kind.optional ? `[${name}]` : `<${name}>`, describeParam(param));
    this.key = key;
    this.param = param;
  }
}

/** The options of a parameter: of one that can be sent as false there are two, as for `--only-with-comments`. */
export function createOptions(key: string, param: Param): Option[] {
  const flag = `--${flagName(key, param)}`;
  const flags = param.short === undefined ? flag : `-${param.short}, ${flag}`;
  if (param.kind.type !== 'boolean')
    return [
      new ParamOption(`${flags} <${nameValue(key, param)}>`, key, param).makeOptionMandatory(!param.kind.optional),
    ];
  const negated = new ParamOption(flag.replace('--', '--no-'), key, param).hideHelp();
  return [new ParamOption(flags, key, param), ...(param.location === 'local' ? [] : [negated])];
}

/** A parser of an option that takes one value. Errors: `usage` if it is given twice with different values, one of which would be ignored. */
export function singleValue<T>(flag: string, parse: (typed: string) => T) {
  return (typed: string, before: T | undefined): T => {
    const value = parse(typed);
    if (before === undefined || JSON.stringify(before) === JSON.stringify(value)) return value;
    const both = typeof value === 'string' ? hideUrlSecrets(`: ${before} and ${value}`) : ', with different values';
    throw usageError(`${flag} is given twice${both}`, 'It takes one value: omit the other.');
  };
}

/** How messages call a parameter: `--limit` or `<address>`. */
export function labelOf(key: string, param: Param): string {
  const flag = flagName(key, param);
  if (!param.positional) return `--${flag}`;
  return param.kind.type === 'list' ? `<${flag}...>` : `<${flag}>`;
}

/** What of the service a parameter names: `trader` also accepts a saved name, a stored key or a row of the last board. */
export function identifies({ kind, takesAddress }: Param): 'trader' | 'token' | undefined {
  if (takesAddress !== undefined) return takesAddress === 'wallet' ? 'trader' : 'token';
  const item = itemOf(kind);
  return item.type === 'text' && item.format?.isTrader ? 'trader' : undefined;
}

/** `how many traders: a whole number from 1 to 250 (service default: 50)`. */
function describeParam({ kind, help, positional, serviceDefault, noCommaSplit }: Param): string {
  const item = itemOf(kind);
  const isFreeText = item.type === 'text' && item.maxLength === undefined;
  const saysNothing = isFreeText || item.type === 'boolean' || item.type === 'parsed';
  const allowed = saysNothing ? '' : `: ${describeKind(kind)}`;
  const byDefault = serviceDefault === undefined ? '' : ` (service default: ${serviceDefault})`;
  const repeated = kind.type === 'list' && noCommaSplit && !positional ? ' (repeatable)' : '';
  const required = kind.optional || positional ? '' : ' (required)';
  return `${help}${allowed}${byDefault}${repeated}${required}`;
}

/** How help calls the value of an option: `n`, `file`, `address,...`. */
function nameValue(key: string, param: Param): string {
  const { kind, noCommaSplit, valueName } = param;
  const { type } = itemOf(kind);
  const isNumber = type === 'integer' || type === 'number';
  const byKind = type === 'json' ? 'json' : isNumber ? 'n' : identifies(param) === 'trader' ? 'address' : undefined;
  const lastWord =
    flagName(key, param)
      .split('-')
      .at(-1)
      ?.replace(/(?<=ss)es$|(?<![su])s$/, '') ?? '';
  const one = byKind ?? valueName ?? lastWord;
  return kind.type === 'list' && !noCommaSplit ? `${one},...` : one;
}

type ParamSettings = Parameters<typeof local>[2];

/** Parameters of commands, which are never sent and not required. */
export const option = {
  text: (help: string, more?: ParamSettings) => local(optional(text()), help, more),
  texts: (help: string, more?: ParamSettings) => local(optional(listOf(text())), help, more),
  flag: (help: string, more?: ParamSettings) => local(optional(boolean()), help, more),
  /** A whole number. */
  count: (min: number, max: number, help: string) => local(optional(integer(min, max)), help),
  /** A text that fits; `rule` says what it must be. */
  checked: (help: string, fits: (text: string) => boolean, rule: string, more?: ParamSettings) =>
    local(optional(formatted(matching(fits, rule))), help, more),
  /** The same for a list. */
  checkedTexts: (help: string, fits: (text: string) => boolean, rule: string, more?: ParamSettings) =>
    local(optional(listOf(formatted(matching(fits, rule)))), help, more),
  /** A path. */
  file: (help: string, more?: ParamSettings) => option.text(help, { valueName: 'file', ...more }),
  /** A text that `parse` reads; `rule` says what it must be. */
  parsed: <V extends number | object>(
    help: string,
    parse: (text: string) => V | undefined,
    rule: string,
    more?: ParamSettings,
  ) => local(optional(parsed(parse, rule)), help, more),
  /** A duration such as these, in milliseconds. */
  duration: (help: string, such: string, more?: ParamSettings) =>
    option.parsed(help, parseDuration, `must be a time such as ${such}`, { valueName: 'duration', ...more }),
};

export const db = option.file('database file (default: the one of the sandbox at the base URL, else the built-in one)');

const maxShownLength = 200;

/** What was typed, for an error: in quotes if it is empty or has spaces at its ends; of a long text only its length. */
export function showTyped(text: string): string {
  if (text.length > maxShownLength) return `(${[...text].length} characters)`;
  return text === '' || text.trim() !== text ? JSON.stringify(text) : text;
}

/** The items of `a,b`. Errors: `usage` for an empty one, with the whole text. */
export function splitList(text: string, label: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.every((item) => item !== '')) return items;
  if (items.length === 1) throw usageError(`${label}: is empty`);
  throw usageError(`${label} ${showTyped(text)}: has an empty item`, 'Separate items with one comma: a,b.');
}

/** The two sides of `name=value`. */
export function splitPair(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}
