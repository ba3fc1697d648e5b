import { expect, test } from 'vitest';
import { formatTable } from '../../bench/measure/table.ts';

test('the bench table tells medians, their ratio with its spread, the aim and whether it is met', () => {
  const text = formatTable([
    { what: 'upload', unit: 's', floor: [1, 2, 4], measured: [3, 3, 5], atMost: 2 },
    { what: 'stream', unit: 'items/s', floor: [1000, 1000, 1000], measured: [600, 500, 900], atLeast: 0.7 },
    { what: 'memory', unit: 'MB', measured: [119.51, 101.2], atMost: 120 },
    { what: 'bare', unit: 'ms', measured: [41.25] },
  ]);
  expect(text).toBe(
    [
      'what    floor         measured     ratio  spread       aim        met',
      'upload  2 s           3 s          1.50   1.25-3       <= 2x      yes',
      'stream  1000 items/s  600 items/s  0.600  0.500-0.900  >= 0.7x    NO',
      'memory  -             120 MB       -      101-120      <= 120 MB  yes',
      'bare    -             41.3 ms      -      -            -          -',
      '',
    ].join('\n'),
  );
});

test('a bench table of nothing is empty', () => {
  expect(formatTable([])).toBe('');
});
