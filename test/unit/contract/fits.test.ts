import { expect, test } from 'vitest';
import { z } from 'zod';
import { createFitCheck, firstIssue } from '../../../src/contract/fits.ts';
import { endpoints } from '../../../src/resources/index.ts';
import { fc } from '../../support/draw.ts';
import { answering, run, temporaryFolder } from '../../support/harness.ts';

/** The quick check's word on a value. */
const fitsOf = (schema: z.ZodType) => {
  const fits = createFitCheck();
  return (value: unknown) => fits(schema, value);
};

type Path = readonly (string | number)[];

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

/** The value with the part at a path replaced, or left out. */
function changed(value: unknown, [key, ...rest]: Path, part: unknown): unknown {
  if (key === undefined) return part;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  if (rest.length === 0 && part === undefined && !Array.isArray(value)) delete copy[key];
  else copy[key] = changed(copy[key], rest, part ?? null);
  return copy;
}

test('what the quick check accepts, the contract accepts, however an answer was changed', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  let accepted = 0;
  for (const id of ['token.positions', 'profile.positions', 'position.get', 'profile.get', 'leaderboard.list']) {
    const endpoint = endpoints.find((each) => each.id === id);
    const argv = endpoint?.examples[0]?.argv.replace('--limit 5', '--limit 2') ?? '';
    const answer = JSON.parse((await run(`--sandbox ${argv} --json`, { env })).out);
    const schema: z.ZodType = endpoint?.answer ?? z.never();
    const fits = fitsOf(schema);
    expect([id, fits(answer), schema.safeParse(answer).success]).toEqual([id, true, true]);
    const parts = fc.constantFrom(undefined, null, 1, 'x', true, false, [], {}, [null], { nsfwImage: true });
    fc.assert(
      fc.property(fc.constantFrom(...pathsIn(answer)), parts, (path, part) => {
        const value = changed(answer, path, part);
        if (!fits(value)) return;
        accepted += 1;
        expect(schema.safeParse(value).success).toBe(true);
      }),
      { numRuns: 300 },
    );
  }
  expect(accepted).toBeGreaterThan(300);
});

test('a schema with rules that the quick check does not know is always left to the schema', () => {
  const unknown = [
    z.string().min(2),
    z.int(),
    z.number().max(3),
    z.coerce.number(),
    z.email(),
    z.string().transform((text) => text),
    z.tuple([z.string()]),
    z.strictObject({ a: z.string() }),
  ];
  for (const schema of unknown) expect(['abc', 1, ['a'], { a: 'b' }].filter(fitsOf(schema))).toEqual([]);
});

test('each schema is checked by itself, from its first value on', () => {
  const fits = createFitCheck();
  const [text, truth] = [z.string(), z.boolean()];
  expect([fits(text, 'a'), fits(truth, 'a'), fits(text, 'b'), fits(text, true)]).toEqual([true, false, true, false]);
});

const within = (schema: z.ZodType) => z.looseObject({ a: schema });
const accepts: readonly [what: string, schema: z.ZodType, good: readonly unknown[], not: readonly unknown[]][] = [
  ['one of some words', within(z.enum(['x', 'y'])), [{ a: 'x' }, { a: 'y' }], [{ a: 'z' }, { a: 1 }, {}]],
  ['text or nothing', within(z.string().nullable()), [{ a: 'x' }, { a: null }], [{ a: 1 }, {}]],
  ['a literal', within(z.literal(true)), [{ a: true }], [{ a: false }, { a: 'true' }]],
  ['what may be left out', within(z.number().optional()), [{}, { a: 1 }], [{ a: 'x' }, { a: null }, [], null]],
  ['a record', z.record(z.string(), z.number()), [{}, { x: 1 }], [{ x: 'y' }, [], null, 'x']],
  ['a list', z.array(z.boolean()), [[], [true]], [[true, 1], {}, 'x', null]],
];

test.each(accepts)('%s is accepted where it is that, and nothing else', (_, schema, good, not) => {
  const fits = fitsOf(schema);
  expect(good.filter((value) => !fits(value))).toEqual([]);
  expect(not.filter(fits)).toEqual([]);
});

