import type { Result } from '../cli/command.ts';
import type { Format, GlobalOptions } from '../cli/globals.ts';
import { usageError } from '../errors.ts';
import { bytesOf, linesOf, textsOf } from '../http/batch.ts';
import { curlLine, describeRequest, type RequestPreview, requestObject } from '../http/preview.ts';
import { hideSecrets } from '../http/secrets.ts';
import type { Io, Sink } from '../world.ts';
import type { DrawOptions } from './chart.ts';
import { withMeta, withoutFlagged } from './foreign-text.ts';
import type { JqFilter } from './jq.ts';
import { compactPieces, indentedPieces, indentJson, rowLines, safeJson, visibleJson } from './json.ts';
import type { RowFormat } from './rows.ts';
import { terminalText } from './terminal.ts';
import { type AnyView, cellValue, knownColumns, orMisfit, rawItems, rowsOf } from './view.ts';

interface PrintContext {
  io: Pick<Io, 'out'>;
  options: GlobalOptions;
  note: (text: string) => void;
  /** Status and headers, to be written before the next text. */
  takeHeads: () => string;
  /** Handles signals during long work. Rejects when one came. */
  pause: () => Promise<void>;
  filter: JqFilter | undefined;
}

/** Refuses unknown names in `--columns`. Errors: `usage`, naming the known ones. */
export function checkColumns(view: AnyView | undefined, columns: readonly string[]): void {
  if (view === undefined) throw usageError('--columns: this command prints no columns');
  const known = view.columns.map(({ key }) => key);
  const unknown = columns.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const problem = unknown === '' ? '--columns is empty' : `--columns ${unknown}: no such column`;
  throw usageError(problem, `Columns: ${known.join(', ')}.`);
}

/** Writes a request that was not sent, as text, JSON or a curl line. Errors: `usage` for another format. */
export async function printPreview(
  { request, about }: RequestPreview,
  { io, options, filter }: Pick<PrintContext, 'io' | 'options' | 'filter'>,
): Promise<number> {
  const { curl, format, columns } = options;
  const forms = [undefined, 'table', 'json', ...(curl ? [] : ['ndjson'])];
  const unfit = forms.includes(format) ? undefined : `--format ${format}`;
  const rival = columns !== undefined ? '--columns' : curl && filter !== undefined ? '--jq' : unfit;
  const shown = curl ? '--curl shows a curl line' : '--dry-run shows a request';
  if (rival !== undefined) throw usageError(`${rival}: ${shown}, which has no such form`, 'Omit it.');
  if (curl) await io.out.write(curlLine(request));
  else if (filter === undefined && format !== 'json' && format !== 'ndjson')
    await io.out.write((about?.text ?? '') + visibleJson(describeRequest(request)));
  else {
    const answer = about === undefined ? requestObject(request) : { ...about.facts, request: requestObject(request) };
    const printing = { io, options, filter, note: () => undefined, takeHeads: () => '', pause: async () => undefined };
    return printResult({ kind: 'answer', answer }, {}, printing);
  }
  return 0;
}

interface PrintJob extends PrintContext {
  input: never;
  /** Of a part: its first row and the number of rows in all. */
  place?: { from: number; of: number };
}

/** Writes a command's result to stdout and gives the exit code. Errors: ClosedPipe when the reader is gone. */
export async function printResult(
  result: Result,
  input: unknown,
  { takeHeads, ...rest }: PrintContext,
): Promise<number> {
  const { io } = rest;
  // Exact in a pipe; on a terminal, characters that hide or reorder text are escaped.
  const forMachines = rest.filter !== undefined || !['table', 'md'].includes(formatFor(rest));
  // What a person reads is cleaned, also in a pipe: it may end on a terminal.
  const isDrawn = result.kind === 'text' ? false : !forMachines || ('chart' in result && result.chart === true);
  const shows = isDrawn ? terminalText : forMachines && io.out.isTTY ? visibleJson : asItIs;
  const write = async (text: string) => io.out.write(takeHeads() + shows(text));
  const { writeBytes, ...sink } = io.out;
  // Status and headers are text: with them everything goes as text.
  const out = { ...sink, write, ...(writeBytes && !rest.options.include && !io.out.isTTY && { writeBytes }) };
  const printing = { ...rest, takeHeads, io: { out }, input: input as never };
  if (result.kind === 'screen') {
    // The terminal itself: its size may change while this runs.
    const drawing = { ...printing, io: { out: io.out } };
    const { drawPictures } = await import('./screen.ts');
    await drawPictures(picturesOf(result.frames, drawing), io.out, (await drawOptions(drawing)).palette);
    return 0;
  }
  const { meta, showNsfw } = rest.options;
  const shown = rest.filter !== undefined ? result : asObjects(result, printing);
  const whole = meta ? await withMeta(shown) : forMachines || showNsfw ? shown : hideFlagged(shown);
  if (rest.filter !== undefined) await printFiltered(whole, rest.filter, printing);
  else await printPlain(whole, printing);
  const left = takeHeads();
  if (left !== '') await io.out.write(left);
  return 'exitCode' in result ? (result.exitCode ?? 0) : 0;
}

