import type { Result } from './cli/command.ts';
import type { GlobalOptions } from './cli/globals.ts';
import { usageError } from './errors.ts';
import { knownColumns, selectColumns } from './output/columns.ts';
import type { Io } from './output/io.ts';
import { indentJson, safeJson } from './output/json.ts';
import type { RowFormat } from './output/rows.ts';
import type { AnyView } from './output/view.ts';

interface Printing {
  io: Io;
  options: GlobalOptions;
  note: (text: string) => void;
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
export async function printResult(result: Result, input: unknown, printing: Printing): Promise<number> {
  const { out } = printing.io;
  if (result.kind === 'text') await out.write(result.text);
  if (result.kind === 'answer') {
    await printAnswer(result, input, printing);
    for (const note of result.notes ?? []) printing.note(note);
  }
  if (result.kind === 'items') await printItems(result, input, printing);
  return 'exitCode' in result ? (result.exitCode ?? 0) : 0;
}

async function printAnswer(result: Result & { kind: 'answer' }, input: unknown, printing: Printing): Promise<void> {
  const { view } = result;
  const { out } = printing.io;
  const answer = result.answer as never;
  const format = printing.options.format ?? (out.isTTY ? 'table' : 'plain');
  if (format === 'json' || view === undefined)
    return out.write(`${safeJson(indentJson(result.text ?? JSON.stringify(result.answer)))}\n`);
  const rows = view.rows(answer, input as never);
  if (rows.length === 0 && view.empty !== undefined) printing.note(view.empty);
  if (format === 'table') {
    if (rows.length > 0 || view.blocks !== undefined) await out.write(await humanText(view, answer, input, printing));
  } else if (format === 'md') await out.write(await markdown(view, answer, input, printing));
  else if (format === 'plain' && view.layout === 'record') await writeRecord(view, rows, printing);
  else await writeRows(view, rows, 0, format, printing);
  for (const note of view.notes?.(answer, input as never) ?? []) printing.note(note);
}

async function humanText(view: AnyView, answer: unknown, input: unknown, { io, options }: Printing): Promise<string> {
  const { renderView } = await import('./output/table.ts');
  const { createPalette } = await import('./output/colour.ts');
  return renderView(view, answer, input, {
    width: io.out.width,
    palette: createPalette(options.noColor ? 0 : io.out.colourLevel),
    ...(options.columns === undefined ? {} : { columns: options.columns }),
  });
}

/** Rows that a terminal gets as one table; a longer stream is several tables. */
const tableRows = 500;

async function printItems({ batches, view, live }: Result & { kind: 'items' }, input: unknown, printing: Printing) {
  const { out } = printing.io;
  const format = printing.options.format ?? (out.isTTY ? 'table' : 'plain');
  if (format === 'json' || format === 'md' || (format === 'table' && !live)) {
    // JSON must be whole or absent, and columns are as wide as their widest cell: both wait for their rows.
    let rows: unknown[] = [];
    for await (const batch of batches) {
      rows = rows.concat(batch);
      while (format === 'table' && rows.length >= tableRows)
        await out.write(await humanText({ ...view, rows: () => rows.splice(0, tableRows) }, [], input, printing));
    }
    if (format === 'json') return out.write(`${safeJson(JSON.stringify(rows, null, 2))}\n`);
    if (rows.length === 0 && view.empty !== undefined) printing.note(view.empty);
    return out.write(
      await (format === 'md' ? markdown : humanText)({ ...view, rows: () => rows }, [], input, printing),
    );
  }
  let count = 0;
  for await (const batch of batches) {
    if (format === 'table') await out.write(await humanText({ ...view, rows: () => batch }, [], input, printing));
    else await writeRows(view, batch, count, format, printing);
    count += batch.length;
  }
  if (count === 0 && view.empty !== undefined) printing.note(view.empty);
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
  const { rowWriter } = await import('./output/rows.ts');
  const columns = options.columns === undefined ? {} : { columns: options.columns };
  const writer = rowWriter(view, format, { header: format !== 'plain', ...columns });
  const lines = rows.map((row, index) => writer.row(row, before + index));
  await io.out.write((before === 0 ? writer.header() : '') + lines.join(''));
}
