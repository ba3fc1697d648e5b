import { expect, test } from 'vitest';
import { some } from '../support/size.ts';
import { digestOf, forms, readSlowly, serveNames } from '../support/slow-pipe.ts';

/** Of ten thousand bytes each: 3 MB. */
const names = 300;

test.each(some(Object.entries(forms), 1))(
  '3 MB of %s come whole through a pipe that is read a bit at a time',
  async (_, form) => {
    const { code, err, ...text } = await readSlowly(form.argv, await serveNames(names));
    expect([code, err]).toEqual([0, '']);
    expect(text).toEqual(await digestOf(form.must(names)));
    expect(text.bytes).toBeGreaterThan(3_000_000);
  },
);
