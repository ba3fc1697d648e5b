import { expect, test } from 'vitest';
import { z } from 'zod';
import { createFitCheck } from '../src/api/fits.ts';
import { endpoints } from '../src/resources/index.ts';
import { fc } from './draw.ts';
import { answering, run, temporaryFolder } from './harness.ts';

/** The quick check's word on a value, after the first value that it lets pass to the schema. */
const fitsOf = (schema: z.ZodType) => {
  const fits = createFitCheck();
  fits(schema, undefined);
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
    z.tuple([z.string()]),
    z.strictObject({ a: z.string() }),
  ];
  for (const schema of unknown) expect(['abc', 1, ['a'], { a: 'b' }].filter(fitsOf(schema))).toEqual([]);
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
