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

// Invisible characters: bidirectional controls, zero-width spaces, fillers, tags. Kept are variation selectors after an emoji, the tags of
// the three flags that need them, and the joiners, which are checked below.
const flagWithTags =
  '\\u{1F3F4}\\u{E0067}\\u{E0062}(?:\\u{E0065}\\u{E006E}\\u{E0067}|\\u{E0073}\\u{E0063}\\u{E0074}|\\u{E0077}\\u{E006C}\\u{E0073})\\u{E007F}';
const invisible = patternOnUse(
  `(${flagWithTags}|(?<=\\p{Emoji})[\\uFE0E\\uFE0F]|[\\u200C\\u200D])|[\\p{Default_Ignorable_Code_Point}\\uFFF9-\\uFFFB]`,
  'gu',
);

// Joiners have a meaning in emoji sequences and in scripts whose letters join; elsewhere they only hide.
const joining =
  'Arabic Syriac Mongolian Nko Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar'
    .split(' ')
    .map((script) => `\\p{Script=${script}}`)
    .join('');
const strayJoiner = patternOnUse(
  `(?<![${joining}]|[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\uFE0F?)[\\u200C\\u200D]` +
    `|[\\u200C\\u200D](?![${joining}\\p{Extended_Pictographic}])`,
  'gu',
);

// No script needs more than four marks on a letter; more paint over the neighboring lines.
const markPile = patternOnUse(String.raw`(?<=[\p{Mn}\p{Me}\u200C\u200D]{4})[\p{Mn}\p{Me}\u200C\u200D]`, 'gu');

// What nearly every text is made of, none of it invisible nor a mark: Latin, Greek, punctuation, arrows, Japanese, Chinese and Korean. The
// patterns above take 3 ms at their first use, 20 ms in a browser.
const plain =
  /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u0391-\u03c9\u2010-\u2027\u2190-\u21ff\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** Gives a pattern that is made when it is first asked for: classes of Unicode take up to half a millisecond each, and few runs need them. */
export function patternOnUse(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}

/**
 * The text on one line, safe for a terminal: escape sequences, control, bidirectional and zero-width characters are removed, a line break or
 * tab becomes a space, a lone surrogate U+FFFD, and a letter carries at most four marks. Idempotent.
 */
export function safeText(text: string): string {
  if (plain.test(text)) return text;
  return stripControls(text)
    .replace(invisible(), (_, kept: string | undefined) => kept ?? '')
    .replace(markPile(), '')
    .replace(strayJoiner(), '')
    .replace(/\r\n|[\t\n\r\u2028\u2029]/g, ' ')
    .replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** The text without escape sequences and control characters; tabs and line ends stay. Idempotent. */
export function stripControls(text: string): string {
  return text.replace(control, '');
}

/** The same without the characters that change the direction of text, for csv. Idempotent. */
export function stripForCsv(text: string): string {
  return stripControls(text).replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '');
}

/** Members of a character class (flag `u` or `v`): characters that are invisible or change the direction of text, blank letters, and noncharacters. */
export const unseenClass =
  '\\p{Default_Ignorable_Code_Point}\\p{Cf}\\p{Noncharacter_Code_Point}' +
  '\\u00A0\\u1680\\u2000-\\u200A\\u202F\\u205F\\u3000\\u2028\\u2029' +
  '\\u2800\\uFFFC\\u{13441}\\u{13442}\\u{16FE4}\\u{1D159}';

/** What `safeText` leaves out of a pile of marks. */
const piledMark = '(?<=[\\p{Mn}\\p{Me}\\u200C\\u200D]{4})[\\p{Mn}\\p{Me}]';

const hidden = `[${unseenClass}\\p{Cc}\\p{Cs}]|${piledMark}`;
const mayHide = patternOnUse(hidden, 'u');

/** The parts of a text that a screen does not show, in order: invisible characters, controls, line feeds, lone surrogates, a fifth mark on a letter. */
export function unseenIn(text: string): string[] {
  if (!mayHide().test(text)) return [];
  return [...text.matchAll(patternFor(text))].flatMap(([, character]) => character ?? []);
}

/** The text with each invisible character as `<U+200B>`. */
export function showUnseen(text: string): string {
  return splitUnseen(text)
    .map((part) => (part.unseen ? `<${part.text}>` : part.text))
    .join('');
}

/** Joiners and selectors inside an emoji of Unicode's list are visible; the list is slow to load. */
function patternFor(text: string): RegExp {
  const inEmoji = /\p{Emoji}[\u200D\uFE0F\u{E0020}-\u{E007F}]/u.test(text);
  return new RegExp(inEmoji ? `\\p{RGI_Emoji}|(${hidden})` : `(${hidden})`, 'gv');
}

/** A character as `U+200B`. */
export function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text in parts: runs of visible text, and each invisible character as `U+200B`. */
export function splitUnseen(text: string): { text: string; unseen: boolean }[] {
  if ((plain.test(text) && !text.includes('\xa0')) || !mayHide().test(text)) return [{ text, unseen: false }];
  const parts: { text: string; unseen: boolean }[] = [];
  let at = 0;
  for (const { 1: character, index } of text.matchAll(patternFor(text))) {
    if (character === undefined) continue;
    if (index > at) parts.push({ text: text.slice(at, index), unseen: false });
    parts.push({ text: formatCodePoint(character), unseen: true });
    at = index + character.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), unseen: false });
  return parts;
}

// Line ends, tabs, and the colors and weights that the palette has; nothing that hides text or moves the cursor.
const ours = /(\n|\t|\u001b\[(?:[0-4]|9|2[2-479]|[34][0-79]|9[0-7]|10[0-7]|[34]8;(?:5;\d{1,3}|2(?:;\d{1,3}){3}))?m)/;

/**
 * What may be written to a terminal of a text of several lines: `safeText` of everything but line ends, tabs and our own colors. The sinks of
 * the process pass text through here, so that text that was not cleaned before is cleaned there. Idempotent.
 */
export function terminalText(text: string): string {
  return text
    .split(ours)
    .map((part, index) => (index % 2 === 0 ? safeText(part) : part))
    .join('');
}