async function* picturesOf(frames: (Result & { kind: 'screen' })['frames'], printing: PrintJob) {
  const shows = (answer: unknown) => (printing.options.showNsfw ? answer : withoutFlagged(answer));
  for await (const { view, answer, notes } of frames)
    yield { text: await humanText(view, shows(answer), printing), notes };
}

const asItIs = (text: string) => text;

function hideFlagged(result: Result): Result {
  if (result.kind === 'answer') return { ...result, answer: withoutFlagged(result.answer) };
  return result.kind === 'items' ? { ...result, batches: mapped(result.batches, withoutFlagged) } : result;
}

async function printPlain(result: Result, printing: PrintJob): Promise<void> {
  const { out } = printing.io;
  if (result.kind === 'text') await out.write(result.text);
  if (result.kind === 'answer') {
    await printAnswer(result, printing);
    for (const note of result.notes ?? []) printing.note(note);
  }
  if (result.kind === 'items') await printItems(result, printing);
}

function asObjects(result: Result, { input, options: { format, columns } }: PrintJob): Result {
  if ((result.kind !== 'answer' && result.kind !== 'items') || (format !== 'json' && format !== 'ndjson'))
    return result;
  const { view } = result;
  if (result.kind === 'answer' && view === undefined)
    return format === 'ndjson' ? { ...result, view: { ...rawItems, rows: (answer) => [answer].flat() } } : result;
  if (view === undefined || columns === undefined) return result;
  checkColumns(view, columns);
  const chosen = knownColumns(view, columns);
  const toObject = (row: unknown, index: number) =>
    Object.fromEntries(chosen.map((column) => [column.key, cellValue(column, row, index) ?? null]));
  if (result.kind === 'items') return { ...result, batches: mapped(result.batches, toObject), view: rawItems };
  const { text: _, answer, ...rest } = result;
  const rows = rowsOf(view, answer, input);
  if (rows === undefined) return { ...result, notes: [...(rest.notes ?? []), unexpectedShape] };
  return { ...rest, answer: rows.map(toObject), view: { ...rawItems, ...(view.empty && { empty: view.empty }) } };
}

const unexpectedShape = 'warning: the answer does not have the shape of this table; shown as received';

async function* mapped<T>(
  batches: AsyncIterable<readonly unknown[]>,
  change: (item: unknown, index: number) => T,
): AsyncGenerator<readonly T[]> {
  let before = 0;
  for await (const batch of batches) {
    yield batch.map((item, index) => change(item, before + index));
    before += batch.length;
  }
}

/** Filters the JSON that would be printed: the whole, or with `--format ndjson` item by item. */
async function printFiltered(result: Result, filter: JqFilter, printing: PrintJob): Promise<void> {
  const { out } = printing.io;
  const byItem = printing.options.format === 'ndjson' || (result.kind === 'items' && result.live === true);
  const put = async (json: string) => {
    const text = await filter.run(json, { indent: out.isTTY && !byItem });
    if (text !== '') await out.write(text);
  };
  if (result.kind === 'text') throw usageError('--jq: this command prints no JSON');
  if (result.kind === 'items') {
    const all: string[] = [];
    for await (const batch of result.batches) {
      const texts = textsOf(batch);
      if (!byItem) for (const text of texts) all.push(text);
      else if (texts.length > 0) await put(texts.join('\n'));
    }
    if (!byItem) await put(`[${all.join(',')}]`);
  }
  if (result.kind === 'answer') {
    for (const note of result.notes ?? []) printing.note(note);
    const rows = byItem && result.view !== undefined ? rowsOf(result.view, result.answer, printing.input) : undefined;
    const { answer: value, text } = result;
    const texts = rows === undefined ? undefined : rowLines(rows, { value, text });
    await put(texts?.join('\n') ?? text ?? JSON.stringify(value));
  }
}

