import { Chalk } from 'chalk';
import CliTable from 'cli-table3';
import { safeText } from '../../api/safe-text.ts';
import { usageError } from '../../errors.ts';
import { chooseSide, chooseTone, counted, formatUsd, missing, readCells } from './format.ts';
import { wrapWords } from './messages.ts';
import { cutText, displayWidth, isPlain } from './text-width.ts';
import {
  type AnyColumn,
  type Bar,
  type BarChart,
  type Block,
  type CellText,
  collectItems,
  type Form,
  inSlices,
  knownColumns,
  type Tone,
  tableBatches,
} from './view.ts';

type Palette = ReturnType<typeof createPalette>;

export interface DrawOptions {
  width: number;
  palette: Palette;
  /** Tells what is not shown. */
  note: (text: string) => void;
}

/** Uses only the 16 colors of the user's theme, so it reads on light and dark. */
export function createPalette(hasColors: boolean) {
  const paint = new Chalk({ level: hasColors ? 1 : 0 });
  const tones: Record<Tone, (text: string) => string> = {
    gain: paint.green,
    loss: paint.red,
    muted: paint.dim,
    strong: paint.bold,
    plain: (text) => text,
  };
  return {
    tone: (tone: Tone, text: string) => tones[tone](text),
    title: paint.bold,
    dim: paint.dim,
  };
}

/** Cells between two columns. */
const gap = 2;

