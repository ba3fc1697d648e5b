import { expect, test } from 'vitest';
import { breakText, cutText, displayWidth } from '../../../../src/lib/output/text-width.ts';
import { fc } from '../../../support/draw.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

test.each([
  ['', 0],
  ['abc', 3],
  ['né', 2],
  ['ne\u0301', 2],
  ['日本', 4],
  ['ｱ', 1],
  ['한글', 4],
  ['ที่', 1],
  ['👍🏽', 2],
  ['👨‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['1️⃣', 2],
  ['…', 1],
  ['–', 1],
])('%j takes %i cells', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test('a text of plain characters is cut between graphemes, as Intl.Segmenter sees them', () => {
  const unit = fc.constantFrom(...'azé、〆あゖァヺーｦ一鿿가힣Ａ！\u3099\u0301\u200d👍한');
  const property = fc.property(fc.string({ unit, maxLength: 12 }), fc.integer({ min: 1, max: 12 }), (text, width) => {
    const parts = Array.from(graphemes.segment(text), (part) => part.segment);
    const head = cutText(text, width).replace(/…$/, '');
    expect(parts.map((_, count) => parts.slice(0, count).join('')).concat(text)).toContain(head);
  });
  fc.assert(property, { numRuns: 2000 });
});

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
] as const)('%j cut to %i is %j', (text, width, expected) => {
  expect(cutText(text, width)).toBe(expected);
});

test('text is broken between graphemes, and a grapheme that is too wide is a piece of its own', () => {
  expect(breakText('0123456789', 4)).toEqual(['0123', '4567', '89']);
  expect(breakText('', 4)).toEqual(['']);
  expect(breakText('日本', 1)).toEqual(['日', '本']);
});