async function printAnswer(result: Result & { kind: 'answer' }, printing: PrintJob): Promise<void> {
  const { view } = result;
  const { out } = printing.io;
  const answer = result.answer as never;
  const format = formatFor(printing);
  const rows = view === undefined ? undefined : rowsOf(view, answer, printing.input);
  if (format === 'json' || view === undefined || rows === undefined) {
    if (format !== 'json' && view !== undefined) printing.note(unexpectedShape);
    const came = result.text ?? JSON.stringify(result.answer);
    // A table would not have shown a secret.
    const json = format === 'json' || view === undefined ? came : hideSecrets(came);
    const laidOut = format === 'ndjson' && view !== undefined ? compactPieces(json) : indentedPieces(json);
    return writePieces(laidOut, printing);
  }
  noteEmpty(view, rows.length, printing);
  if (result.chart) await out.write(await drawChart(view, rows, printing));
  else if (format === 'toon')
    await out.write(await (await import('./rows.ts')).toonText(view, rows, printing.options.columns));
  else if (format === 'table') {
    if (rows.length > 0 || view.blocks !== undefined) await writeParts(view, rows, answer, printing, humanText);
  } else if (format === 'md') await writeParts(view, rows, answer, printing, markdown);
  else if (format === 'plain' && view.layout === 'record') await writeRecord(view, rows, printing);
  else if (format === 'ndjson') {
    const lines = rowLines(rows, { value: answer, text: result.text });
    for (const part of partsOf(lines)) {
      await out.write(part.map((line) => `${safeJson(line)}\n`).join(''));
      if (lines.length > partRows) await printing.pause();
    }
  } else await writeRows(view, rows, 0, format, printing);
  for (const note of orMisfit(() => view.notes?.(answer, printing.input)) ?? []) printing.note(note);
}

/** JSON in pieces, ending with a newline. */
async function writePieces(pieces: Iterable<string>, { io: { out }, pause }: PrintJob): Promise<void> {
  let before: string | undefined;
  for (const piece of pieces) {
    if (before !== undefined) {
      await out.write(before);
      await pause();
    }
    before = out.isTTY ? visibleJson(piece) : safeJson(piece);
  }
  await out.write(`${before ?? ''}\n`);
}

/** Rows of a table that are laid out together; the columns of the next part may be wider. */
const partRows = 5000;

function partsOf<T>(rows: readonly T[]): (readonly T[])[] {
  if (rows.length <= partRows) return [rows];
  return Array.from({ length: Math.ceil(rows.length / partRows) }, (_, at) =>
    rows.slice(at * partRows, (at + 1) * partRows),
  );
}

/** A long list part by part, the other blocks after the last. */
async function writeParts(
  view: AnyView,
  rows: readonly unknown[],
  answer: unknown,
  printing: PrintJob,
  render: typeof humanText,
): Promise<void> {
  if (rows.length <= partRows) return printing.io.out.write(await render(view, answer, printing));
  const { blocks, ...bare } = view;
  let from = 0;
  for (const part of partsOf(rows)) {
    const isLast = from + part.length === rows.length;
    const own = { ...bare, ...(isLast && blocks !== undefined && { blocks }), rows: () => part };
    await printing.io.out.write(await render(own, answer, { ...printing, place: { from, of: rows.length } }));
    await printing.pause();
    from += part.length;
  }
}

async function drawChart(view: AnyView, rows: readonly unknown[], printing: PrintJob): Promise<string> {
  if (view.chart === undefined) throw usageError('--chart: this command has no chart');
  const { renderChart } = await import('./chart.ts');
  const text = renderChart(view.chart(rows as never, printing.input), await drawOptions(printing));
  if (text === '' && rows.length > 0) printing.note('There is nothing to draw.');
  return text;
}

async function drawOptions({ io, options }: PrintJob): Promise<DrawOptions> {
  const { createPalette } = await import('./color.ts');
  const palette = createPalette(options.noColor ? 0 : io.out.colorLevel);
  return { width: io.out.width, palette, unicode: !options.ascii };
}

function noteEmpty(view: AnyView, rows: number, { note }: PrintJob): void {
  if (rows === 0 && view.empty !== undefined) note(view.empty);
}

/** Without `--format`: a table on a terminal and with `--plain`, else rows. */
function formatFor({ io, options }: Pick<PrintContext, 'io' | 'options'>): Format | 'plain' {
  return options.format ?? (io.out.isTTY || options.plain ? 'table' : 'plain');
}

