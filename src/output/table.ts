import CliTable from 'cli-table3';
import { safeText } from '../model/safe-text.ts';
import type { DrawOptions, Palette } from './color.ts';
import { counted, missing } from './format.ts';
import { type Grid, type Head, readGrid } from './grid.ts';
import { cutText, displayWidth, wrapText } from './text-width.ts';
import {
  type AnyColumn,
  type AnyView,
  type Block,
  type CellText,
  type Form,
  inSlices,
  joinParts,
  knownColumns,
  tableBatches,
} from './view.ts';

const gap = 2;
// Columns that may be cut, and values of cards, are not made narrower than this.
const minWidth = 8;

/**
 * A table that fits the width, or one card an item where it cannot fit; a record as `header  value` lines; further blocks below under a
 * title. Only an uncut value of a card may be wider than `width`.
 */
export function tableForm(options: DrawOptions, note: (text: string) => void): Form {
  return async function* (given) {
    const { view, columns, answer, live } = given;
    let hidden = 0;
    const hide: Hide = (count) => {
      hidden = Math.max(hidden, count);
    };
    const render = (rows: readonly unknown[], from = 0) => renderView({ view, columns, rows, from }, options, hide);
    const write = live ? liveTable(render) : render;
    let [from, separator] = [0, ''];
    const noteHidden = (see: string) => {
      if (hidden > 0) note(`${counted(hidden, 'column')} hidden, see ${see}`);
      hidden = 0;
    };
    for await (const rows of tableBatches(given)) {
      const text = write(rows, from);
      if (text !== '') separator = '\n';
      yield text;
      // What comes over time may have no end.
      if (live && from === 0) noteHidden('--columns');
      from += rows.length;
    }
    if (!live) noteHidden('--columns');
    for (const block of answer?.blocks ?? []) {
      let [at, title] = [0, block.title];
      for await (const rows of inSlices(block.rows)) {
        const text = renderBlock({ ...block, rows, title }, options, at, hide);
        if (text !== '') yield at === 0 ? separator + text : text;
        if (text !== '') separator = '\n';
        [at, title] = [at + rows.length, undefined];
      }
      noteHidden('--json');
    }
  };
}

/** Is told how many columns do not fit. */
type Hide = (count: number) => void;

interface Shown {
  view: Pick<AnyView, 'layout' | 'columns'>;
  columns?: readonly string[] | undefined;
  rows: readonly unknown[];
  /** The index of the first row. */
  from?: number;
  blocks?: readonly Block[] | undefined;
}

/** The same of these rows. Empty without any. */
export function renderView(
  { view, columns, rows, from = 0, blocks = [] }: Shown,
  options: DrawOptions,
  hide?: Hide,
): string {
  const main = { layout: view.layout, columns: knownColumns(view, columns), rows };
  return joinParts([
    renderPart(main, columns, options, from, hide),
    ...blocks.map((each) => renderBlock(each, options)),
  ]);
}

function renderBlock(block: Block, options: DrawOptions, from = 0, hide?: Hide): string {
  const part = renderPart(block, undefined, options, from, hide);
  if (part === '' || block.title === undefined) return part;
  const title = wrapText(safeText(block.title), options.width);
  return title.map((line) => `${options.palette.title(line)}\n`).join('') + part;
}

function renderPart(
  { layout, columns, rows }: Pick<Block, 'layout' | 'columns' | 'rows'>,
  named: readonly string[] | undefined,
  { width, palette }: DrawOptions,
  from: number,
  hide?: Hide,
): string {
  if (rows.length === 0 || columns.length === 0) return '';
  const whole = readGrid(columns, rows, from);
  if (layout === 'record') return renderCards(whole, { width, palette, long: 'wrap' });
  const uncut = measure(whole, columns).map(({ natural }) => natural);
  if (sumWidths(uncut) <= width) return renderTable(cutCells(whole, uncut), uncut, palette);
  const grid = mapCells(whole, (cell) => ({ ...cell, text: cell.short ?? cell.text }));
  const measures = measure(grid, columns);
  const every = columns.map((_, index) => index);
  const full = named ? every : withoutEmpty(every, grid);
  const { chosen, widths } = chooseColumns(full, measures, width, !named);
  hide?.(full.length - chosen.length);
  if (widths === undefined) return renderCards(pickCells(whole, chosen), { width, palette, long: 'cut' });
  return renderTable(cutCells(pickCells(grid, chosen), widths), widths, palette);
}

