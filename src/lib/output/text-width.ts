import stringWidth from 'string-width';

const plain = /^[\x20-\x7e…–]*$/;

/** Whether each character is one grapheme of one cell, as in most texts. */
export function isPlain(text: string): boolean {
  return plain.test(text);
}

/** How many terminal cells the text takes: wide characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** The text cut between graphemes to at most `width` cells, the last an ellipsis. */
export function cutText(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  let [head, used] = ['', 1];
  for (const part of splitGraphemes(text)) {
    used += displayWidth(part);
    if (used > width) break;
    head += part;
  }
  return `${head.replace(/[\s…]+$/, '')}…`;
}

/** Pieces of at most `width` cells, broken between graphemes; a wider grapheme is a piece of its own. */
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

function* splitGraphemes(text: string): Generator<string> {
  if (isPlain(text)) yield* text;
  else for (const { segment } of new Intl.Segmenter('en').segment(text)) yield segment;
}
