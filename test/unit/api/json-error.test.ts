import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonError } from '../../../src/api/json.ts';

test.each([
  ['{"a":1,}', 1, 8, '}'],
  ['{"a":\n  1,\n  nope: 2}', 3, 3, 'nope'],
  ["{'a':1}", 1, 2, "'"],
  ['[1 2]', 1, 4, '2'],
  ['[01]', 1, 2, '01'],
  ['["a\tb"]', 1, 4, '\t'],
  ['["\\\\\\x41"]', 1, 5, '\\'],
  ['{"a" 1}', 1, 6, '1'],
  ['{"a":1]', 1, 7, ']'],
  ['{} {}', 1, 4, '{'],
  ['[NaN]', 1, 2, 'NaN'],
  ['', 1, 1, ''],
  ['{"traders":[{"profile":', 1, 24, ''],
  ['["half', 1, 7, ''],
  ['[1,\n tr', 2, 4, ''],
])('%j stops being JSON at line %i, column %i, at %j', (text, line, column, near) => {
  expect(findJsonError(text)).toEqual({ line, column, near });
});

test('text that JSON.parse accepts has no error, and text that it refuses has one', () => {
  const accepts = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const harmed = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '1', 'x', ' ', '\\', ':'))
    .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1));
  fc.assert(fc.property(fc.json(), (text) => findJsonError(text) === undefined));
  fc.assert(fc.property(harmed, (text) => (findJsonError(text) === undefined) === accepts(text)));
});
