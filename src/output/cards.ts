import type { Palette } from './color.ts';
import type { Grid, Head } from './grid.ts';
import { cutText, displayWidth, wrapText } from './text-width.ts';
import type { Shown } from './view.ts';

// A value is not squeezed below this, however narrow the terminal.
const minWidth = 8;

/** How cards are drawn; `long` says what becomes of values of columns that may be cut. */
export interface CardOptions {
  width: number;
  palette: Palette;
  ellipsis: string;
  long: 'cut' | 'wrap';
}

/**
 * Each line of the grid as a block of `header  value` lines, blocks separated by an empty line. Values of columns that
 * may be cut are cut to the width, or, with `wrap`, prose continues on further lines and addresses stay whole. Ends with
 * a newline, or is empty without lines.
 */
export function renderCards(grid: Grid, options: CardOptions): string {
  const labelWidth = Math.max(0, ...grid.heads.map((head) => displayWidth(head.text)));
  const indent = ' '.repeat(labelWidth + 2);
  const room = Math.max(minWidth, options.width - indent.length);
  const card = (cells: readonly Shown[]) =>
    grid.heads.map((head, index) => {
      const cell = cells[index] ?? { text: '' };
      const label = options.palette.dim(head.text) + ' '.repeat(indent.length - displayWidth(head.text));
      const lines = fitValue(cell, room, head, options).map((line) => options.palette.tone(cell.tone ?? 'plain', line));
      return `${(label + lines.join(`\n${indent}`)).trimEnd()}\n`;
    });
  return grid.lines.map((cells) => card(cells).join('')).join('\n');
}

function fitValue({ text, short }: Shown, room: number, head: Head, options: CardOptions): string[] {
  if (options.long === 'cut' && short !== undefined && displayWidth(text) > room) return [short];
  if (head.cut === undefined) return [text];
  if (options.long === 'cut') return [cutText(text, room, head.cut, options.ellipsis)];
  return head.cut === 'end' ? wrapText(text, room) : [text];
}