type Measure = ReturnType<typeof measure>[number];

function measure(grid: Grid, columns: readonly AnyColumn[]) {
  return grid.heads.map(({ text, cut, keep }, index) => {
    const header = displayWidth(text);
    const widest = grid.lines.reduce((most, cells) => Math.max(most, displayWidth(cells[index]?.text ?? '')), header);
    const natural = cut === undefined ? Math.min(widest, Math.max(header, maxUncut)) : widest;
    return { natural, header, cut: cut !== undefined, keep, drop: columns[index]?.drop ?? 0 };
  });
}

/** A column that is not cut is at most as wide as an address. */
const maxUncut = 44;

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, gap * (widths.length - 1));
}

function pickCells({ heads, lines }: Grid, chosen: readonly number[]): Grid {
  const of = <T>(cells: readonly T[]) => chosen.flatMap((index) => cells.slice(index, index + 1));
  return { heads: of(heads), lines: lines.map(of) };
}

/**
 * The columns that fit (by index) and their widths. Those with the highest `drop` are dropped first, and come back if there is room after
 * all. No widths: even the rest does not fit.
 */
function chooseColumns(
  places: readonly number[],
  measures: readonly Measure[],
  width: number,
  mayDrop: boolean,
): { chosen: readonly number[]; widths: number[] | undefined } {
  const readDrop = (place: number) => measures[place]?.drop ?? 0;
  const fitChosen = (chosen: readonly number[], fewer: boolean) =>
    fitWidths(
      chosen.flatMap((place) => measures[place] ?? []),
      width,
      fewer,
    );
  const dropped: (readonly number[])[] = [];
  for (let chosen = places; ; ) {
    const maxDrop = mayDrop ? Math.max(...chosen.map(readDrop)) : 0;
    let widths = fitChosen(chosen, maxDrop > 0);
    if (widths === undefined && maxDrop > 0) {
      dropped.unshift(chosen.filter((place) => readDrop(place) === maxDrop));
      chosen = chosen.filter((place) => readDrop(place) !== maxDrop);
      continue;
    }
    if (widths === undefined) return { chosen, widths };
    for (const group of dropped.slice(1)) {
      const more = [...chosen, ...group].sort((a, b) => a - b);
      const fitting = fitChosen(more, true);
      if (fitting !== undefined) [chosen, widths] = [more, fitting];
    }
    return { chosen, widths };
  }
}

function mapCells({ heads, lines }: Grid, change: (cell: CellText, index: number) => CellText): Grid {
  return { heads, lines: lines.map((cells) => cells.map(change)) };
}

function withoutEmpty(places: readonly number[], { lines }: Grid): readonly number[] {
  const full = places.filter((place) => lines.some((cells) => !noValue.includes(cells[place]?.text ?? '')));
  return full.length === 0 ? places : full;
}

const noValue = ['', missing, '-'];

/** The width of each column, the widest of those that may be cut narrowed; `fewer`: down to `keep` at most. Undefined: it cannot fit. */
function fitWidths(measures: readonly Measure[], width: number, fewer: boolean): number[] | undefined {
  const columns = measures.map(({ natural, header, cut, keep }) => {
    const narrow = Math.max((fewer ? keep : undefined) ?? minWidth, header);
    return { natural, min: cut ? Math.min(natural, narrow) : natural };
  });
  const room = width - gap * (columns.length - 1);
  const widest = Math.min(width, Math.max(...columns.map((column) => column.natural)));
  for (let level = widest; level >= minWidth || level === widest; level -= 1) {
    const widths = columns.map(({ natural, min }) => Math.min(natural, Math.max(min, level)));
    let spare = room - widths.reduce((sum, each) => sum + each, 0);
    if (spare < 0) continue;
    // Cells left over by the last step go to the first columns that can use them.
    return widths.map((each, index) => (each < (columns[index]?.natural ?? 0) && spare-- > 0 ? each + 1 : each));
  }
  return undefined;
}

