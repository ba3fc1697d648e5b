import { wrapWords } from '../wrap.ts';
import type { DrawOptions } from './color.ts';
import { displayWidth } from './text-width.ts';
import type { AnyColumn, CellText } from './view.ts';

const minRoom = 8;

/** `header  value` lines, with an empty line between two records. Prose is wrapped at spaces; an address or path stays whole. */
export function drawRecords(
  columns: readonly AnyColumn[],
  cells: readonly (readonly CellText[])[],
  { width, palette }: DrawOptions,
): string {
  const indent = Math.max(0, ...columns.map(({ header }) => displayWidth(header))) + 2;
  const room = Math.max(minRoom, width - indent);
  const drawLine = ({ header, cut }: AnyColumn, { text, tone = 'plain' }: CellText) => {
    const lines = cut ? wrapWords(text, room, displayWidth) : [text];
    const value = lines.map((line) => palette.tone(tone, line)).join(`\n${' '.repeat(indent)}`);
    return `${palette.dim(header)}${' '.repeat(indent - displayWidth(header))}${value}`.trimEnd();
  };
  const records = cells.map((line) =>
    columns.map((column, index) => `${drawLine(column, line[index] ?? { text: '' })}\n`).join(''),
  );
  return records.join('\n');
}
