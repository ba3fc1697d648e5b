import { expect, test } from 'vitest';
import { cutText, displayWidth, wrapText } from '../../../src/output/text-width.ts';
import { fc } from '../../support/draw.ts';

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
    const head = cutText(text, width, 'end').replace(/…$/, '');
    expect(parts.map((_, count) => parts.slice(0, count).join('')).concat(text)).toContain(head);
  });
  fc.assert(property, { numRuns: 2000 });
});

test.each([
  ['hello world', 11, 'end', 'hello world'],
  ['hello world', 10, 'end', 'hello wor…'],
  ['hello world', 7, 'end', 'hello…'],
  ['0x1234567890abcdef', 11, 'middle', '0x123…bcdef'],
  ['0x1234567890abcdef', 10, 'middle', '0x123…cdef'],
  ['日本のトレーダー', 8, 'end', '日本の…'],
  ['日本のトレーダー', 8, 'middle', '日本…ー'],
  ['👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 4, 'end', '👨‍👩‍👧…'],
  ['hello', 1, 'end', '…'],
  ['hello', 0, 'end', ''],
  ['hello', -3, 'middle', ''],
] as const)('%j cut to %i at the %s is %j', (text, width, where, expected) => {
  expect(cutText(text, width, where)).toBe(expected);
});

test('prose is wrapped at spaces, and a long word within itself', () => {
  expect(wrapText('buys what the timeline sells', 12)).toEqual(['buys what', 'the timeline', 'sells']);
  expect(wrapText('a 0123456789 b', 4)).toEqual(['a', '0123', '4567', '89 b']);
  expect(wrapText('', 4)).toEqual(['']);
  expect(wrapText('日本', 1)).toEqual(['日', '本']);
});
