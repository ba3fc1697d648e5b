import { expect, test } from 'vitest';
import { digestOf, forms, readSlowly, serveNames } from '../support/slow-pipe.ts';

/** Of ten thousand bytes each: 105 MB of pages, and 64 MB where all is one answer, as none may be larger. */
const names = { ndjson: 10_500, csv: 10_500, json: 6400, request: 6400 };

test.each(Object.entries(forms))('the most there may be of %s comes whole through a slow pipe', async (name, form) => {
  const count = names[name as keyof typeof names];
  const { code, err, ...came } = await readSlowly(form.argv, await serveNames(count));
  const must = await digestOf(form.must(count));
  process.stdout.write(`${JSON.stringify({ name, code, came, must })}\n`);
  expect([code, err]).toEqual([0, '']);
  expect(came).toEqual(must);
  expect(came.bytes).toBeGreaterThan(count * 10_000);
});