/** A table that fits the width, or records if it cannot fit; further blocks below, each under its title. */
export function tableForm(options: DrawOptions): Form {
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
      for await (const { text, isFirst } of drawPart(part, options)) {
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

async function* drawPart(part: Part, options: DrawOptions) {
  const { title, columns, batches, live, flag } = part;
  if (columns.length === 0) return;
  const titleLine = title === undefined ? '' : `${options.palette.title(cutText(safeText(title), options.width))}\n`;
  let recent: readonly unknown[] = [];
  let [from, heading, hidden] = [0, '', 0];
  for await (const added of batches) {
    if (added.length === 0) continue;
    const isFirst = from === 0;
    const drawn = drawRows(part, [...recent, ...added], { from: from - recent.length, shown: recent.length }, options);
    const between = drawn.heading === '' ? '\n' : '';
    const shownHeading = live && drawn.heading === heading ? '' : drawn.heading;
    yield { text: (isFirst ? titleLine : between) + shownHeading + drawn.body, isFirst };
    heading = drawn.heading;
    hidden = Math.max(hidden, drawn.hidden);
    // A live list may never end.
    if (live && hidden > 0 && isFirst) options.note(`${counted(hidden, 'column')} hidden, see ${flag}`);
    if (live && part.layout === 'table') recent = [...recent, ...added].slice(-remembered);
    from += added.length;
  }
  if (!live && hidden > 0) options.note(`${counted(hidden, 'column')} hidden, see ${flag}`);
}

/** Rows with their heading. `from` is the index of the first; `shown` of them were drawn before, and only decide about the columns. */
function drawRows(
  { layout, columns, mayDrop }: Part,
  rows: readonly unknown[],
  { from, shown }: { from: number; shown: number },
  options: DrawOptions,
) {
  const { palette } = options;
  const lines = readCells(columns, rows, from);
  if (layout === 'record') return { heading: '', body: drawRecords(columns, lines, options), hidden: 0 };
  const { fitted, shortens, hidden } = fitColumns(columns, lines, { width: options.width, mayDrop });
  const left = fitted.map(({ column }) => column);
  const added = lines.slice(shown).map((line) => fitted.flatMap(({ index }) => line[index] ?? []));
  if (totalOf(fitted) > options.width) return { heading: '', body: drawRecords(left, added, options), hidden };
  const drawn = fitted.map(({ column, width }) => ({ width, side: chooseSide(column, rows) }));
  const headers = left.map(({ header }) => ({ text: header, tone: 'strong' as const }));
  const body = drawLines(shortens ? shorten(added) : added, drawn, palette);
  const rule = palette.dim('─'.repeat(totalOf(fitted)));
  return { heading: `${drawLines([headers], drawn, palette)}${rule}\n`, body, hidden };
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

/**
 * The columns that a table of this width shows: all if they fit; else, with their short texts, the columns with a value, without those of the
 * highest `drop` as far as needed. Columns that may be cut give cells, the widest first, those with enough before others.
 */
function fitColumns(
  columns: readonly AnyColumn[],
  lines: Lines,
  { width, mayDrop }: { width: number; mayDrop: boolean },
): { fitted: readonly Measured[]; shortens: boolean; hidden: number } {
  const whole = measureColumns(columns, lines);
  if (totalOf(whole) <= width) return { fitted: whole, shortens: false, hidden: 0 };
  const short = measureColumns(columns, shorten(lines));
  const filled = mayDrop ? short.filter(({ hasValue }) => hasValue) : short;
  let kept = filled;
  while (mayDrop && totalOf(kept, 'enough') > width) {
    const highest = Math.max(...kept.map(({ column }) => column.drop ?? 0));
    const fewer = kept.filter(({ column }) => (column.drop ?? 0) < highest);
    if (fewer.length === 0) break;
    kept = fewer;
  }
  for (let excess = totalOf(kept) - width; excess > 0; excess -= 1) {
    const floor = kept.some((each) => each.width > each.enough) ? 'enough' : 'min';
    const [widest] = kept.filter((each) => each.width > each[floor]).toSorted((one, other) => other.width - one.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return { fitted: kept, shortens: true, hidden: filled.length - kept.length };
}

function shorten(lines: Lines): CellText[][] {
  return lines.map((line) => line.map((cell) => ({ ...cell, text: cell.short ?? cell.text })));
}

interface Measured {
  column: AnyColumn;
  index: number;
  width: number;
  min: number;
  enough: number;
  hasValue: boolean;
}

/** The cells of these columns, with the gaps between them. */
function totalOf(columns: readonly Measured[], what: 'width' | 'enough' = 'width'): number {
  return columns.reduce((sum, column) => sum + column[what], gap * (columns.length - 1));
}

const noValue = ['', missing, '-'];

function measureColumns(columns: readonly AnyColumn[], lines: Lines): Measured[] {
  return columns.map((column, index) => {
    const texts = lines.map((line) => line[index]?.text ?? '');
    const headerWidth = displayWidth(column.header);
    const widest = texts.reduce((most, text) => Math.max(most, displayWidth(text)), headerWidth);
    const atMost = (cells: number) => Math.min(widest, Math.max(headerWidth, cells));
    const width = column.cut ? widest : atMost(maxUncut);
    const hasValue = texts.some((text) => !noValue.includes(text));
    const wanted = typeof column.cut === 'number' ? column.cut : enoughCut;
    const [min, enough] = column.cut ? [atMost(minCut), atMost(wanted)] : [width, width];
    return { column, index, width, min, enough, hasValue };
  });
}

/** The chart of all rows. Errors: `usage` if the view has none. */
export function chartForm(options: DrawOptions): Form {
  return async function* ({ view, batches, input }) {
    if (view.chart === undefined) throw usageError('--chart: this command has no chart');
    const rows = await collectItems(batches);
    const text = renderChart(view.chart(rows as never, input as never), options);
    if (text === '' && rows.length > 0) options.note('There is nothing to draw.');
    yield text;
  };
}

const minWidth = 40;
/** One line a bar, in at most `width` cells (40 at least): gains to the right of zero, losses to the left, on one linear scale. */
function renderChart({ title, bars }: BarChart, { width: given, palette }: DrawOptions): string {
  if (bars.length === 0) return '';
  const width = Math.max(minWidth, given);
  const labels = bars.map(({ label }) => safeText(label));
  const figures = bars.map(({ usd }) => (usd === null ? missing : formatUsd(usd, { signed: true, compact: true })));
  const labelWidth = Math.min(Math.max(...labels.map(displayWidth)), Math.floor(width * 0.3));
  const figureWidth = Math.max(...figures.map(displayWidth));
  const plot = makePlot(bars, width - labelWidth - figureWidth - 2 * gap - 1);
  const lines = bars.map(({ usd }, index) => {
    const label = cutText(labels[index] ?? '', labelWidth);
    const figure = figures[index] ?? '';
    const tone = chooseTone(usd);
    return [
      label + ' '.repeat(labelWidth - displayWidth(label) + gap + figureWidth - displayWidth(figure)),
      palette.tone(tone, figure) + ' '.repeat(gap),
      drawBar(usd ?? 0, plot, (text) => palette.tone(tone, text)),
    ].join('');
  });
  return [palette.title(cutText(safeText(title), width)), '', ...lines].map((line) => `${line.trimEnd()}\n`).join('');
}

type Plot = ReturnType<typeof makePlot>;

/** Cells to the left of zero, and the cells of one USD. */
function makePlot(bars: readonly Bar[], cells: number) {
  const maxGain = Math.max(0, ...bars.map(({ usd }) => usd ?? 0));
  const maxLoss = Math.max(0, ...bars.map(({ usd }) => -(usd ?? 0)));
  if (maxGain + maxLoss === 0) return { left: 0, cellsPerUsd: 0 };
  // A side that has a bar has at least a cell.
  const share = Math.round(cells * (maxLoss / (maxGain + maxLoss)));
  const left = Math.max(maxLoss === 0 ? 0 : 1, Math.min(maxGain === 0 ? cells : cells - 1, share));
  const right = cells - left;
  const fits = [maxGain > 0 ? right / maxGain : [], maxLoss > 0 ? left / maxLoss : []].flat();
  return { left, cellsPerUsd: Math.min(...fits) };
}

/** A bar from zero outwards; a value too small for a cell is a thin mark. */
function drawBar(usd: number, { left, cellsPerUsd }: Plot, paint: (text: string) => string): string {
  const thin = usd === 0 ? '' : usd < 0 ? '▕' : '▏';
  const text = '█'.repeat(Math.round(Math.abs(usd) * cellsPerUsd)) || thin;
  const painted = text === '' ? '' : paint(text);
  return usd < 0 ? `${' '.repeat(left - text.length)}${painted}│` : `${' '.repeat(left)}│${painted}`;
}
