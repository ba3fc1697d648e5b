import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
// @ts-expect-error: a script without types.
import { readPromises } from '../../bin/released.mjs';

interface Input {
  type: string;
  list: boolean;
  required: boolean;
  choices?: readonly string[];
  min?: number;
  max?: number;
}

interface Command {
  globalFlags: readonly string[];
  inputs: Readonly<Record<string, Input>>;
}

interface Schema {
  $ref?: string;
  type?: unknown;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
}

interface Content {
  content?: Readonly<Record<string, { schema?: Schema }>>;
}

interface Operation {
  parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: Content;
  responses: Readonly<Record<string, Content>>;
}

/** What a version promises to scripts and code, as `bin/released.mjs` keeps it. */
interface Promises {
  version: string;
  errors: Readonly<Record<string, number>>;
  commands: { schemaVersion: number; commands: Readonly<Record<string, Command>> };
  openapi: {
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    components: { schemas: Readonly<Record<string, Schema>> };
  };
  types: Readonly<Record<string, string>>;
}

interface Break {
  /** What an entry of the changelog has to name. */
  name: string;
  what: string;
}

/** What worked with the old version and does not with the new one. */
function findBreaks(old: Promises, now: Promises): Break[] {
  return [...errorBreaks(old, now), ...commandBreaks(old, now), ...openapiBreaks(old, now), ...typeBreaks(old, now)];
}

function errorBreaks({ errors }: Promises, now: Promises): Break[] {
  return Object.entries(errors)
    .filter(([name, exitCode]) => now.errors[name] !== exitCode)
    .map(([name]) => ({ name, what: now.errors[name] === undefined ? 'is gone' : 'has another exit code' }));
}

function commandBreaks(old: Promises, now: Promises): Break[] {
  return Object.entries(old.commands.commands).flatMap(([name, command]) => {
    const found = now.commands.commands[name];
    if (found === undefined) return [{ name, what: 'is gone' }];
    const flags = command.globalFlags.filter((flag) => !found.globalFlags.includes(flag));
    const inputs = Object.entries(command.inputs).flatMap(([label, input]) =>
      inputBreaks(input, found.inputs[label]).map((what) => ({ name: `${name} ${label}`, what })),
    );
    const required = Object.entries(found.inputs)
      .filter(([label, input]) => input.required && command.inputs[label] === undefined)
      .map(([label]) => ({ name: `${name} ${label}`, what: 'is required' }));
    return [...flags.map((flag) => ({ name: `${name} ${flag}`, what: 'is gone' })), ...inputs, ...required];
  });
}

function inputBreaks(old: Input, now: Input | undefined): string[] {
  if (now === undefined) return ['is gone'];
  const choices = (old.choices ?? []).filter((choice) => !(now.choices ?? [choice]).includes(choice));
  return [
    ...(now.type === old.type ? [] : [`is ${now.type}, was ${old.type}`]),
    ...(old.list && !now.list ? ['takes one value'] : []),
    ...(now.required && !old.required ? ['is required'] : []),
    ...choices.map((choice) => `does not take ${choice}`),
    ...((now.min ?? -Infinity) > (old.min ?? -Infinity) ? ['has a higher minimum'] : []),
    ...((now.max ?? Infinity) < (old.max ?? Infinity) ? ['has a lower maximum'] : []),
  ];
}

function openapiBreaks(old: Promises, now: Promises): Break[] {
  return Object.entries(old.openapi.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const found = now.openapi.paths[path]?.[method];
      const whats = found === undefined ? ['is gone'] : operationBreaks(operation, found, old, now);
      return whats.map((what) => ({ name, what }));
    }),
  );
}

function operationBreaks(old: Operation, now: Operation, before: Promises, after: Promises): string[] {
  const ways = { before, after };
  const known = (old.parameters ?? []).flatMap((parameter) => {
    const found = now.parameters?.find((one) => one.name === parameter.name && one.in === parameter.in);
    if (found === undefined) return [`${parameter.name} is gone`];
    const required = found.required && !parameter.required ? [`${parameter.name} is required`] : [];
    return [...required, ...schemaBreaks(parameter.schema, found.schema, parameter.name, { ...ways, isInput: true })];
  });
  const required = (now.parameters ?? [])
    .filter((one) => one.required && !old.parameters?.some(({ name }) => name === one.name))
    .map(({ name }) => `${name} is required`);
  const body = contentBreaks(old.requestBody, now.requestBody, 'body', { ...ways, isInput: true });
  const answers = Object.entries(old.responses).flatMap(([status, response]) =>
    now.responses[status] === undefined
      ? [`${status} is gone`]
      : contentBreaks(response, now.responses[status], status, { ...ways, isInput: false }),
  );
  return [...known, ...required, ...body, ...answers];
}