const left: readonly [what: string, schema: z.ZodType, value: unknown][] = [
  ['keys of a record that are words of a list', z.partialRecord(z.enum(['a', 'b']), z.string()), { c: 'x' }],
  ['keys of a record with a shortest length', z.record(z.string().min(2), z.string()), { a: 'x' }],
  ['keys of a record that are numbers', z.record(z.number(), z.string()), { a: 'x' }],
  ['all other fields of an object', z.object({ a: z.string() }).catchall(z.number()), { a: 'x', b: 'y' }],
  ['objects that lose their other fields', z.object({ a: z.string() }), { a: 'x' }],
  ['three kinds of value', within(z.union([z.string(), z.number(), z.boolean()])), { a: 'x' }],
  [
    'a rule of what may be left out',
    within(
      z
        .string()
        .optional()
        .refine((text) => text !== 'x'),
    ),
    { a: 'x' },
  ],
  ['what JSON has not', z.bigint(), 1n],
  ['moments', z.date(), new Date(0)],
];

test.each(left)('%s are left to the schema', (_, schema, value) => {
  expect(fitsOf(schema)(value)).toBe(false);
});

const card = z.looseObject({ id: z.string(), tags: z.array(z.string()).min(1).max(2).optional() });
const board = z.looseObject({ cards: z.array(card).max(2), others: z.array(z.number()), total: z.number() });
const ids = [{ id: 'a' }, { id: 'b' }];
const issues: readonly [schema: z.ZodType, value: unknown, path: readonly (string | number)[], message: string][] = [
  [board, null, [], 'Invalid input: expected object, received null'],
  [board, [], [], 'Invalid input: expected object, received array'],
  [board, { cards: ids, others: [], total: 'x' }, ['total'], 'Invalid input: expected number, received string'],
  [board, { others: [], total: 1 }, ['cards'], 'Invalid input: expected array, received undefined'],
  [board, { cards: 1, others: [], total: 1 }, ['cards'], 'Invalid input: expected array, received number'],
  [
    board,
    { cards: [{ id: 'a' }, { id: 1 }, { id: 2 }], others: [], total: 1 },
    ['cards', 1, 'id'],
    'Invalid input: expected string, received number',
  ],
  [
    board,
    { cards: [{ id: 'a', tags: ['x', 2] }], others: ['y'], total: 'z' },
    ['cards', 0, 'tags', 1],
    'Invalid input: expected string, received number',
  ],
  [board, { cards: [], others: [1, 'x'], total: 1 }, ['others', 1], 'Invalid input: expected number, received string'],
  [z.array(card), [{ id: 'a' }, 'x'], [1], 'Invalid input: expected object, received string'],
  [z.array(card), {}, [], 'Invalid input: expected array, received object'],
  [z.array(z.string()).min(1), [], [], 'Too small: expected array to have >=1 items'],
  [z.string(), 1, [], 'Invalid input: expected string, received number'],
  [z.string(), ['x'], [], 'Invalid input: expected string, received array'],
];

test.each(issues)('the first that is wrong is told by its place (case %#)', (schema, value, path, message) => {
  expect(firstIssue(schema, value)).toMatchObject({ path, message });
});

test('of what fits nothing is told', () => {
  expect(firstIssue(board, { cards: ids, others: [1], total: 2, more: [1] })).toBeUndefined();
  expect(firstIssue(z.array(card), ids)).toBeUndefined();
  expect(firstIssue(z.string(), 'x')).toBeUndefined();
});

test('pages that do not fit are told of by the path that is wrong, whether first or later', async () => {
  const good = { itemId: 'a' };
  const page = Array.from({ length: 2 }, () => good);
  const service = await answering(page);
  const { err, code } = await run(
    'profile positions 0x1111111111111111111111111111111111111111 open --max 4 --limit 2 --strict --format ndjson',
    { env: service.env },
  );
  expect(code).toBe(13);
  expect(err).toContain('unexpected shape at 0.totalCompletions');
});
