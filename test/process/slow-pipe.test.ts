import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
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

test.each(some(Object.entries(forms), 1))(
  'a reader of %s that goes after the first line is no error, and nothing is said of it',
  async (_, form) => {
    const line = `${process.execPath} bin/sotra.js ${form.argv} | head -1; echo "$(printf %s "\${PIPESTATUS[0]}")"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', line], {
      env: await serveNames(names),
    });
    const [first] = [...form.must(names)].join('').split('\n');
    expect(stdout.split('\n').slice(0, 2)).toEqual([first, '0']);
    expect(stderr).toBe('');
  },
);
