import { expect, test } from 'vitest';
import { colorLevel } from '../../src/world.ts';

test.each([
  [{}, true, 8, 2],
  [{}, false, 8, 0],
  [{ CLICOLOR_FORCE: '1' }, false, 1, 1],
  [{ CLICOLOR_FORCE: '0' }, false, 8, 0],
  [{ CLICOLOR_FORCE: '1', TERM: 'dumb' }, true, 8, 2],
  [{ CLICOLOR_FORCE: '1', NO_COLOR: '1' }, true, 8, 0],
  [{ CLICOLOR_FORCE: '1', FORCE_COLOR: '0' }, true, 8, 0],
  [{ CLICOLOR: '0' }, true, 8, 0],
  [{ CLICOLOR: '0', CLICOLOR_FORCE: '1' }, false, 24, 3],
])('with %j, terminal %s and %d bits the level is %d', (env, isTTY, depth, level) => {
  expect(colorLevel(env, isTTY, depth)).toBe(level);
});
