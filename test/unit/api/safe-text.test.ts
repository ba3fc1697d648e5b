import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { safeText, stripControls, stripForCsv } from '../../../src/api/safe-text.ts';
import { anyCharacter, fc } from '../../support/draw.ts';
import { size } from '../../support/size.ts';

const emojiPath = 'test/data/hostile/text/unicode15_emoji-test.txt.gz';

// Everything that can steer a terminal, reorder text or break its line.
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Surrogate}]/u;

test.each([
  ['plain ASCII stays', 'gm, world ~', 'gm, world ~'],
  ['accents and wide text stay', 'né 日本 ✓ – … 👍🏽', 'né 日本 ✓ – … 👍🏽'],
  ['colors go', '\u001b[31mred\u001b[0m', 'red'],
  ['cursor moves and clearing go', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
  ['a window title goes whole', 'a\u001b]0;owned\u0007b', 'ab'],
  ['a link loses its target', '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\', 'click'],
  ['a clipboard write goes whole', '\u001b]52;c;ZXZpbA==\u0007x', 'x'],
  ['an unfinished title loses its escape only', 'a\u001b]0;title', 'a0;title'],
  ['device control strings go whole', 'a\u001bPq#0;2;0\u001b\\b', 'ab'],
  ['8-bit sequences go too', 'a\u009b31mb\u009d0;t\u009cc', 'abc'],
  ['a terminal reset goes', 'a\u001bcb', 'ab'],
  ['a nested sequence leaves nothing that works', '\u001b\u001b[31m[31mx', '[31mx'],
  ['a lone escape goes', 'a\u001b', 'a'],
  ['bell, backspace, null and delete go', 'a\u0007b\bc\u0000d\u007fe', 'abcde'],
  ['line breaks and tabs become one space each', 'a\nb\r\nc\td\re\u2028f\u2029g', 'a b c d e f g'],
  ['reversed text is turned back', 'USD\u202eC\u202c', 'USDC'],
  ['isolates and marks go', '\u2066a\u2069\u200eb\u200fc\u061c', 'abc'],
  ['zero-width characters go', 'US\u200bD\u2060C\ufeff\u00ad', 'USDC'],
  ['blank letters go', 'a\u3164b\u115fc\uffa0', 'abc'],
  ['a joiner between Latin letters goes', 'US\u200dD\u200cC', 'USDC'],
  ['an emoji family stays one', '👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
  ['a joiner behind the last emoji goes', '👨\u200d', '👨'],
  ['Persian keeps its joiners', 'می\u200cخواهم', 'می\u200cخواهم'],
  ['Hindi keeps its joiners', 'क्\u200dष', 'क्\u200dष'],
  [
    'the flag of Scotland keeps its tags',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
    '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  ],
  ['hidden tags go', 'hi\u{e0041}\u{e0042}', 'hi'],
  ['selectors that hide bytes go', 'a\ufe00\u{e0101}', 'a'],
  ['piled marks are cut to four', 'a\u0301\u0302\u0303\u0304\u0305\u0306b', 'a\u0301\u0302\u0303\u0304b'],
  ['a lone surrogate becomes a replacement character', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
])('%s', (_name, text, expected) => {
  expect(safeText(text)).toBe(expected);
});

test('every invisible character is shown as such, also in an otherwise plain text', () => {
  const codes = Array.from({ length: 0x10000 }, (_, code) => code);
  expect(
    codes.filter((code) => safeText(String.fromCharCode(code)) !== safeText(`${String.fromCharCode(code)}\u200b`)),
  ).toEqual([]);
});

test('text for csv keeps its lines, tabs and invisible characters, but no control or direction characters', () => {
  expect(stripForCsv('a\tb\r\nc\u001b[31md\u202Etxt.exe\u2066\u061C\u200B')).toBe('a\tb\r\ncdtxt.exe\u200B');
  expect(stripControls('a\tb\r\nc\u001b[31md\u0007\u202e')).toBe('a\tb\r\ncd\u202e');
});

test('no text comes out with a control, bidirectional or zero-width character, and a second pass changes nothing', () => {
  const hostile = fc.constantFrom(
    ...'\u001b[]\u009b\u0007\\\u009c\u202e\u200b\u200d\u200c\ufe0f👨🏴\u{e0067}\u{e0062}\u{e007f}\u0301क्a1\u20e3\r\nP ',
    ...['31m', '\ud83d', '\udc68'],
  );
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(hostile, { maxLength: 16 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const safe = safeText(text);
      expect(safe).not.toMatch(unsafe);
      expect(safeText(safe)).toBe(safe);
      expect(stripControls(stripControls(text))).toBe(stripControls(text));
    }),
    { numRuns: size(500, 2000) },
  );
});

test('every emoji of Unicode 15 stays as it is', async () => {
  const emojis = await readEmojis();
  expect(emojis.length).toBeGreaterThan(3000);
  expect(emojis.filter((emoji) => safeText(emoji) !== emoji)).toEqual([]);
});

async function readEmojis(): Promise<string[]> {
  const { gunzipSync } = await import('node:zlib');
  const lines = gunzipSync(readFileSync(emojiPath)).toString('utf8').split('\n');
  return lines
    .filter((line) => line.includes('; fully-qualified'))
    .map((line) =>
      String.fromCodePoint(
        ...(line.split(';')[0] ?? '')
          .trim()
          .split(' ')
          .map((hex) => Number.parseInt(hex, 16)),
      ),
    );
}