interface Ways {
  before: Promises;
  after: Promises;
  isInput: boolean;
}

function contentBreaks(old: Content | undefined, now: Content | undefined, place: string, ways: Ways): string[] {
  return Object.entries(old?.content ?? {}).flatMap(([type, { schema }]) => {
    const found = now?.content?.[type]?.schema;
    if (schema === undefined) return [];
    return found === undefined ? [`${place} ${type} is gone`] : schemaBreaks(schema, found, place, ways);
  });
}

function schemaBreaks(old: Schema, now: Schema, place: string, ways: Ways, depth = 0): string[] {
  const [one, other] = [resolve(old, ways.before), resolve(now, ways.after)];
  if (depth > 12) return [];
  if (JSON.stringify(one.type) !== JSON.stringify(other.type)) return [`${place} has another type`];
  const fields = Object.entries(one.properties ?? {}).flatMap(([name, field]) => {
    const found = other.properties?.[name];
    if (found === undefined) return [`${place}.${name} is gone`];
    return schemaBreaks(field, found, `${place}.${name}`, ways, depth + 1);
  });
  const required = ways.isInput
    ? (other.required ?? [])
        .filter((name) => !one.required?.includes(name))
        .map((name) => `${place}.${name} is required`)
    : (one.required ?? [])
        .filter((name) => !other.required?.includes(name) && other.properties?.[name] !== undefined)
        .map((name) => `${place}.${name} may be missing`);
  const values = (one.enum ?? []).filter((value) => other.enum !== undefined && !other.enum.includes(value));
  const range = ways.isInput
    ? [
        ...((other.minimum ?? -Infinity) > (one.minimum ?? -Infinity) ? [`${place} has a higher minimum`] : []),
        ...((other.maximum ?? Infinity) < (one.maximum ?? Infinity) ? [`${place} has a lower maximum`] : []),
      ]
    : [];
  const items = one.items && other.items ? schemaBreaks(one.items, other.items, `${place}[]`, ways, depth + 1) : [];
  const forms = (one.anyOf ?? []).flatMap((form, index) => {
    const found = other.anyOf?.[index];
    return found === undefined ? [`${place} has not all its forms`] : schemaBreaks(form, found, place, ways, depth + 1);
  });
  return [...fields, ...required, ...values.map((value) => `${place} has no ${value}`), ...range, ...items, ...forms];
}

function resolve(schema: Schema, { openapi }: Promises): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return (name === undefined ? undefined : openapi.components.schemas[name]) ?? schema;
}

/** The entries of the package that code imports. */
const entries = {
  sotra: 'client',
  'sotra/webhook': 'webhook',
  'sotra/signing': 'signing',
  'sotra/sandbox': 'sandbox',
};

