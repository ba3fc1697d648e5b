import { safeText } from '../model/safe-text.ts';
import type { Sink } from '../world.ts';
import type { Palette } from './color.ts';
import { terminalText } from './terminal.ts';
import { wrapText } from './text-width.ts';

/** Text on a terminal that the next one replaces. */
interface Picture {
  text: string;
  /** Written below, as sentences. */
  notes: readonly string[];
}

const [noWrap, wrap, eraseLine, below, all] = ['\u001b[?7l', '\u001b[?7h', '\u001b[K', '\u001b[J', '\u001b[2J\u001b[H'];

/** Draws each picture over the one before, cut to the height of the terminal; what stood above stays. */
export async function drawPictures(pictures: AsyncIterable<Picture>, out: Sink, palette: Palette): Promise<void> {
  let [drawn, width] = [0, out.width];
  for await (const { text, notes } of pictures) {
    const foot = notes.flatMap((note) => wrapText(safeText(note), out.width)).map((line) => palette.dim(line));
    const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
    const room = Math.max(1, (out.height ?? Number.POSITIVE_INFINITY) - foot.length - 1);
    const hidden = lines.length - room;
    const cut =
      hidden > 0
        ? [...lines.slice(0, room - 1), palette.dim(`${hidden + 1} more lines: make the window taller`)]
        : lines;
    // A terminal that became narrower has moved the lines itself.
    const start = width === out.width ? (drawn === 0 ? '' : `\u001b[${drawn}A\r`) : all;
    const whole = [...cut, ...foot];
    // Erased after it, a line as wide as the terminal would lose its last character.
    await out.draw(
      `${noWrap}${start}${whole.map((line) => `${eraseLine}${terminalText(line)}\n`).join('')}${below}${wrap}`,
    );
    [drawn, width] = [whole.length, out.width];
  }
}
