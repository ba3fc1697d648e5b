import { expect, test } from 'vitest';
import { digestOf, forms, readSlowly, serveNames } from '../support/slow-pipe.ts';

/** Of ten thousand bytes each: 105 MB. */
const names = 10_500;

test.each(Object.entries(forms))('100 MB of %s come whole through a slow pipe', async (name, form) => {
  const { code, err, ...came } = await readSlowly(form.argv, await serveNames(names));
  const must = await digestOf(form.must(names));
  process.stdout.write(`${JSON.stringify({ name, code, came, must })}\n`);
  expect([code, err]).toEqual([0, '']);
  expect(came).toEqual(must);
  expect(came.bytes).toBeGreaterThan(100_000_000);
});
