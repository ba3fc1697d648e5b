import CliTable from 'cli-table3';
import { safeText } from '../../api/safe-text.ts';
import { wrapWords } from '../wrap.ts';
import { chooseSide, readCells } from './cells.ts';
import type { DrawOptions, Palette } from './color.ts';
import { fitColumns, gap, sumWidths } from './fit-columns.ts';
import { counted } from './format.ts';
import { cutText, displayWidth, isPlain } from './text-width.ts';
import { type AnyColumn, type Block, type CellText, type Form, inSlices, knownColumns, tableBatches } from './view.ts';

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
