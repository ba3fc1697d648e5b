import CliTable from 'cli-table3';
import { safeText } from '../../api/safe-text.ts';
import type { DrawOptions, Palette } from './color.ts';
import { chooseSide, counted, missing, readCells } from './format.ts';
import { wrapWords } from './messages.ts';
import { cutText, displayWidth, isPlain } from './text-width.ts';
import { type AnyColumn, type Block, type CellText, type Form, inSlices, knownColumns, tableBatches } from './view.ts';

/** Cells between two columns. */
const gap = 2;

/** A table that fits the width, or records if it cannot fit; further blocks below, each under its title. */
export function tableForm(options: DrawOptions, note: (text: string) => void): Form {
  return async function* (given) {
    const { view, columns: names, answer, live = false } = given;
    const { layout } = view;
    const columns = knownColumns(view, names);
    const parts: Part[] = [
      { layout, columns, batches: tableBatches(given), live, mayDrop: names === undefined, flag: '--columns' },
      ...(answer?.blocks ?? []).map((block) => ({
        ...block,
        batches: inSlices(block.rows),
        live: false,
        mayDrop: true,
        flag: '--json',
      })),
    ];
    let separator = '';
    for (const part of parts)
      for await (const { text, isFirst } of drawPart(part, options, note)) {
        yield isFirst ? separator + text : text;
        separator = '\n';
      }
  };
}

interface Part extends Omit<Block, 'rows'> {
  batches: AsyncIterable<readonly unknown[]>;
  /** Batches that come over time are one table, others a table each. */
  live: boolean;
  mayDrop: boolean;
  /** The flag that shows hidden columns. */
  flag: string;
}

/** Rows that the columns of a live table are laid out for. */
const remembered = 50;

async function* drawPart(part: Part, options: DrawOptions, note: (text: string) => void) {
  const { title, layout, columns, batches, live, flag } = part;
  if (columns.length === 0) return;
  let recent: readonly unknown[] = [];
  let [from, heading, hidden] = [0, '', 0];
  const noteHidden = () => {
    if (hidden > 0) note(`${counted(hidden, 'column')} hidden, see ${flag}`);
  };
  for await (const added of batches) {
    if (added.length === 0) continue;
    const isFirst = from === 0;
    const drawn = drawRows(part, { recent, added, from }, options);
    const titleLine = isFirst && title !== undefined ? drawTitle(title, options) : '';
    const isRepeated = live && drawn.heading === heading;
    const between = !isFirst && drawn.heading === '' ? '\n' : '';
    yield { text: titleLine + between + (isRepeated ? '' : drawn.heading) + drawn.body, isFirst };
    heading = drawn.heading;
    hidden = Math.max(hidden, drawn.hidden);
    // A live list may never end.
    if (live && isFirst) noteHidden();
    if (live && layout === 'table') recent = [...recent, ...added].slice(-remembered);
    from += added.length;
  }
  if (!live) noteHidden();
}

function drawTitle(title: string, { width, palette }: DrawOptions): string {
  return `${palette.title(cutText(safeText(title), width))}\n`;
}

interface Batch {
  /** Drawn before; the columns fit them too. */
  recent: readonly unknown[];
  added: readonly unknown[];
  /** The index of the first added row. */
  from: number;
}

function drawRows({ layout, columns, mayDrop }: Part, { recent, added, from }: Batch, options: DrawOptions) {
  const { width, palette } = options;
  const rows = [...recent, ...added];
  const lines = readCells(columns, rows, from - recent.length);
  if (layout === 'record') return { heading: '', body: drawRecords(columns, lines, options), hidden: 0 };
  const fitted = fitColumns(columns, lines, { width, mayDrop });
  const { hidden } = fitted;
  const addedLines = fitted.lines.slice(recent.length);
  if (!fitted.fits) {
    const left = fitted.columns.map(({ column }) => column);
    return { heading: '', body: drawRecords(left, addedLines, options), hidden };
  }
  const drawn = fitted.columns.map((each) => ({ width: each.width, side: chooseSide(each.column, rows) }));
  const headers = fitted.columns.map(({ column }) => ({ text: column.header, tone: 'strong' as const }));
  const rule = palette.dim('─'.repeat(sumWidths(drawn)));
  return {
    heading: `${drawLines([headers], drawn, palette)}${rule}\n`,
    body: drawLines(addedLines, drawn, palette),
    hidden,
  };
}

const minRoom = 8;