async function humanText(view: AnyView, answer: unknown, printing: PrintJob): Promise<string> {
  const { options, place, input } = printing;
  const { columns } = options;
  if (options.plain) {
    const { renderPlain } = await import('./grid.ts');
    const text = renderPlain(view, answer, input, { unicode: !options.ascii, columns, place });
    return place?.from ? `\n${text}` : text;
  }
  const { renderView } = await import('./table.ts');
  return renderView(view, answer, input, { ...(await drawOptions(printing)), columns });
}

/** Rows of one table; a longer stream is several tables. */
const tableRows = 500;

async function printItems(result: Result & { kind: 'items' }, printing: PrintJob): Promise<void> {
  const { batches, view, live, chart } = result;
  const { out } = printing.io;
  const wanted = printing.options.format ?? (out.isTTY ? 'table' : 'plain');
  // A live stream never becomes a whole array.
  const format = live && wanted === 'json' ? 'ndjson' : wanted;
  const drawRows = (rows: readonly unknown[], draw = humanText) => draw({ ...view, rows: () => rows }, [], printing);
  if (format === 'json') return writeList(batches, out);
  if (live && format === 'toon')
    throw usageError(
      '--format toon: it begins with the number of rows, which is not known here',
      'Take ndjson or csv.',
    );
  if (chart || format === 'md' || format === 'toon' || (format === 'table' && !live)) {
    // Columns are as wide as their widest cell, so they wait for their rows.
    const perTable = chart || format !== 'table' ? Number.POSITIVE_INFINITY : tableRows;
    let rows: unknown[] = [];
    for await (const batch of batches) {
      rows = rows.concat(batch);
      while (rows.length >= perTable) await out.write(await drawRows(rows.splice(0, perTable)));
    }
    noteEmpty(view, rows.length, printing);
    if (chart) return out.write(await drawChart(view, rows, printing));
    if (format === 'toon')
      return out.write(await (await import('./rows.ts')).toonText(view, rows, printing.options.columns));
    return out.write(await drawRows(rows, format === 'md' ? markdown : humanText));
  }
  const inTable = format === 'table' ? (await import('./table.ts')).liveTable(drawRows) : undefined;
  let count = 0;
  for await (const batch of batches) {
    if (inTable !== undefined) await out.write(await inTable(batch));
    else if (format !== 'table') await writeRows(view, batch, count, format, printing);
    count += batch.length;
  }
  noteEmpty(view, count, printing);
}

/** One JSON array of all items, written once the last has come: it must be whole or absent. */
async function writeList(batches: AsyncIterable<readonly unknown[]>, out: Sink): Promise<void> {
  const pages: (readonly string[])[] = [];
  for await (const batch of batches) if (batch.length > 0) pages.push(textsOf(batch));
  if (pages.length === 0) return out.write('[]\n');
  for (const [index, texts] of pages.entries()) {
    const items = indentJson(`[${texts.join(',')}]`).slice(1, -2);
    await out.write((index === 0 ? '[' : ',') + safeJson(items));
  }
  await out.write('\n]\n');
}

async function markdown(view: AnyView, answer: unknown, { input, options, place }: PrintJob): Promise<string> {
  const text = (await import('./grid.ts')).renderMarkdown(view, answer, input, options.columns);
  // Only the first part has the header.
  return place?.from ? text.split('\n').slice(2).join('\n') : text;
}

async function writeRecord(view: AnyView, rows: readonly unknown[], { io, options }: PrintJob): Promise<void> {
  const { rowWriter } = await import('./rows.ts');
  for (const column of knownColumns(view, options.columns)) {
    const writer = rowWriter({ columns: [column] }, 'plain', { header: false });
    for (const row of rows) await io.out.write(`${column.key}\t${writer.row(row, 0)}`);
  }
}

async function writeRows(
  view: AnyView,
  rows: readonly unknown[],
  before: number,
  format: RowFormat,
  { io, options, pause }: PrintJob,
): Promise<void> {
  const bytes = format === 'ndjson' && io.out.writeBytes !== undefined ? bytesOf(rows) : undefined;
  if (bytes !== undefined) return io.out.writeBytes?.(bytes);
  const lines = format === 'ndjson' ? linesOf(rows) : undefined;
  if (lines !== undefined) return io.out.write(safeJson(lines));
  const { rowWriter } = await import('./rows.ts');
  const writer = rowWriter(view, format, { header: format !== 'plain', columns: options.columns });
  let from = before;
  for (const part of partsOf(rows)) {
    const written = part.map((row, index) => writer.row(row, from + index));
    await io.out.write((from === 0 ? writer.header() : '') + written.join(''));
    if (rows.length > partRows) await pause();
    from += part.length;
  }
}