function cutCells(grid: Grid, widths: readonly number[]): Grid {
  const cut = (text: string, index: number) => cutText(text, widths[index] ?? 0, grid.heads[index]?.cut ?? 'end');
  return mapCells(grid, (cell, index) => ({ ...cell, text: cut(cell.text, index) }));
}

/** Each line is a table of its own: cells come padded to their width, which cli-table3 counts wrongly for marks and newer emoji. */
function renderTable(grid: Grid, widths: readonly number[], palette: Palette): string {
  const drawRow = (cells: readonly CellText[], paint: (cell: CellText) => string) => {
    const table = new CliTable({ chars: noBorders, style: noStyle });
    table.push(
      cells.map((cell, index) => {
        const width = displayWidth(cell.text);
        const text = width === 0 ? '' : paint(cell);
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - width));
        return grid.heads[index]?.side === 'right' ? space + text : text + space;
      }),
    );
    return `${table.toString().trimEnd()}\n`;
  };
  const header = drawRow(grid.heads, ({ text }) => palette.header(text));
  const body = grid.lines.map((cells) => drawRow(cells, ({ text, tone = 'plain' }) => palette.tone(tone, text)));
  return [header, `${palette.dim('─'.repeat(sumWidths(widths)))}\n`, ...body].join('');
}

const noStyle = { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true };
const edges =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const noBorders = { ...Object.fromEntries(edges.split(' ').map((edge) => [edge, ''])), middle: ' '.repeat(gap) };

interface CardOptions {
  width: number;
  palette: Palette;
  long: 'cut' | 'wrap';
}

/** One block of `header  value` lines an item, with empty lines between. Wrapped addresses stay whole. */
function renderCards(grid: Grid, options: CardOptions): string {
  const labelWidth = Math.max(0, ...grid.heads.map((head) => displayWidth(head.text)));
  const indent = ' '.repeat(labelWidth + 2);
  const room = Math.max(minWidth, options.width - indent.length);
  const card = (cells: readonly CellText[]) =>
    grid.heads.map((head, index) => {
      const cell = cells[index] ?? { text: '' };
      const label = options.palette.dim(head.text) + ' '.repeat(indent.length - displayWidth(head.text));
      const lines = fitValue(cell, room, head, options).map((line) => options.palette.tone(cell.tone ?? 'plain', line));
      return `${(label + lines.join(`\n${indent}`)).trimEnd()}\n`;
    });
  return grid.lines.map((cells) => card(cells).join('')).join('\n');
}

function fitValue({ text, short }: CellText, room: number, head: Head, options: CardOptions): string[] {
  if (options.long === 'cut' && short !== undefined && displayWidth(text) > room) return [short];
  if (head.cut === undefined) return [text];
  if (options.long === 'cut') return [cutText(text, room, head.cut)];
  return head.cut === 'end' ? wrapText(text, room) : [text];
}

/** Rows that a live table's columns are laid out for. */
const remembered = 50;

/**
 * Writes batches of rows that arrive over time as one table: the columns fit the latest rows, and the header is written again when it
 * changes. `render` gives a table of the rows; anything else is written as it is.
 */
export function liveTable(render: (rows: readonly unknown[]) => string): (batch: readonly unknown[]) => string {
  let recent: readonly unknown[] = [];
  let written = '';
  return (batch) => {
    const rows = [...recent, ...batch];
    recent = rows.slice(-remembered);
    const lines = render(rows).split('\n');
    if (lines.length !== rows.length + 3) return render(batch);
    const header = lines.slice(0, 2).join('\n');
    const body = lines.slice(2 + rows.length - batch.length).join('\n');
    const isNew = header !== written;
    written = header;
    return isNew ? `${header}\n${body}` : body;
  };
}
