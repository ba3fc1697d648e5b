import CliTable from 'cli-table3';
import { renderCards } from './cards.ts';
import type { Palette } from './colour.ts';
import { type AnyColumn, knownColumns } from './columns.ts';
import { type Grid, readGrid } from './grid.ts';
import { safeText } from './safe-text.ts';
import { cutText, displayWidth, wrapText } from './text-width.ts';
import type { AnyView } from './view.ts';

/** How results are written for people. `width` is in terminal cells; `columns` were checked with selectColumns. */
export interface HumanOptions {
  width: number;
  palette: Palette;
  columns?: readonly string[];
  /** False writes our own ornaments (rule, ellipsis, dash) in ASCII. */
  unicode?: boolean;
}

const gap = 2;
// A column that may be cut is not made narrower than this, nor than its header.
const leastWidth = 8;
const batch = 10;

/**
 * The answer as people read it: a table that fits the width, or one card an item where it cannot fit; a record as
 * `header  value` lines; further blocks below under a title. Every line ends with a newline; empty when there is nothing
 * to show. No line is wider than `width` unless an uncut value of a card is. Throws what the view's functions throw.
 */
export function renderView(view: AnyView, answer: unknown, input: unknown, options: HumanOptions): string {
  const rows = view.rows(answer as never, input as never);
  const parts = [renderPart(view.layout, knownColumns(view, options.columns), rows, options)];
  for (const block of view.blocks?.(answer as never, input as never) ?? []) {
    const part = renderPart(block.layout, block.columns, block.rows, options);
    if (part === '') continue;
    const title = block.title === undefined ? [] : wrapText(safeText(block.title), options.width);
    parts.push(title.map((line) => `${options.palette.title(line)}\n`).join('') + part);
  }
  return parts.filter((part) => part !== '').join('\n');
}

function renderPart(
  layout: 'table' | 'record',
  columns: readonly AnyColumn[],
  rows: readonly unknown[],
  { width, palette, unicode = true }: HumanOptions,
): string {
  if (rows.length === 0 || columns.length === 0) return '';
  const grid = readGrid(columns, rows, unicode);
  const ellipsis = unicode ? '…' : '...';
  if (layout === 'record') return renderCards(grid, { width, palette, ellipsis, long: 'wrap' });
  const fewer = withoutLeast(columns);
  const widths = fitWidths(grid, width, fewer !== undefined);
  if (widths === undefined) {
    if (fewer !== undefined) return renderPart(layout, fewer, rows, { width, palette, unicode });
    return renderCards(grid, { width, palette, ellipsis, long: 'cut' });
  }
  return renderTable(cutCells(grid, widths, ellipsis), widths, palette, unicode ? '─' : '-');
}

/** The columns without the one that is missed least; undefined when none may be left out. */
function withoutLeast(columns: readonly AnyColumn[]): readonly AnyColumn[] | undefined {
  const least = Math.max(...columns.map((column) => column.drop ?? 0));
  return least > 0 ? columns.filter((column) => column.drop !== least) : undefined;
}

/**
 * The width of each column: as wide as its cells, the widest of the cuttable ones narrowed, while `fewer` columns would do only as far as
 * they say; undefined: it cannot fit.
 */
function fitWidths(grid: Grid, width: number, fewer: boolean): number[] | undefined {
  const columns = grid.heads.map((head, index) => {
    const header = displayWidth(head.text);
    const natural = grid.lines.reduce(
      (widest, cells) => Math.max(widest, displayWidth(cells[index]?.text ?? '')),
      header,
    );
    const least = Math.max((fewer ? head.keep : undefined) ?? leastWidth, header);
    return { natural, least: head.cut === undefined ? natural : Math.min(natural, least) };
  });
  const room = width - gap * (columns.length - 1);
  const widest = Math.min(width, Math.max(...columns.map((column) => column.natural)));
  for (let level = widest; level >= leastWidth || level === widest; level -= 1) {
    const widths = columns.map(({ natural, least }) => Math.min(natural, Math.max(least, level)));
    let spare = room - widths.reduce((sum, each) => sum + each, 0);
    if (spare < 0) continue;
    // What the last step of narrowing left over goes to the first columns that can use it.
    return widths.map((each, index) => (each < (columns[index]?.natural ?? 0) && spare-- > 0 ? each + 1 : each));
  }
  return undefined;
}

function cutCells(grid: Grid, widths: readonly number[], ellipsis: string): Grid {
  const cut = (text: string, index: number) =>
    cutText(text, widths[index] ?? 0, grid.heads[index]?.cut ?? 'end', ellipsis);
  return {
    heads: grid.heads,
    lines: grid.lines.map((cells) => cells.map((cell, index) => ({ ...cell, text: cut(cell.text, index) }))),
  };
}

/**
 * cli-table3 measures with string-width 4, which counts marks of most scripts and newer emoji wrongly. So it lays out
 * stand-ins of the right width, which are then replaced by the painted cells; can go when it takes string-width 8. Its
 * time grows with the square of the rows, so it gets them in batches.
 */
function renderTable(grid: Grid, widths: readonly number[], palette: Palette, rule: string): string {
  const lines = layOut(grid, widths, rule);
  const painted = [
    ...grid.heads.map(({ text }) => ({ text, paint: palette.header(text) })),
    ...grid.lines.flat().map(({ text, tone = 'plain' }) => ({ text, paint: palette.tone(tone, text) })),
  ].filter(({ text }) => displayWidth(text) > 0);
  const next = painted.values();
  return lines
    .map((line, index) => (index === 1 ? palette.dim(line) : line.replace(/x+/g, () => next.next().value?.paint ?? '')))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function layOut(grid: Grid, widths: readonly number[], rule: string): string[] {
  const standIn = ({ text }: { text: string }) => 'x'.repeat(displayWidth(text));
  const lines: string[] = [];
  for (let start = 0; start < grid.lines.length; start += batch) {
    const table = new CliTable({
      chars: { ...noBorders, mid: rule, 'mid-mid': rule.repeat(gap), middle: ' '.repeat(gap) },
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
      colAligns: grid.heads.map((head) => head.side),
      colWidths: [...widths],
      head: start === 0 ? grid.heads.map(standIn) : [],
    });
    table.push(...grid.lines.slice(start, start + batch).map((cells) => cells.map(standIn)));
    lines.push(...table.toString().split('\n'));
  }
  return lines;
}

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  right: '',
  'right-mid': '',
};
