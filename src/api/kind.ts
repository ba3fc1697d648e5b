import { defined, shortJson, tryParseJson } from './json.ts';

/**
 * The allowed values of a parameter. Command line, sandbox, OpenAPI, pages and tools for agents read this one description; `Value` is its type in
 * TypeScript. Kinds check a value and never change it; a text that was typed becomes a value in `parseText`.
 */
export type Kind<Value = unknown> = (
  | TextKind
  | ParsedKind
  | NumberKind
  | { type: 'boolean' }
  | ChoiceKind
  | ListKind
  | JsonKind
) & {
  optional?: boolean;
  nullable?: boolean;
  readonly value?: Value;
};

interface TextKind {
  type: 'text';
  /** In UTF-16 units. */
  minLength?: number;
  maxLength?: number;
  format?: Format;
}

/** A form of texts. */
export interface Format {
  /** What is wrong with a text: "must be ..."; `undefined` if nothing is. */
  findProblem: (text: string) => string | undefined;
  /** How JSON Schema says it, as far as it can. */
  schema?: JsonSchema;
  /** Whether the texts identify traders: a command also accepts a saved name for one. */
  isTrader?: boolean;
}

/** A value that is typed as text in another form, such as a duration for milliseconds. */
interface ParsedKind {
  type: 'parsed';
  /** `undefined` for a text that is not one. */
  parse: (text: string) => unknown;
  /** "must be ...". */
  rule: string;
}

interface NumberKind {
  type: 'integer' | 'number';
  min?: number;
  max?: number;
}

interface ChoiceKind {
  type: 'choice';
  choices: readonly (string | number)[];
  /** A service may know more choices, of this form. */
  open?: Format;
  /** They may be typed in small letters. */
  anyCase?: boolean;
}

export interface ListKind {
  type: 'list';
  item: Kind;
  minItems?: number;
  maxItems?: number;
  /** The service reads the first of them only: only these are checked and sent. */
  keepFirst?: number;
}

