import type { Command, Program } from '../cli/command.ts';
import { checkInput, mentionsAlias, requireInputs, resolveAliases, warnOfUnknown } from '../cli/input.ts';
import type { Field, Outline } from '../cli/outline.ts';
import type { Context } from '../context.ts';
import type { Paging } from '../contract/endpoint.ts';
import { readItem } from '../contract/kind.ts';
import { SotraError, seeHelp, usageError } from '../errors.ts';
import { nextInput } from '../http/paginate.ts';
import { namesKnownTo } from '../log/known-addresses.ts';
import { endpoints } from '../resources/index.ts';
import { answerOf, chosen as chosenColumns } from './answer.ts';
import { defaultRows, type Tool, type ToolAnswer, type ToolCall } from './tool.ts';

type Values = Readonly<Record<string, unknown>>;

interface CommandTool {
  outline: Outline;
  fields: readonly Field[];
  /** Shown unless others are chosen. */
  columns: readonly string[] | undefined;
}

/** The answer of a command to the inputs of its tool. Errors: `usage`; those of the command, with inputs in the place of flags. */
export const runCommand = (tool: CommandTool, input: Values, call: ToolCall): Promise<ToolAnswer> =>
  namingInputs(tool, (given, made) => answerTo(tool, given, made))(input, call);

async function answerTo(
  { outline, fields, columns: usual }: CommandTool,
  given: Values,
  { context, notes }: ToolCall,
): Promise<ToolAnswer> {
  const command = await commandOf(outline, context);
  const { fields: chosen, limit = defaultRows, ...typed } = given;
  const isPaged = fields.some(({ key }) => key === 'limit');
  const view = await command.view?.();
  const named = columnNames(chosen);
  // Before anything is asked.
  if (view !== undefined) chosenColumns(view, named);
  const values = await checkedValues(fields, command, isPaged ? { ...typed, limit } : typed, context);
  warnOfUnknown(fields, values, context.warn);
  const maxRows = isPaged ? Number(values['limit']) : rowCount(limit);
  const paging = pagingOf(outline);
  // One more tells whether there is more.
  const isOurs = outline.endpoint === undefined && isPaged;
  // What a cursor or page would skip is kept.
  const isWhole = isPaged && !isOurs && paging?.kind !== 'limit';
  const result = await command.run((isOurs ? { ...values, limit: maxRows + 1 } : values) as never, context);
  return answerOf(result, {
    input: values,
    fields: named,
    usual,
    maxRows: isWhole ? Number.POSITIVE_INFINITY : maxRows,
    next: paging && result.kind === 'answer' ? nextInput(paging, values, result.answer) : undefined,
    notes,
  });
}

/** Errors: `usage`. */
function rowCount(limit: unknown): number {
  const count = typeof limit === 'string' ? Number(limit) : limit;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 1) return count;
  throw usageError(`limit ${JSON.stringify(limit)}: must be a whole number of at least 1`);
}

/** Errors: `usage`. */
function columnNames(fields: unknown): readonly string[] | undefined {
  if (fields === undefined) return undefined;
  const names = typeof fields === 'string' ? fields.split(',').map((name) => name.trim()) : fields;
  if (Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string')) return names;
  throw usageError(`fields ${JSON.stringify(fields)}: must be a list of names of columns`);
}

/** How further items of a command's endpoint are reached. */
function pagingOf({ words }: Outline): Paging | undefined {
  return endpoints.find(({ id }) => id === words.join('.'))?.paging;
}

export function commandOf(outline: Outline, { program }: Context): Promise<Command> {
  // context.ts cannot name the type of commands: they name it.
  return (program as Program).load(outline);
}

/** The inputs of a tool as the command takes them. Errors: `usage` naming the input. */
export async function checkedValues(
  fields: readonly Field[],
  { params, oneOf = [] }: Pick<Command, 'params' | 'oneOf'>,
  given: Values,
  context: Context,
): Promise<Values> {
  requireInputs(fields, oneOf, given);
  const texts = Object.fromEntries(
    fields.flatMap(({ key }) => (isText(given[key]) ? [[key, given[key] as string | string[]]] : [])),
  );
  const resolved = mentionsAlias(fields, texts) ? await resolveAliases(fields, texts, await namesKnownTo(context)) : {};
  return checkInput(fields, params, (field) => typedValue(field, resolved[field.key] ?? given[field.key]));
}

function isText(value: unknown): boolean {
  return [value].flat().every((each) => typeof each === 'string');
}

/** Some clients send a number as text, a text as number, or one item in the place of a list. */
function typedValue({ kind }: Field, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  const one = (item: unknown) => {
    if (kind.type === 'text') return typeof item === 'number' ? String(item) : item;
    return typeof item === 'string' ? (readItem(kind, item) ?? item) : item;
  };
  if (!kind.list) return one(value);
  return [value].flat().map(one);
}

/** The same call, whose errors name inputs in the place of flags. */
export function namingInputs({ outline, fields }: Omit<CommandTool, 'columns'>, call: Tool['call']): Tool['call'] {
  const labels = outline.fields
    .filter(({ key }) => fields.some((field) => field.key === key))
    .sort((a, b) => b.label.length - a.label.length);
  const renamed = (text: string) => labels.reduce((shown, { label, key }) => shown.replaceAll(label, key), text);
  return (input, made) =>
    call(input, made).catch((thrown: unknown) => {
      if (!(thrown instanceof SotraError)) throw thrown;
      const { code, message, hint, status, requestId, cause, outcome, retryAfterSec } = thrown;
      const details = { status, requestId, cause, outcome, retryAfterSec };
      throw new SotraError(code, renamed(message), {
        hint: hint === seeHelp ? undefined : hint && renamed(hint),
        ...details,
      });
    });
}
