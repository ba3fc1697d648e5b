import { expect, test } from 'vitest';
import { run } from '../../support/harness.ts';

test('named columns come without the tables below', async () => {
  const argv = '--sandbox profile get 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  const whole = await run(argv, { tty: 80 });
  expect(whole.out).toContain('\nTrading\n');
  const named = await run(`${argv} --columns name,isFollowedByUser`, { tty: 80 });
  expect(named.out).toBe('Name      0xb7b6…17b2\nFollowed  –\n');
});
