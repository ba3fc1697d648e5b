import { expect, test } from 'vitest';
import { hasDots, isPathSegment } from '../../../src/api/endpoint.ts';

test('dots lead to another path, however often they are encoded', () => {
  const leading = [
    ...['.', '..', '%2e', '%2E%2e', '.%2e', '%252e', '%25252e%2e', ' ..', '.\t.', '.\u0000.'],
    ...['a/..', '../a', 'a\\..', 'a%2f..', 'a%252f..%5Cb', 'a%255c.'],
  ];
  for (const value of leading) expect([value, hasDots(value), isPathSegment(value)]).toEqual([value, true, false]);
  const staying = [
    ...['a', '...', 'a.b', '.a', 'a.', '..a', 'a..', 'x%2e', '%2ex'],
    ...['%2e%2e%2e', 'a/b', '%25', '2e', 'a/x..'],
  ];
  for (const value of staying) expect([value, hasDots(value), isPathSegment(value)]).toEqual([value, false, true]);
});