/** As the compiler sees them: what was written for the old declarations must be right with the new ones. */
function typeBreaks(old: Promises, now: Promises): Break[] {
  if (JSON.stringify(old.types) === JSON.stringify(now.types)) return [];
  const folder = join('node_modules/.cache', `released-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    for (const [version, { types }] of [['old', old] as const, ['now', now] as const])
      for (const [name, text] of Object.entries(types)) write(join(folder, version, name), text);
    const files = Object.values(entries).map((file) => {
      const names = exportedTypes(old.types, `library/${file}.d.ts`);
      const values = `declare const now: typeof import('./now/library/${file}.js');\nexport const old: typeof import('./old/library/${file}.js') = now;\n`;
      write(
        join(folder, `${file}.ts`),
        `export type { ${names.join(', ')} } from './now/library/${file}.js';\n${values}`,
      );
      return join(folder, `${file}.ts`);
    });
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
    ];
    const out = compile(['--ignoreConfig', ...flags, ...files]);
    return out.split(/\n(?=\S)/).flatMap((what) => {
      const [name] = Object.entries(entries).find(([, file]) => what.includes(`/${file}.ts(`)) ?? [];
      return what.includes('error TS') ? [{ name: name ?? 'sotra', what }] : [];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What the compiler says of them. */
function compile(argv: readonly string[]): string {
  try {
    return execFileSync('node_modules/.bin/tsc', argv, { encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** The names of the types that a declaration file exports, of others too. */
function exportedTypes(types: Readonly<Record<string, string>>, name: string): string[] {
  const text = types[name] ?? '';
  const own = [...text.matchAll(/^export (?:declare )?(?:interface|type) (\w+)/gm)].map(([, one = '']) => one);
  const named = [...text.matchAll(/^export type \{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').map((one) => one.trim().replace(/^.* as /, '')),
  );
  const whole = [...text.matchAll(/^export type \* from ["']\.\/(\w+)\.js["']/gm)].flatMap(([, file = '']) =>
    exportedTypes(types, `library/${file}.d.ts`),
  );
  return [...new Set([...own, ...named, ...whole])].filter((one) => one !== '');
}

const released: Promises = JSON.parse(readFileSync('test/data/released.json', 'utf8'));
const now: Promises = await readPromises();

/** What the newest section of the changelog names as breaking: `- Breaking: \`webhook sync --exact\` ...`. */
function namedBreaks(): string[] {
  const [, newest = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  return [...newest.matchAll(/^- Breaking: ((?:.*\n)(?: {2}.*\n)*)/gm)].flatMap(([, text = '']) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

test(`what worked with ${released.version} works, or the changelog names it as breaking`, () => {
  const named = namedBreaks();
  expect(findBreaks(released, now).filter(({ name }) => !named.includes(name))).toEqual([]);
});

/** A copy with another value at a place, or none. */
function withChange(promises: Promises, path: readonly string[], value?: unknown): Promises {
  const copy: Promises = structuredClone(promises);
  const last = path.at(-1) ?? '';
  const holder = path
    .slice(0, -1)
    .reduce<Record<string, never>>((each, key) => each[key] ?? missing(path), copy as never);
  if (value === undefined) delete holder[last];
  else holder[last] = value as never;
  return copy;
}

function missing(path: readonly string[]): never {
  throw new Error(`nothing at ${path.join(' ')}`);
}

const list = ['commands', 'commands', 'leaderboard list'];
const limit = [...list, 'inputs', '--limit'];
const board = ['openapi', 'paths', '/v2/leaderboard', 'get'];
const answer = [...board, 'responses', '200', 'content', 'application/json', 'schema'];

test.each<[string, string, string[], unknown?]>([
  ['rate-limited', 'has another exit code', ['errors', 'rate-limited'], 8],
  ['why', 'is gone', ['commands', 'commands', 'why']],
  ['leaderboard list --limit', 'is gone', limit],
  ['leaderboard list --limit', 'has a lower maximum', [...limit, 'max'], 100],
  ['leaderboard list --limit', 'is required', [...limit, 'required'], true],
  ['leaderboard list --chains', 'takes one value', [...list, 'inputs', '--chains', 'list'], false],
  ['leaderboard list --timeframe', 'does not take 30d', [...list, 'inputs', '--timeframe', 'choices'], ['7d']],
  ['leaderboard list --json', 'is gone', [...list, 'globalFlags'], ['--jq']],
  ['GET /v2/leaderboard', 'is gone', board],
  ['GET /v2/leaderboard', 'chains is gone', [...board, 'parameters'], []],
  ['GET /v2/leaderboard', '200.traders is gone', [...answer, 'properties'], {}],
  ['GET /v2/leaderboard', '200.traders may be missing', [...answer, 'required'], []],
])('%s %s: that is found', (name, what, path, value) => {
  const found = findBreaks(now, withChange(now, path, value));
  expect(found).toContainEqual({ name, what });
  expect(new Set(found.map((one) => one.name))).toContain(name);
});

test.each([
  ['a method is gone', 'sotra', 'library/methods.d.ts', /^ +rank: .*\n/m, '', "Property 'rank' is missing"],
  [
    'a field of answers is gone',
    'sotra',
    'library/methods.d.ts',
    /^ {2}addresses: string\[\];\n/m,
    '',
    "'addresses' is missing",
  ],
  [
    'a type is gone',
    'sotra/sandbox',
    'library/sandbox.d.ts',
    /interface SandboxOptions/,
    'interface Options',
    'no exported member',
  ],
  [
    'an option is required',
    'sotra/sandbox',
    'library/sandbox.d.ts',
    /port\?: number \| undefined/,
    'port: number',
    'not assignable',
  ],
])('%s in the library: that is found', (_, name, file, from, to, says) => {
  const changed = now.types[file]?.replace(from, to) ?? '';
  expect(changed).not.toBe(now.types[file]);
  const found = findBreaks(now, { ...now, types: { ...now.types, [file]: changed } });
  expect(found.map((one) => one.name)).toContain(name);
  expect(found.map(({ what }) => what).join('\n')).toContain(says);
});

test('what is only more is no break', () => {
  const more = withChange(now, [...list, 'inputs', '--new'], { type: 'text', list: false, required: false });
  const wider = withChange(more, [...limit, 'max'], 1000);
  expect(findBreaks(now, wider)).toEqual([]);
});