/** `header  value` lines, with an empty line between two records. Prose is wrapped at spaces; an address or path stays whole. */
function drawRecords(
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

interface DrawnColumn {
  width: number;
  side: 'left' | 'right';
}

/** cli-table3 compares each row with all rows above. */
const rowsAtOnce = 50;

function drawLines(lines: readonly (readonly CellText[])[], columns: readonly DrawnColumn[], palette: Palette): string {
  let drawn = '';
  for (let at = 0; at < lines.length; at += rowsAtOnce) {
    const table = new CliTable({
      chars: noBorders,
      style: noStyle,
      colWidths: columns.map(({ width }) => width),
      colAligns: columns.map(({ side }) => side),
    });
    const odd: string[] = [];
    const drawCell = ({ text, tone = 'plain' }: CellText, index: number) => {
      const cut = cutText(text, columns[index]?.width ?? 0);
      if (isPlain(cut)) return palette.tone(tone, cut);
      const cells = displayWidth(cut);
      if (cells > 0) odd.push(cut);
      return palette.tone(tone, standIn.repeat(cells));
    };
    table.push(...lines.slice(at, at + rowsAtOnce).map((line) => line.map(drawCell)));
    drawn += `${table.toString().replaceAll(standIns, () => odd.shift() ?? '')}\n`;
  }
  return drawn.replaceAll(/ +$/gm, '');
}

// cli-table3 counts a cell for each vowel sign of Devanagari and one for 🪙: such a text is drawn as so many private characters.
const standIn = '\ue000';
const standIns = /\ue000+/g;

const noStyle = { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true };
const edges =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const noBorders = { ...Object.fromEntries(edges.split(' ').map((edge) => [edge, ''])), middle: ' '.repeat(gap) };

// A column that may be cut is not made narrower than the first, nor than the second while another column can be dropped instead.
const [minCut, enoughCut] = [8, 20];
/** A column that may not be cut is at most as wide as an address. */
const maxUncut = 44;

type Lines = readonly (readonly CellText[])[];

interface Fitted {
  columns: readonly { column: AnyColumn; width: number }[];
  /** A cell for each of these columns. */
  lines: Lines;
  /** How many columns were dropped. */
  hidden: number;
  /** Whether the columns that are left fit. */
  fits: boolean;
}

/**
 * The columns that a table of this width shows: all if they fit; else, with their short texts, the columns with a value, without those of the
 * highest `drop` as far as needed. Columns that may be cut share what the others leave.
 */
function fitColumns(
  columns: readonly AnyColumn[],
  lines: Lines,
  { width, mayDrop }: { width: number; mayDrop: boolean },
): Fitted {
  const whole = columns.map((column, index) => measureColumn(column, index, lines));
  if (sumWidths(whole) <= width) return { columns: whole, lines, hidden: 0, fits: true };
  const shortened = lines.map((line) => line.map((cell) => ({ ...cell, text: cell.short ?? cell.text })));
  const short = columns.map((column, index) => measureColumn(column, index, shortened));
  const filled = mayDrop ? short.filter(({ hasValue }) => hasValue) : short;
  const kept = mayDrop ? dropColumns(filled, width) : filled;
  const narrowed = narrowColumns(kept, width);
  const fits = sumWidths(narrowed) <= width;
  return {
    columns: narrowed,
    lines: (fits ? shortened : lines).map((line) => kept.flatMap(({ index }) => line[index] ?? [])),
    hidden: filled.length - kept.length,
    fits,
  };
}

function sumWidths(columns: readonly { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1));
}

type Measured = ReturnType<typeof measureColumn>;

function measureColumn(column: AnyColumn, index: number, lines: Lines) {
  const { header, cut } = column;
  const texts = lines.map((line) => line[index]?.text ?? '');
  const headerWidth = displayWidth(header);
  const widest = texts.reduce((most, text) => Math.max(most, displayWidth(text)), headerWidth);
  const atMost = (cells: number) => Math.min(widest, Math.max(headerWidth, cells));
  const width = cut ? widest : atMost(maxUncut);
  return {
    column,
    index,
    width,
    min: cut ? atMost(minCut) : width,
    enough: cut ? atMost(enoughCut) : width,
    hasValue: texts.some((text) => !noValue.includes(text)),
  };
}

const noValue = ['', missing, '-'];

function dropColumns(columns: readonly Measured[], width: number): readonly Measured[] {
  if (sumWidths(columns.map(({ enough }) => ({ width: enough }))) <= width) return columns;
  const highest = Math.max(...columns.map(({ column }) => column.drop ?? 0));
  const kept = columns.filter(({ column }) => (column.drop ?? 0) < highest);
  return kept.length === 0 ? columns : dropColumns(kept, width);
}

/** The narrowest first: the rest of its share is left to the others. */
function narrowColumns(columns: readonly Measured[], width: number): Fitted['columns'] {
  const cuttable = columns.filter(({ column }) => column.cut).toSorted((one, other) => one.width - other.width);
  const narrowed = new Map<Measured, number>();
  let room = width - sumWidths(columns) + cuttable.reduce((sum, column) => sum + column.width, 0);
  for (const [index, column] of cuttable.entries()) {
    const share = Math.floor(room / (cuttable.length - index));
    const cells = Math.max(column.min, Math.min(column.width, share));
    narrowed.set(column, cells);
    room -= cells;
  }
  return columns.map((each) => ({ column: each.column, width: narrowed.get(each) ?? each.width }));
}
