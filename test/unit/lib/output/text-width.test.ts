import { expect, test } from 'vitest';
import { breakText, cutText } from '../../../../src/lib/output/text-width.ts';

test.each([
  ['hello world', 11, 'hello world'],
  ['hello world', 10, 'hello wor…'],
  ['hello world', 7, 'hello…'],
  ['0x1234…cdef', 8, '0x1234…'],
  ['日本のトレーダー', 8, '日本の…'],
  ['👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 4, '👨‍👩‍👧…'],
  ['日本', 2, '…'],
  ['hello', 1, '…'],
  ['hello', 0, ''],
] as const)('%j cut to %i is %j', (text, width, expected) => expect(cutText(text, width)).toBe(expected));

test('text is broken between graphemes, and a grapheme that is too wide is a piece of its own', () => {
  expect(breakText('0123456789', 4)).toEqual(['0123', '4567', '89']);
  expect(breakText('', 4)).toEqual(['']);
  expect(breakText('日本', 1)).toEqual(['日', '本']);
});
