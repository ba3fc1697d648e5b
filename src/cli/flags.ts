import { describeKind, readItem } from '../contract/kind.ts';
import { missingInputs, usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';
import type { Command } from './command.ts';
import type { Field } from './outline.ts';

/** A longer value is told by its length. */
const maxShownLength = 200;

/** What was typed for a command, by field key: strings only, `true`/`false` for yes/no flags. */
export type Typed = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/**
 * The checked input for what was typed. Lists take repeated flags and commas, `null` clears where the service knows null.
 * Errors: `usage` naming the flag, the value and what is allowed.
 */
export function readInput(
  fields: readonly Field[],
  { params, oneOf = [] }: Pick<Command, 'params' | 'oneOf'>,
  typed: Typed,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const missing = [
    ...fields.filter((field) => !field.kind.optional && typed[field.key] === undefined),
    ...oneOf.filter((keys) => keys.every((key) => typed[key] === undefined)).map((keys) => eitherOf(fields, keys)),
  ];
  if (missing.length > 0) throw missingInputs(missing);
  for (const field of fields) {
    const value = readField(field, typed[field.key]);
    const param = params[field.key];
    if (param === undefined) continue;
    const checked = param.schema.safeParse(value);
    if (!checked.success) throw refusal(field, value, checked.error.issues[0]);
    const { sendRule } = param;
    if (sendRule?.allows(value) === false) throw refusal(field, value, { code: 'custom', message: sendRule.why });
    if (checked.data !== undefined) input[field.key] = checked.data;
  }
  return input;
}

function eitherOf(fields: readonly Field[], keys: readonly string[]): { label: string; help: string } {
  const either = fields.filter(({ key }) => keys.includes(key));
  return { label: either.map(({ label }) => label).join(' or '), help: either[0]?.help ?? '' };
}

function readField(field: Field, typed: Typed[string]): unknown {
  if (typed === undefined || typeof typed === 'boolean') return typed;
  if (field.kind.nullable && typed === 'null') return null;
  if (!field.kind.list) return readOne(field, String(typed));
  const items = [typed]
    .flat()
    .flatMap((text) => (field.whole !== true && splits(field, text) ? text.split(',') : [text]));
  return items.map((item) => readOne(field, item.trim()));
}

function splits(field: Field, text: string): boolean {
  return field.kind.type !== 'json' && !text.startsWith('ext:');
}

function readOne(field: Field, text: string): unknown {
  const value = readItem(field.kind, text);
  if (value === undefined) throw refusal(field, text, undefined);
  return value;
}

function refusal(
  field: Field,
  value: unknown,
  issue: { code?: string; message: string; path?: PropertyKey[] } | undefined,
) {
  const at = issue?.path?.[0];
  const culprit = Array.isArray(value) && typeof at === 'number' ? value[at] : value;
  const text =
    typeof culprit === 'string' ? culprit : Array.isArray(culprit) ? culprit.join(',') : JSON.stringify(culprit);
  const why = issue?.code === 'custom' ? issue.message : `must be ${describeKind(field.kind)}`;
  const shown = text.length > maxShownLength ? `(${[...text].length} characters)` : text;
  const near = typeof culprit === 'string' ? nearest(culprit, field.kind.choices) : undefined;
  return usageError(`${field.label} ${shown}: ${why}`, near === undefined ? undefined : `Did you mean ${near}?`);
}