interface JsonKind {
  type: 'json';
  /** What is wrong with a value: "must be ...", or a field and what it must be. */
  findProblem: (value: unknown) => string | undefined;
  schema: JsonSchema;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

type TextOptions = Omit<TextKind, 'type'>;

/** A text that is not empty, unless `minLength` says otherwise. */
export const text = (options: TextOptions = {}): Kind<string> => ({ type: 'text', minLength: 1, ...options });
export const formatted = (format: Format): Kind<string> => ({ type: 'text', format });
export const parsed = <V extends number | object>(parse: (text: string) => V | undefined, rule: string): Kind<V> => ({
  type: 'parsed',
  parse,
  rule,
});
export const integer = (min?: number, max?: number): Kind<number> => ({ type: 'integer', ...defined({ min, max }) });
export const number = (min?: number, max?: number): Kind<number> => ({ type: 'number', ...defined({ min, max }) });
export const boolean = (): Kind<boolean> => ({ type: 'boolean' });
export const choice = <const C extends string | number>(choices: readonly C[]): Kind<C> => ({
  type: 'choice',
  choices,
});
/** One of these, or another of that form. */
export const openChoice = <const C extends string>(choices: readonly C[], open: Format): Kind<C | (string & {})> => ({
  type: 'choice',
  choices,
  open,
});
export const listOf = <V>(item: Kind<V>, more: Omit<ListKind, 'type' | 'item'> = {}): Kind<V[]> => ({
  type: 'list',
  item,
  ...more,
});
export const json = <V>(schema: JsonSchema, findProblem: JsonKind['findProblem']): Kind<V> => ({
  type: 'json',
  schema,
  findProblem,
});
export const optional = <V>(kind: Kind<V>): Kind<V | undefined> => ({ ...kind, optional: true }) as Kind<V | undefined>;
export const nullable = <V>(kind: Kind<V>): Kind<V | null> => ({ ...kind, nullable: true }) as Kind<V | null>;

/** A value that is not allowed, one item of a list perhaps, and what it must be. */
export interface Problem {
  value: unknown;
  message: string;
}

/** What is wrong with a value, by the name that the reader knows. */
export function describeProblem(name: string, { value, message }: Problem): string {
  if (value === undefined) return `${name} is required: ${message}`;
  return `${name} ${shortJson(value)}: ${message}`;
}

/** What is wrong with a value, wherever it came from; `undefined` if nothing is. */
export function checkValue(kind: Kind, value: unknown): Problem | undefined {
  if (value === undefined && kind.optional) return undefined;
  if (value === null && kind.nullable) return undefined;
  if (kind.type === 'list' && Array.isArray(value)) return checkList(kind, value);
  const message = findProblem(kind, value);
  return message === undefined ? undefined : { value, message };
}

function checkList(kind: ListKind, items: readonly unknown[]): Problem | undefined {
  const { item, minItems = 0, maxItems = Number.POSITIVE_INFINITY, keepFirst } = kind;
  if (items.length < minItems)
    return { value: items, message: `must have at least ${minItems} item${minItems === 1 ? '' : 's'}` };
  for (const each of items.slice(0, keepFirst)) {
    const problem = checkValue(item, each);
    if (problem !== undefined) return problem;
  }
  return items.length <= maxItems ? undefined : { value: items, message: `must have at most ${maxItems} items` };
}

function findProblem(kind: Kind, value: unknown): string | undefined {
  const rule = `must be ${describeKind(kind)}`;
  switch (kind.type) {
    case 'text': {
      const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = kind;
      if (typeof value !== 'string') return rule;
      const isLong = value.length >= minLength && value.length <= maxLength;
      return format?.findProblem(value) ?? (isLong ? undefined : rule);
    }
    case 'parsed':
      return typeof value === 'string' ? kind.rule : undefined;
    case 'integer':
    case 'number': {
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = kind;
      const isNumber = kind.type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
      return isNumber && (value as number) >= min && (value as number) <= max ? undefined : rule;
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : rule;
    case 'choice':
      if (kind.choices.includes(value as string)) return undefined;
      return kind.open !== undefined && typeof value === 'string' ? kind.open.findProblem(value) : rule;
    case 'list':
      return 'must be a list';
    case 'json':
      return kind.findProblem(value);
  }
}

/** The values of an open choice, or of a list of such, that the interface document does not name. */
export function unknownChoices(kind: Kind, given: unknown): string[] {
  const item = itemOf(kind);
  if (item.type !== 'choice' || item.open === undefined) return [];
  return [given].flat().filter((value): value is string => typeof value === 'string' && !item.choices.includes(value));
}

/** The kind of an item of a list; of another kind itself. */
export function itemOf(kind: Kind): Exclude<Kind, ListKind> {
  return (kind.type === 'list' ? kind.item : kind) as Exclude<Kind, ListKind>;
}

/** Ends "must be ...": `a whole number from 1 to 250`, `one of 7d, 30d`. */
export function describeKind(kind: Kind): string {
  const described = kind.type === 'list' ? describeList(kind) : describeItem(kind);
  return kind.nullable ? `${described}, or null` : described;
}

function describeList({ item, maxItems }: ListKind): string {
  return maxItems === undefined ? describeKind(item) : `${describeKind(item)} (at most ${maxItems} of them)`;
}

function describeItem(kind: Exclude<Kind, ListKind>): string {
  switch (kind.type) {
    case 'choice': {
      const { choices, open } = kind;
      if (open !== undefined) return `one of ${choices.join(', ')} or another`;
      return choices.length === 1 ? String(choices[0]) : `one of ${choices.join(', ')}`;
    }
    case 'integer':
      return `a whole number${describeRange(kind)}`;
    case 'number':
      return `a number${describeRange(kind)}`;
    case 'boolean':
      return 'true or false';
    case 'json':
      return 'JSON';
    case 'text':
      return describeLength(kind);
    default:
      return '';
  }
}

function describeRange({ min, max }: NumberKind): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

function describeLength({ minLength, maxLength }: TextKind): string {
  if (minLength !== undefined && maxLength !== undefined) return `${minLength} to ${maxLength} characters`;
  return minLength === 1 ? 'non-empty text' : 'text';
}

/** One text as a value of the kind, or of its items; unreadable text stays text, for `checkValue` to refuse. */
export function parseText(kind: Kind, typed: string): unknown {
  const item = itemOf(kind);
  switch (item.type) {
    case 'integer':
      return /^-?\d{1,15}$/.test(typed) ? Number(typed) : typed;
    case 'number':
      return /^-?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(typed) ? Number(typed) : typed;
    case 'choice': {
      const meant = item.anyCase ? typed.toUpperCase() : typed;
      return item.choices.find((each) => String(each) === meant) ?? typed;
    }
    case 'boolean':
      return typed === 'true' ? true : typed === 'false' ? false : typed;
    case 'json':
      return tryParseJson(typed) ?? typed;
    case 'parsed':
      return item.parse(typed) ?? typed;
    default:
      return typed;
  }
}

/** The JSON Schema of a kind. */
export function toJsonSchema(kind: Kind): JsonSchema {
  const schema = withoutNull(kind);
  if (!kind.nullable) return schema;
  const { type, enum: choices } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'] }),
    ...(Array.isArray(choices) && { enum: [...choices, null] }),
  };
}

function withoutNull(kind: Kind): JsonSchema {
  switch (kind.type) {
    case 'text': {
      const { minLength, maxLength, format } = kind;
      return { type: 'string', ...defined({ minLength: minLength || undefined, maxLength }), ...format?.schema };
    }
    case 'parsed':
      return { type: 'string' };
    case 'integer':
    case 'number': {
      const { type, min, max } = kind;
      return { type, ...defined({ minimum: min, maximum: max }) };
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'choice': {
      const { choices, open } = kind;
      if (open !== undefined) return { type: 'string', examples: choices, ...open.schema };
      return { type: typeof choices[0] === 'number' ? 'number' : 'string', enum: choices };
    }
    case 'list': {
      const { item, minItems, maxItems } = kind;
      return { type: 'array', items: toJsonSchema(item), ...defined({ minItems, maxItems }) };
    }
    case 'json':
      return kind.schema;
  }
}
