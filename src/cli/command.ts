import type { Context } from '../context.ts';
import { type Example, flagName, type InputOf, local, type Param, type Params } from '../contract/endpoint.ts';
import { fitting } from '../contract/formats.ts';
import {
  boolean,
  checkValue,
  formatted,
  integer,
  itemOf,
  type Kind,
  listOf,
  optional,
  text,
} from '../contract/kind.ts';
import { hourMs, parseDuration } from '../model/duration.ts';
import { defined } from '../model/json.ts';
import type { Result } from '../output/result.ts';
import type { AnyView } from '../output/view.ts';
import type { Field, KnownCommands, Outline, Use } from './outline.ts';

export type { Result };

export interface Command {
  words: readonly string[];
  summary: string;
  description?: string;
  params: Params;
  /** Keys of params of which at least one is required. */
  oneOf?: readonly (readonly string[])[];
  endpoint?: NonNullable<Outline['endpoint']>;
  examples: readonly Example[];
  uses: readonly Use[];
  /** Beyond 0, 1, 2 and 130. */
  exitCodes: readonly number[];
  view?: () => Promise<AnyView>;
  /** Describes what cannot be undone, such as `delete webhook 2f1d`: it must be confirmed first. */
  confirms?: (input: never) => string;
  run: (input: never, context: Context) => Promise<Result>;
}

export function defineCommand<P extends Params>(
  command: Omit<Command, 'run' | 'params' | 'oneOf'> & {
    params: P;
    oneOf?: readonly (readonly (keyof P & string)[])[];
    run: (input: InputOf<P>, context: Context) => Promise<Result>;
  },
): Command {
  return command as Command;
}

export interface Program extends KnownCommands {
  load: (outline: Outline) => Promise<Command>;
}

export async function outlineCommand(command: Command): Promise<Outline> {
  const { words, summary, description, endpoint, params, examples, exitCodes, uses, view } = command;
  const columns = (await view?.())?.columns ?? [];
  return {
    words,
    summary,
    ...defined({ description, endpoint }),
    examples,
    exitCodes,
    uses,
    fields: Object.entries(params).map(([key, param]) => outlineField(key, param)),
    columns: columns.map(({ key, help, extra }) => ({ key, help, ...(extra && { extra }) })),
  };
}

function outlineField(key: string, param: Param): Field {
  const { kind } = param;
  const flag = flagName(key, param);
  const { positional, short, whole, serviceDefault, help } = param;
  const identifier = param.takesAddress === 'token' ? 'token' : takesIdentifier(kind, param) || undefined;
  const argument = kind.type === 'list' ? `<${flag}...>` : `<${flag}>`;
  return {
    key,
    label: positional ? argument : `--${flag}`,
    flag,
    kind,
    help,
    source: param.place === 'local' ? 'local' : param.source,
    ...(positional && { positional }),
    ...defined({ short }),
    ...(whole && { whole }),
    ...defined({ identifier, serviceDefault }),
  };
}

const anAddress = '0x0000000000000000000000000000000000000001';

function takesIdentifier(kind: Kind, param: Param): boolean {
  if (param.takesAddress === 'wallet') return true;
  const item = itemOf(kind);
  if (item.type !== 'text') return false;
  const takes = (typed: string) => checkValue(item, typed) === undefined;
  return takes(anAddress) && !takes('@name') && !takes('name');
}

type ParamOptions = Parameters<typeof local>[2];

/** Inputs that no command requires, and that are never sent. */
export const option = {
  text: (help: string, more?: ParamOptions) => local(optional(text()), help, more),
  texts: (help: string, more?: ParamOptions) => local(optional(listOf(text())), help, more),
  flag: (help: string) => local(optional(boolean()), help),
  /** A whole number. */
  count: (min: number, max: number, help: string) => local(optional(integer(min, max)), help),
  /** A text that fits; `rule` says what it must be. */
  checked: (help: string, fits: (text: string) => boolean, rule: string, more?: ParamOptions) =>
    local(optional(formatted(fitting(fits, rule))), help, more),
  /** A time such as these. */
  duration: (help: string, such: string) => option.checked(help, isDuration, `must be a time such as ${such}`),
};

export const isDuration = (text: string) => parseDuration(text) !== undefined;

const [minEveryMs, maxEveryMs] = [100, hourMs];

/** A flag that takes an interval. */
export const intervalParam = (help: string) =>
  option.checked(help, isInterval, 'must be a time from 100ms to 1h, such as 5s');

function isInterval(text: string): boolean {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= minEveryMs && ms <= maxEveryMs;
}

export const readInterval = (watch: string): number => parseDuration(watch) ?? minEveryMs;
