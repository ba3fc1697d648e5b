import { eastAsianWidth } from 'get-east-asian-width';

/**
 * Latin, kana, CJK ideographs and Hangul: each character is one grapheme, of one cell or, where it is wide, of two. Other text goes through
 * Intl.Segmenter, whose first use takes 8 ms.
 */
const plain =
  /^[\x20-\x7e\xa1-\xac\xae-\u024f–…\u3001-\u3029\u3041-\u3096\u30a1-\u30fc\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]*$/;
const wide = /[\u3001-\uff5e]/g;

/** How many terminal cells the text takes: wide characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length + (text.match(wide)?.length ?? 0);
  return splitGraphemes(text).reduce((cells, grapheme) => cells + graphemeWidth(grapheme), 0);
}

const hidden =
  /[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]/gu;
const hangulSyllable = /[\u1100-\u115f\ua960-\ua97c][\u1160-\u11a7\ud7b0-\ud7c6][\u11a8-\u11ff\ud7cb-\ud7fb]?/g;
const jamo = /^[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/;
/** Characters that take cells of their own after another in a grapheme. */
const addsWidth = /[\p{Spacing_Mark}\uff00-\uffef]/u;

function graphemeWidth(grapheme: string): number {
  if (isEmoji(grapheme)) return 2;
  const visible = grapheme.replace(hidden, '');
  const isHangul = jamo.test(visible);
  const characters = isHangul ? visible.replace(hangulSyllable, '가') : visible;
  return [...characters]
    .filter((character, index) => index === 0 || isHangul || addsWidth.test(character))
    .reduce((cells, character) => cells + eastAsianWidth(character.codePointAt(0) ?? 0), 0);
}

const emoji = '\\p{RGI_Emoji}|[\\d#*]\\u20e3';

/** An emoji of Unicode's list, a keycap, or several pictures joined. */
function isEmoji(grapheme: string): boolean {
  // Made when it is needed, and asked last: Unicode's list takes 2 ms, and each of its entries is tried.
  if (/\p{Emoji}/u.test(grapheme) && new RegExp(`^(?:${emoji})$`, 'v').test(grapheme)) return true;
  return grapheme.includes('\u200d') && (grapheme.match(/\p{Extended_Pictographic}/gu)?.length ?? 0) > 1;
}

/** The text cut between graphemes to at most `width` cells with the ellipsis; `middle` keeps both ends (addresses). */
export function cutText(text: string, width: number, where: 'middle' | 'end', ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text;
  const room = width - displayWidth(ellipsis);
  if (room < 0) return '';
  const parts = splitGraphemes(text);
  const head = takeWidth(parts, where === 'middle' ? Math.ceil(room / 2) : room).join('');
  // A short address that is cut again has one ellipsis.
  if (where === 'end') return `${head.replace(/(?<![\s…])[\s…]+$/, '')}${ellipsis}`;
  const tail = takeWidth(parts.reverse(), room - displayWidth(head)).reverse();
  return head + ellipsis + tail.join('');
}

/** Lines of at most `width` cells, broken at spaces, and inside words that are wider; at least one line. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = breakText(word, width);
    line = pieces.pop() ?? '';
    lines.push(...pieces);
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/** Pieces of at most `width` cells, broken between graphemes; a wider grapheme stands alone. */
export function breakText(text: string, width: number): string[] {
  const pieces: string[] = [];
  let [piece, used] = ['', 0];
  for (const part of splitGraphemes(text)) {
    const cells = displayWidth(part);
    if (piece !== '' && used + cells > width) {
      pieces.push(piece);
      [piece, used] = ['', 0];
    }
    piece += part;
    used += cells;
  }
  return [...pieces, piece];
}

function splitGraphemes(text: string): string[] {
  if (plain.test(text)) return text.split('');
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

function takeWidth(parts: readonly string[], width: number): string[] {
  let used = 0;
  const end = parts.findIndex((part) => {
    used += displayWidth(part);
    return used > width;
  });
  return parts.slice(0, end === -1 ? parts.length : end);
}
