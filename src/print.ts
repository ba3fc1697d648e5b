import { bytesOf, linesOf, textsOf } from './api/paginate.ts';
import type { Result } from './cli/command.ts';
import type { Format, GlobalOptions } from './cli/globals.ts';
import { usageError } from './errors.ts';
import { knownColumns, selectColumns } from './output/columns.ts';
import type { Io, Sink } from './output/io.ts';
import type { JqFilter, Threads } from './output/jq.ts';
import { indentJson, safeJson } from './output/json.ts';
import type { RowFormat } from './output/rows.ts';
import type { AnyView } from './output/view.ts';

interface Printing {
  io: Io;
  options: GlobalOptions;
  note: (text: string) => void;
  /** Status and headers that stand before what is printed next. */
  takeHeads: () => string;
  /** The filter of `--jq`. */
  filter: JqFilter | undefined;
}

/** The filter of `--jq`, compiled before anything is sent. Errors: `usage` with what jq says of it. */
export async function readFilter(text: string, threads: Threads): Promise<JqFilter> {
  const { compileFilter } = await import('./output/jq.ts');
  const compiled = await compileFilter(text, threads);
  if (compiled.ok) return compiled.filter;
  throw usageError(
    `--jq ${text}: ${compiled.problem}`,
    'The language is that of jq 1.8: --jq ".traders[].profile.name"',
  );
}

/** Refuses unknown names in `--columns` before anything is sent; an empty `--columns` lists the known ones. Errors: `usage`. */
export function checkColumns(view: AnyView | undefined, columns: readonly string[]): void {
  if (view === undefined) throw usageError('--columns: this command prints no columns');
  const selected = selectColumns(view, [...columns]);
  if (selected.ok) return;
  const known = `Columns: ${selected.known.join(', ')}.`;
  throw usageError(
    selected.unknown === '' ? '--columns is empty' : `--columns ${selected.unknown}: no such column`,
    known,
  );
}

/** Writes a command's result to stdout in the format asked for and gives the exit code. Throws ClosedPipe when the reader is gone. */
export async function printResult(result: Result, input: unknown, { takeHeads, ...rest }: Printing): Promise<number> {
  const { io } = rest;
  const write = async (text: string) => io.out.write(takeHeads() + text);
  const { writeBytes, ...sink } = io.out;
  // Heads are text, and stand before what is printed: with them everything goes as text.
  const out = { ...sink, write, ...(writeBytes && !rest.options.include && { writeBytes }) };
  const printing = { ...rest, takeHeads, io: { ...io, out } };
  if (rest.filter !== undefined) await printFiltered(result, input, { ...printing, filter: rest.filter });
  else await printPlain(result, input, printing);
  const left = takeHeads();
  if (left !== '') await io.out.write(left);
  return 'exitCode' in result ? (result.exitCode ?? 0) : 0;
}

async function printPlain(result: Result, input: unknown, printing: Printing): Promise<void> {
  const { out } = printing.io;
  if (result.kind === 'text') await out.write(result.text);
  if (result.kind === 'answer') {
    await printAnswer(result, input, printing);
    for (const note of result.notes ?? []) printing.note(note);
  }
  if (result.kind === 'items') await printItems(result, input, printing);
}

/** What the filter makes of the JSON that would be printed: the whole, or with `--format ndjson` item by item. */
async function printFiltered(result: Result, input: unknown, { filter, ...printing }: Printing & { filter: JqFilter }) {
  const { out } = printing.io;
  const byItem = printing.options.format === 'ndjson' || (result.kind === 'items' && result.live === true);
  const put = async (json: string) => {
    const filtered = await filter.run(json, { indent: out.isTTY && !byItem });
    if (!filtered.ok)
      throw usageError(`--jq ${printing.options.jq}: ${filtered.problem}`, 'See what it works on with --json.');
    if (filtered.text !== '') await out.write(filtered.text);
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
    const rows = byItem ? result.view?.rows(result.answer as never, input as never) : undefined;
    const { answer: value, text } = result;
    const texts =
      rows === undefined ? undefined : (await import('./output/row-lines.ts')).rowLines(rows, { value, text });
    await put(texts?.join('\n') ?? text ?? JSON.stringify(value));
  }
}

async function printAnswer(result: Result & { kind: 'answer' }, input: unknown, printing: Printing): Promise<void> {
  const { view } = result;
  const { out } = printing.io;
  const answer = result.answer as never;
  const format = formatFor(printing);
  if (format === 'json' || view === undefined)
    return out.write(`${safeJson(indentJson(result.text ?? JSON.stringify(result.answer)))}\n`);
  const rows = view.rows(answer, input as never);
  if (rows.length === 0 && view.empty !== undefined) printing.note(view.empty);
  if (result.chart) await out.write(await picture(view, rows, input, printing));
  else if (format === 'table') {
    if (rows.length > 0 || view.blocks !== undefined) await out.write(await humanText(view, answer, input, printing));
  } else if (format === 'md') await out.write(await markdown(view, answer, input, printing));
  else if (format === 'plain' && view.layout === 'record') await writeRecord(view, rows, printing);
  else if (format === 'ndjson') {
    const { rowLines } = await import('./output/row-lines.ts');
    const lines = rowLines(rows, { value: answer, text: result.text });
    await out.write(lines.map((line) => `${safeJson(line)}\n`).join(''));
  } else await writeRows(view, rows, 0, format, printing);
  for (const note of view.notes?.(answer, input as never) ?? []) printing.note(note);
}

