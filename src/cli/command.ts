import { z } from 'zod';
import type { Context } from '../context.ts';
import { type Example, type InputOf, local, type Param, type Params } from '../contract/endpoint.ts';
import type { Kind } from '../contract/kind.ts';
import { readKind } from '../contract/read-kind.ts';
import { hourMs, parseDuration } from '../model/duration.ts';
import { isHttpAddress, suggestScheme } from '../model/http-address.ts';
import { defined } from '../model/json.ts';
import type { AnyView } from '../output/view.ts';
import type { Field, KnownCommands, Outline, Use } from './outline.ts';

export type Result =
  /** `text` is the JSON exactly as received. */
  | (ChartOption & {
      kind: 'answer';
      answer: unknown;
      text?: string;
      view?: AnyView;
      notes?: readonly string[];
      exitCode?: number;
    })
  /** Printed as they come; `live`: each batch at once, also on a terminal. */
  | (ChartOption & { kind: 'items'; batches: AsyncIterable<readonly unknown[]>; view: AnyView; live?: boolean })
  | { kind: 'text'; text: string }
  | { kind: 'none'; exitCode?: number };

interface ChartOption {
  chart?: boolean;
}

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
  const kind = readKind(param.schema);
  const flag = param.flag ?? kebabCase(key);
  const { positional, short, whole, serviceDefault, help } = param;
  const identifier = param.takesAddress === 'token' ? 'token' : takesIdentifier(kind, param) || undefined;
  const argument = kind.list ? `<${flag}...>` : `<${flag}>`;
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

/** The flag of an input, without dashes. */
export function kebabCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const anAddress = '0x0000000000000000000000000000000000000001';

function takesIdentifier(kind: Kind, param: Param): boolean {
  if (param.takesAddress === 'wallet') return true;
  if (kind.type !== 'text') return false;
  const takes = (text: string) => param.schema.safeParse(kind.list ? [text] : text).success;
  return takes(anAddress) && !takes('@name') && !takes('name');
}

type ParamOptions = Parameters<typeof local>[2];

const text = z.string().min(1).optional();
const texts = z.array(z.string().min(1)).optional();
const flag = z.boolean().optional();

/** Inputs that no command requires, and that are never sent. */
export const option = {
  text: (help: string, more?: ParamOptions) => local(text, help, more),
  texts: (help: string, more?: ParamOptions) => local(texts, help, more),
  flag: (help: string) => local(flag, help),
  /** A whole number. */
  count: (min: number, max: number, help: string) => local(z.int().min(min).max(max).optional(), help),
  /** A text that fits; `rule` says what it must be. */
  checked: (help: string, fits: (text: string) => boolean, rule: string, more?: ParamOptions) =>
    local(z.string().refine(fits, rule).optional(), help, more),
  /** A time such as these. */
  duration: (help: string, such: string) => option.checked(help, isDuration, `must be a time such as ${such}`),
};

export const isDuration = (text: string) => parseDuration(text) !== undefined;

export const httpAddress = z.string().refine(isHttpAddress, {
  error: ({ input }) => `must be an http or https address${suggestScheme(String(input))}`,
});

const [minEveryMs, maxEveryMs] = [100, hourMs];

/** A flag that takes an interval. */
export const intervalParam = (help: string) =>
  option.checked(help, isInterval, 'must be a time from 100ms to 1h, such as 5s');

function isInterval(text: string): boolean {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= minEveryMs && ms <= maxEveryMs;
}

export const readInterval = (watch: string): number => parseDuration(watch) ?? minEveryMs;
