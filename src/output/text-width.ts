import stringWidth from 'string-width';
import { wrapWords } from '../model/wrap.ts';

/** What most cells hold: each character is one grapheme of one cell. */
const plain = /^[\x20-\x7e…–]*$/;

/** How many terminal cells the text takes: wide characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  return plain.test(text) ? text.length : stringWidth(text);
}

/** The text cut between graphemes to at most `width` cells with the ellipsis; `middle` keeps both ends (addresses). */
export function cutText(text: string, width: number, where: 'middle' | 'end'): string {
  if (displayWidth(text) <= width) return text;
  const room = width - 1;
  if (room < 0) return '';
  const parts = splitGraphemes(text);
  const head = takeWidth(parts, where === 'middle' ? Math.ceil(room / 2) : room).join('');
  // A short address that is cut again has one ellipsis.
  if (where === 'end') return `${head.replace(/(?<![\s…])[\s…]+$/, '')}…`;
  const tail = takeWidth(parts.reverse(), room - displayWidth(head)).reverse();
  return `${head}…${tail.join('')}`;
}

/** Lines of at most `width` cells, broken at spaces, and inside words that are wider; at least one line. */
export function wrapText(text: string, width: number): string[] {
  return wrapWords(text, width, displayWidth, (word) => breakText(word, width));
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
  return Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment);
}

function takeWidth(parts: readonly string[], width: number): string[] {
  let used = 0;
  const end = parts.findIndex((part) => {
    used += displayWidth(part);
    return used > width;
  });
  return parts.slice(0, end === -1 ? parts.length : end);
}
