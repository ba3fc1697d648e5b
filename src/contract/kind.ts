import { tryParseJson } from '../model/json.ts';

/** What a schema asks for, as far as flags and query strings can say it. */
export interface Kind {
  type: 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  list: boolean;
  nullable: boolean;
  optional: boolean;
  choices: readonly string[];
  /** The choices are those that are known: a service may know more. */
  open?: true;
  numeric?: boolean;
  min?: number;
  max?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
}

/** Those of the given values that an open list of choices does not name. */
export function unknownChoices({ open, choices }: Kind, given: unknown): string[] {
  if (!open) return [];
  return [given].flat().filter((value): value is string => typeof value === 'string' && !choices.includes(value));
}

/** Ends "must be ...": `a whole number from 1 to 250`, `one of 7d, 30d`. */
export function describeKind(kind: Kind): string {
  const one = describeItem(kind);
  const orNull = kind.nullable ? `${one}, or null` : one;
  return kind.maxItems === undefined ? orNull : `${orNull} (at most ${kind.maxItems} of them)`;
}

function describeItem(kind: Kind): string {
  const { type, choices } = kind;
  switch (type) {
    case 'choice':
      if (kind.open) return `one of ${choices.join(', ')} or another`;
      return choices.length === 1 ? String(choices[0]) : `one of ${choices.join(', ')}`;
    case 'integer':
      return `a whole number${describeRange(kind)}`;
    case 'number':
      return `a number${describeRange(kind)}`;
    case 'boolean':
      return 'true or false';
    case 'json':
      return 'JSON';
    default:
      return describeLength(kind);
  }
}

function describeRange({ min, max }: Kind): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

function describeLength({ minLength, maxLength }: Kind): string {
  if (minLength !== undefined && maxLength !== undefined) return `${minLength} to ${maxLength} characters`;
  return minLength === 1 ? 'text that is not empty' : 'text';
}

/** One item of text as its kind's value; `undefined` for another kind. Whether a text or choice is allowed is for the schema to say. */
export function readItem(kind: Kind, text: string): string | number | boolean | object | undefined {
  switch (kind.type) {
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
    case 'choice':
      return kind.numeric ? (kind.choices.includes(text) ? Number(text) : undefined) : text;
    case 'number':
      return /^-?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'json':
      return tryParseJson(text) as object | undefined;
    default:
      return text;
  }
}
