/**
 * Members of a character class (flag `u` or `v`): what leaves no ink or changes the direction of what stands beside it. Fillers, variation
 * selectors, tags and bidirectional controls are of the first two properties; spaces other than U+0020, blank letters and
 * characters that no text may hold follow.
 */
export const unseenClass =
  '\\p{Default_Ignorable_Code_Point}\\p{Cf}\\p{Noncharacter_Code_Point}' +
  '\\u00A0\\u1680\\u2000-\\u200A\\u202F\\u205F\\u3000\\u2028\\u2029' +
  '\\u2800\\uFFFC\\u{13441}\\u{13442}\\u{16FE4}\\u{1D159}';

const hidden = `[${unseenClass}\\p{Cc}\\p{Cs}]`;
const mayHide = new RegExp(hidden, 'u');

/** The characters of a text that cannot be seen, in order: no ink, another direction, controls (line feeds too), lone surrogates. */
export function unseenIn(text: string): string[] {
  if (!mayHide.test(text)) return [];
  return [...text.matchAll(patternFor(text))].flatMap(([, character]) => character ?? []);
}

/** The text with each character that cannot be seen written as `<U+200B>`. */
export function showUnseen(text: string): string {
  if (!mayHide.test(text)) return text;
  return text.replace(patternFor(text), (whole, character: string | undefined) =>
    character === undefined ? whole : `<${codeOf(character)}>`,
  );
}

/** The joiners and selectors inside an emoji of Unicode's list, and of no other sequence, are part of what is seen. That list is slow to load. */
function patternFor(text: string): RegExp {
  const inEmoji = /\p{Emoji}[\u200D\uFE0F\u{E0020}-\u{E007F}]/u.test(text);
  return new RegExp(inEmoji ? `\\p{RGI_Emoji}|(${hidden})` : `(${hidden})`, 'gv');
}

/** A character as `U+200B`. */
export function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
