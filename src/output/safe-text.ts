// In this order: OSC (titles, links, clipboard), DCS, SOS, PM and APC up to their terminator; CSI; two-character
// escapes; any control that is left. The counts keep millions of characters off the stack of the pattern.
const control = new RegExp(
  [
    '(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\x07\\x1b\\x80-\\x9f]{0,65536}(?:\\x07|\\x1b\\\\|\\x9c)',
    '(?:\\x1b\\[|\\x9b)[\\x30-\\x3f]{0,1024}[\\x20-\\x2f]{0,64}[\\x40-\\x7e]',
    '\\x1b[\\x20-\\x2f]{0,64}[\\x30-\\x7e]',
    '[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]',
  ].join('|'),
  'g',
);

// Characters without ink: bidirectional controls, zero-width spaces, fillers, tags. Kept are variation selectors behind
// an emoji, the tags of the three flags that need them, and the joiners, which are judged below.
const flagWithTags =
  '\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}';
const invisible = new RegExp(
  `(${flagWithTags}|(?<=\\p{Emoji})[\\uFE0E\\uFE0F]|[\\u200C\\u200D])|[\\p{Default_Ignorable_Code_Point}\\uFFF9-\\uFFFB]`,
  'gu',
);

// ZWJ and ZWNJ mean something inside emoji sequences and in scripts whose letters join; elsewhere they only hide.
const joining =
  'Arabic Syriac Mongolian Nko Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar'
    .split(' ')
    .map((script) => `\\p{Script=${script}}`)
    .join('');
const strayJoiner = new RegExp(
  `(?<![${joining}]|[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\uFE0F?)[\\u200C\\u200D]` +
    `|[\\u200C\\u200D](?![${joining}\\p{Extended_Pictographic}])`,
  'gu',
);

// No script needs more than four marks on one letter; more of them paint over the neighboring lines.
const markPile = /(?<=[\p{Mn}\p{Me}\u200C\u200D]{4})[\p{Mn}\p{Me}\u200C\u200D]/gu;

/**
 * The text on one line, fit for a terminal: nothing in it can move the cursor, set a title, color, reorder or hide.
 * Escape sequences, control, bidirectional and zero-width characters are removed, each line break or tab becomes one
 * space, a lone surrogate becomes U+FFFD, and a letter carries at most four combining marks. Joiners stay inside emoji
 * and in joining scripts. Idempotent; never throws. Source: conventions, "Output".
 */
export function safeText(text: string): string {
  // Nearly every cell is plain ASCII, which needs none of the work below.
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return stripControls(text)
    .replace(invisible, (_, kept: string | undefined) => kept ?? '')
    .replace(markPile, '')
    .replace(strayJoiner, '')
    .replace(/\r\n|[\t\n\r\u2028\u2029]/g, ' ')
    .replace(/\p{Surrogate}/gu, '\uFFFD');
}

/**
 * The text without escape sequences and control characters; tab, newline and carriage return stay, and so does
 * everything above U+009F. For csv, where the rest belongs to the data. Idempotent; never throws.
 */
export function stripControls(text: string): string {
  return text.replace(control, '');
}

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
