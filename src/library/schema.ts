/**
 * What the contract uses of zod, for the built library: there `zod` is replaced by this file, a thirtieth of its size. It checks, and
 * explains a refusal, as zod does (test/law/library-schema.test.ts), but reports the first issue only and copies nothing.
 */
interface Issue {
  code: string;
  message: string;
  path: readonly PropertyKey[];
}

type Find = (value: unknown) => Issue | undefined;
type Json = Readonly<Record<string, unknown>>;

interface Core {
  type: string;
  /** Its JSON Schema. */
  json: Json;
  find: Find;
  element?: Core;
  shape?: Shape;
}

type Shape = Readonly<Record<string, Core>>;
type Message = string | { error: (issue: { input: unknown }) => string };

const methods = {
  safeParse(this: Core, value: unknown) {
    const issue = this.find(value);
    return issue === undefined ? { success: true, data: value } : { success: false, error: { issues: [issue] } };
  },
  optional(this: Core): Core {
    return make({ ...this, type: 'optional', find: (value) => (value === undefined ? undefined : this.find(value)) });
  },
  nullable(this: Core): Core {
    const json = { anyOf: [this.json, { type: 'null' }] };
    return make({ type: 'nullable', json, find: (value) => (value === null ? undefined : this.find(value)) });
  },
  min(this: Core, min: number): Core {
    const { size, keyword } = sizeOf(this.type);
    return further(this, { [`min${keyword}`]: min }, (value) => (size(value) < min ? issueOf('too_small') : undefined));
  },
  max(this: Core, max: number): Core {
    const { size, keyword } = sizeOf(this.type);
    return further(this, { [`max${keyword}`]: max }, (value) => (size(value) > max ? issueOf('too_big') : undefined));
  },
  refine(this: Core, allows: (value: never) => boolean, message: Message): Core {
    return further(this, {}, (value) => (allows(value as never) ? undefined : issueOf('custom', read(message, value))));
  },
  superRefine(this: Core, look: (value: never, problems: { addIssue: (issue: Issue) => void }) => void): Core {
    return further(this, {}, (value) => {
      const found: Issue[] = [];
      look(value as never, { addIssue: (issue) => found.push(issue) });
      return found[0];
    });
  },
  meta(this: Core, json: Json): Core {
    return make({ ...this, json: { ...this.json, ...json } });
  },
  extend(this: Core, more: Shape): Core {
    return looseObject({ ...this.shape, ...more });
  },
};

function make(core: Core): Core {
  return Object.assign(Object.create(methods), core);
}

function further(schema: Core, json: Json, find: Find): Core {
  return make({ ...schema, json: { ...schema.json, ...json }, find: (value) => schema.find(value) ?? find(value) });
}

function sizeOf(type: string): { size: (value: unknown) => number; keyword: string } {
  if (type === 'number') return { size: Number, keyword: 'imum' };
  return { size: (value) => (value as string).length, keyword: type === 'array' ? 'Items' : 'Length' };
}

function read(message: Message, input: unknown): string {
  return typeof message === 'string' ? message : message.error({ input });
}

function issueOf(code: string, message = 'Invalid input', path: readonly PropertyKey[] = []): Issue {
  return { code, message, path };
}

/** Refuses values of another type; `expected` is zod's word for it. */
function ofType(expected: string, isOne: (value: unknown) => boolean): Find {
  return (value) =>
    isOne(value)
      ? undefined
      : issueOf('invalid_type', `Invalid input: expected ${expected}, received ${typeName(value)}`);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isNaN(value) ? 'NaN' : typeof value;
}

function plain(type: string, expected: string, json: Json, isOne: (value: unknown) => boolean): () => Core {
  return () => make({ type, json, find: ofType(expected, isOne) });
}

const isList = ofType('array', Array.isArray);
const isObject = (value: unknown) => typeName(value) === 'object';

function array(element: Core): Core {
  const find: Find = (value) => isList(value) ?? firstOf((value as unknown[]).entries(), () => element);
  return make({ type: 'array', json: { type: 'array', items: element.json }, element, find });
}

const isLoose = ofType('object', isObject);
const isRecord = ofType('record', isObject);

function looseObject(shape: Shape): Core {
  const entries = Object.entries(shape);
  const find: Find = (value) =>
    isLoose(value) ??
    firstOf(
      entries.map(([key]) => [key, (value as Record<string, unknown>)[key]] as const),
      (key) => shape[key] as Core,
    );
  return make({ type: 'object', json: { type: 'object' }, shape, find });
}

function record(_: Core, held: Core): Core {
  const find: Find = (value) => isRecord(value) ?? firstOf(Object.entries(value as object), () => held);
  return make({ type: 'record', json: { type: 'object' }, find });
}

/** The first issue of some members, with where it is. */
function firstOf<K extends PropertyKey>(
  members: Iterable<readonly [K, unknown]>,
  schemaOf: (key: K) => Core,
): Issue | undefined {
  for (const [key, value] of members) {
    const issue = schemaOf(key).find(value);
    if (issue !== undefined) return { ...issue, path: [key, ...issue.path] };
  }
  return undefined;
}

function oneOf(given: unknown): Core {
  const choices = [given].flat();
  const shown = choices.map((choice) => JSON.stringify(choice)).join('|');
  const message =
    choices.length === 1 ? `Invalid input: expected ${shown}` : `Invalid option: expected one of ${shown}`;
  const find: Find = (value) => (choices.includes(value) ? undefined : issueOf('invalid_value', message));
  return make({ type: 'enum', json: { type: typeof choices[0], enum: choices }, find });
}

function union(schemas: readonly Core[]): Core {
  const find: Find = (value) =>
    schemas.some((schema) => schema.find(value) === undefined) ? undefined : issueOf('invalid_union');
  return make({ type: 'union', json: { anyOf: schemas.map(({ json }) => json) }, find });
}

function custom(allows: (value: unknown) => boolean, message: Message): Core {
  const find: Find = (value) => (allows(value) ? undefined : issueOf('custom', read(message, value)));
  return make({ type: 'custom', json: {}, find });
}

const number = plain('number', 'number', { type: 'number' }, Number.isFinite);

export const z = {
  string: plain('string', 'string', { type: 'string' }, (value) => typeof value === 'string'),
  number,
  int: () => further(number(), { type: 'integer' }, ofType('int', Number.isSafeInteger)),
  boolean: plain('boolean', 'boolean', { type: 'boolean' }, (value) => typeof value === 'boolean'),
  array,
  looseObject,
  record,
  enum: oneOf,
  literal: oneOf,
  union,
  custom,
  toJSONSchema: ({ json }: Core) => json,
};