/** The view's chart; a terminal that is none gets it as wide as the usual one. */
async function picture(view: AnyView, rows: readonly unknown[], input: unknown, printing: Printing): Promise<string> {
  const { io, options } = printing;
  if (view.chart === undefined) throw usageError('--chart: this command has no picture');
  const { renderChart } = await import('./output/chart.ts');
  const { createPalette } = await import('./output/colour.ts');
  const palette = createPalette(options.noColor ? 0 : io.out.colourLevel);
  const text = renderChart(view.chart(rows as never, input as never), {
    width: io.out.width,
    palette,
    unicode: !options.ascii,
  });
  if (text === '' && rows.length > 0) printing.note('There is nothing to draw.');
  return text;
}

function columnsOf({ columns }: GlobalOptions): { columns?: readonly string[] } {
  return columns === undefined ? {} : { columns };
}

/** The format asked for; without one a table on a terminal and with `--plain`, else rows. */
function formatFor({ io, options }: Printing): Format | 'plain' {
  return options.format ?? (io.out.isTTY || options.plain ? 'table' : 'plain');
}

async function humanText(view: AnyView, answer: unknown, input: unknown, { io, options }: Printing): Promise<string> {
  if (options.plain) {
    const { renderPlain } = await import('./output/plain.ts');
    return renderPlain(view, answer, input, { unicode: !options.ascii, ...columnsOf(options) });
  }
  const { renderView } = await import('./output/table.ts');
  const { createPalette } = await import('./output/colour.ts');
  return renderView(view, answer, input, {
    width: io.out.width,
    palette: createPalette(options.noColor ? 0 : io.out.colourLevel),
    unicode: !options.ascii,
    ...columnsOf(options),
  });
}

/** Rows that a terminal gets as one table; a longer stream is several tables. */
const tableRows = 500;

async function printItems(
  { batches, view, live, chart }: Result & { kind: 'items' },
  input: unknown,
  printing: Printing,
) {
  const { out } = printing.io;
  if (chart) {
    let rows: unknown[] = [];
    for await (const batch of batches) rows = rows.concat(batch);
    if (rows.length === 0 && view.empty !== undefined) printing.note(view.empty);
    return out.write(await picture(view, rows, input, printing));
  }
  const asked = printing.options.format ?? (out.isTTY ? 'table' : 'plain');
  // A stream without an end has no whole array: its JSON is one object a line.
  const format = live && asked === 'json' ? 'ndjson' : asked;
  if (format === 'json') return writeList(batches, out);
  if (format === 'md' || (format === 'table' && !live)) {
    // Columns are as wide as their widest cell: they wait for their rows.
    let rows: unknown[] = [];
    for await (const batch of batches) {
      rows = rows.concat(batch);
      while (format === 'table' && rows.length >= tableRows)
        await out.write(await humanText({ ...view, rows: () => rows.splice(0, tableRows) }, [], input, printing));
    }
    if (rows.length === 0 && view.empty !== undefined) printing.note(view.empty);
    return out.write(
      await (format === 'md' ? markdown : humanText)({ ...view, rows: () => rows }, [], input, printing),
    );
  }
  const { liveTable } = await import('./output/live-table.ts');
  const inTable = liveTable((rows) => humanText({ ...view, rows: () => rows }, [], input, printing));
  let count = 0;
  for await (const batch of batches) {
    if (format === 'table') await out.write(await inTable(batch));
    else await writeRows(view, batch, count, format, printing);
    count += batch.length;
  }
  if (count === 0 && view.empty !== undefined) printing.note(view.empty);
}

/** One list of all items, each as it came: JSON must be whole or absent, so nothing is written before the last has come. */
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

async function markdown(view: AnyView, answer: unknown, input: unknown, { options }: Printing): Promise<string> {
  return (await import('./output/markdown.ts')).renderMarkdown(view, answer, input, options.columns);
}

async function writeRecord(view: AnyView, rows: readonly unknown[], { io, options }: Printing): Promise<void> {
  const { rowWriter } = await import('./output/rows.ts');
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
  { io, options }: Printing,
): Promise<void> {
  const bytes = format === 'ndjson' && io.out.writeBytes !== undefined ? bytesOf(rows) : undefined;
  if (bytes !== undefined) return io.out.writeBytes?.(bytes);
  const lines = format === 'ndjson' ? linesOf(rows) : undefined;
  if (lines !== undefined) return io.out.write(safeJson(lines));
  const { rowWriter } = await import('./output/rows.ts');
  const columns = options.columns === undefined ? {} : { columns: options.columns };
  const writer = rowWriter(view, format, { header: format !== 'plain', ...columns });
  const written = rows.map((row, index) => writer.row(row, before + index));
  await io.out.write((before === 0 ? writer.header() : '') + written.join(''));
}
