import { checkTokens } from '../cli/check-tokens.ts';
import type { Command, Program } from '../cli/command.ts';
import {
  checkTyped,
  isReading,
  mentionsAlias,
  requireInputs,
  resolveAliases,
  warnOfSurplus,
  warnOfUnknown,
} from '../cli/input.ts';
import type { Field, Outline } from '../cli/outline.ts';
import type { Context } from '../context.ts';
import { itemOf, parseText } from '../contract/kind.ts';
import { usageError } from '../errors.ts';
import { nextInput } from '../http/paginate.ts';
import { namesKnownTo } from '../log/recall.ts';
import { tryParseJson } from '../model/json.ts';
import { splitList } from '../model/list.ts';
import { showUnseen, unseenIn } from '../model/safe-text.ts';
import { readComment, readTextForm } from '../resources/comment/read-comment.ts';
import { signedText } from '../resources/comment/signing.ts';
import { endpoints } from '../resources/index.ts';
import { formatAnswer, pickFields } from './answer.ts';
import { defaultRows, type SigningKey, type ToolAnswer, type ToolCall } from './tool.ts';

type Values = Readonly<Record<string, unknown>>;

interface CommandTool {
  outline: Outline;
  fields: readonly Field[];
  /** Shown unless others are chosen. */
  columns: readonly string[] | undefined;
}

/** The answer of a command to the inputs of its tool. Errors: `usage`; those of the command. */
export async function runTool(
  { outline, fields, columns: usual }: CommandTool,
  given: Values,
  { context, notes }: ToolCall,
): Promise<ToolAnswer> {
  const { fields: chosen, limit = defaultRows, ...typed } = withoutNull(fields, given);
  const command = await loadCommand(outline, context);
  const isPaged = fields.some(({ key }) => key === 'limit');
  const view = await command.view?.();
  const named = readColumnNames(chosen);
  // Before anything is asked.
  if (view !== undefined) pickFields(view, named);
  const values = await checkValues(fields, command, isPaged ? { ...typed, limit } : typed, context);
  warnOfUnknown(fields, values, context.warn);
  warnOfSurplus(fields, values, context.warn);
  const maxRows = isPaged ? Number(values['limit']) : readRowCount(limit);
  const paging = endpoints.find(({ id }) => id === outline.words.join('.'))?.paging;
  // One more tells whether there is more.
  const isOurs = outline.endpoint === undefined && isPaged;
  // What a cursor or page would skip is kept.
  const isWhole = isPaged && !isOurs && paging?.kind !== 'limit';
  const result = await command.run((isOurs ? { ...values, limit: maxRows + 1 } : values) as never, context);
  return formatAnswer(result, {
    input: values,
    fields: named,
    usual,
    maxRows: isWhole ? Number.POSITIVE_INFINITY : maxRows,
    next: paging && result.kind === 'answer' ? nextInput(paging, values, result.answer) : undefined,
    notes,
  });
}

/** Some clients send null for what is unset; for some inputs null is a value. */
function withoutNull(fields: readonly Field[], given: Values): Values {
  const takesNull = (name: string) => fields.some(({ key, kind }) => key === name && kind.nullable);
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== null || takesNull(name)));
}

/** Errors: `usage`. */
function readRowCount(limit: unknown): number {
  const count = typeof limit === 'string' ? Number(limit) : limit;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 1) return count;
  throw usageError(`limit ${JSON.stringify(limit)}: must be a whole number of at least 1`);
}

/** Errors: `usage`. */
function readColumnNames(fields: unknown): readonly string[] | undefined {
  if (fields === undefined) return undefined;
  const read = readJsonList(fields);
  const names = typeof read === 'string' ? splitList(read, 'fields') : read;
  if (Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string')) return names;
  throw usageError(`fields ${JSON.stringify(fields)}: must be a list of names of columns`);
}

export function loadCommand(outline: Outline, { program }: Context): Promise<Command> {
  // context.ts cannot name the type of commands: they name it.
  return (program as Program).load(outline);
}

/** The inputs of a tool as the command takes them. Errors: `usage` naming the input. */
export async function checkValues(
  fields: readonly Field[],
  command: Command,
  typed: Values,
  context: Context,
): Promise<Values> {
  const given = withoutNull(fields, typed);
  requireInputs(fields, command.oneOf ?? [], given);
  const isTyped = (value: unknown) => [value].flat().every((each) => typeof each === 'string');
  const texts = Object.fromEntries(
    fields.flatMap(({ key, kind }) => {
      const value = kind.type === 'list' ? readJsonList(given[key]) : given[key];
      return isTyped(value) ? [[key, value as string | string[]]] : [];
    }),
  );
  const resolved = mentionsAlias(fields, texts)
    ? await resolveAliases(fields, texts, await namesKnownTo(context, isReading(command)))
    : {};
  const values = checkTyped(fields, command.params, (field) =>
    readValue(field, resolved[field.key] ?? given[field.key]),
  );
  checkTokens(fields, values);
  return values;
}

/** Some clients send a number as text, a text as number, or one item in the place of a list. */
function readValue({ kind }: Field, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  const { type } = itemOf(kind);
  const one = (item: unknown) => {
    if (type === 'text') return typeof item === 'number' ? String(item) : item;
    return typeof item === 'string' ? parseText(kind, item) : item;
  };
  return kind.type === 'list' ? [readJsonList(value)].flat().map(one) : one(value);
}

/** Some clients send a list as the JSON text of one. */
function readJsonList(value: unknown): unknown {
  const parsed = typeof value === 'string' && value.startsWith('[') ? tryParseJson(value) : undefined;
  return Array.isArray(parsed) ? parsed : value;
}

interface SigningTool {
  outline: Outline;
  fields: readonly Field[];
  key: SigningKey;
}

/** Signs, and posts where the command does, once the user has agreed to the exact text. Errors: `usage`; those of the command. */
export async function runSigning(
  { outline, fields, key }: SigningTool,
  given: Readonly<Record<string, unknown>>,
  { context, confirm, notes }: ToolCall,
): Promise<ToolAnswer> {
  const command = await loadCommand(outline, context);
  const input = await checkValues(fields, command, given, context);
  const message = signedText(await readComment(input, context), await readTextForm({}, context));
  await confirm(await askToSign(outline, message, key, context));
  const result = await command.run({ ...input, ...key } as never, context);
  return formatAnswer(result, { input, maxRows: 1, next: undefined, notes });
}

/** What the user reads: the exact text, with what cannot be seen as its code. */
async function askToSign(
  { endpoint }: Outline,
  message: string,
  { key }: SigningKey,
  context: Context,
): Promise<string> {
  const { kind, baseUrl } = await context.service();
  const where = kind === 'sandbox' ? 'the sandbox' : new URL(baseUrl).origin;
  const action = endpoint === undefined ? 'Sign this text' : `Sign this text and post it to ${where}`;
  const lines = message.split('\n');
  const note = lines.some((line) => unseenIn(line).length > 0) ? '\n\n<U+...> is a character that cannot be seen.' : '';
  return `${action}, with the key ${key}?\n\n${lines.map(showUnseen).join('\n')}${note}`;
}
