import { parseJson } from '../../api/json.ts';
import { nearest } from '../../api/nearest.ts';
import { terminalText } from '../../api/safe-text.ts';
import { type ServiceNames, serviceFlags, shellLine } from '../../client/shell.ts';
import { usageError } from '../../errors.ts';
import type { Io } from '../io.ts';
import { type JqFilter, jqForm, jsonForm, ndjsonForm, visibleJson } from './json.ts';
import {
  type AnyView,
  cellValue,
  type Form,
  type Format,
  inSlices,
  knownColumns,
  listBlocks,
  listRows,
  type Result,
  type Rows,
  rawItems,
  readLoosely,
  withoutFlagged,
} from './view.ts';

interface PrintOptions extends ServiceNames {
  /** Absent: a table on a terminal, the same rows separated by tabs in a pipe. */
  format: Format | undefined;
  columns: readonly string[] | undefined;
  showNsfw: boolean;
  noColor: boolean;
  curl: boolean;
}

interface PrintContext {
  io: Pick<Io, 'out'>;
  options: PrintOptions;
  note: (text: string) => void;
  /** Handles signals during long work. Rejects when one came. */
  pause: () => Promise<void>;
  filter: JqFilter | undefined;
  hideSecrets: (json: string) => string;
}

/** Refuses unknown names in `--columns`. Errors: `usage`, naming the known ones. */
export function checkColumns(view: AnyView | undefined, columns: readonly string[]): void {
  if (view === undefined) throw usageError('--columns: this command prints no columns');
  const known = view.columns.map(({ key }) => key);
  const unknown = columns.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const spell = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const named = view.columns.find(({ header }) => spell(header) === spell(unknown));
  const meant = named?.key ?? nearest(unknown, known);
  throw usageError(
    `--columns ${unknown}: no such column`,
    `${meant === undefined ? '' : `Did you mean ${meant}? `}Columns: ${known.join(', ')}.`,
  );
}

/** Writes a request as text, JSON or a curl line. Errors: `usage` for another format. */
async function printRequest(
  { request, text = '', facts }: Result & { kind: 'request' },
  printing: PrintContext,
): Promise<void> {
  const { filter, options, io } = printing;
  const { curl, format, columns } = options;
  const known = [undefined, 'table', 'json', ...(curl ? [] : ['ndjson'])];
  const unfit = known.includes(format) ? undefined : `--format ${format}`;
  const rival = columns !== undefined ? '--columns' : curl && filter !== undefined ? '--jq' : unfit;
  const shown = curl ? '--curl' : '--dry-run';
  if (rival !== undefined) throw usageError(`${rival} cannot be used with ${shown}`, 'Omit it.');
  const { curlLine, describeRequest, formatRequest } = await import('../../client/preview.ts');
  if (curl) return io.out.write(curlLine(request));
  if (filter === undefined && format !== 'json' && format !== 'ndjson')
    return io.out.write(text + visibleJson(formatRequest(request)));
  const described = describeRequest(request);
  const answer = facts === undefined ? described : { ...facts, request: described };
  await printAnswer({ kind: 'answer', answer }, {}, printing);
}

/** Writes a command's result to stdout and returns the exit code. Errors: ClosedPipe when the reader is gone. */
export async function printResult(result: Result, input: unknown, printing: PrintContext): Promise<number> {
  const { io, filter } = printing;
  const form = chooseForm(result, printing);
  if (result.kind === 'answer') {
    const { drawn } = result;
    if (drawn !== undefined && (form === 'table' || form === 'plain')) await io.out.write(drawn);
    else await printAnswer(result, input, printing);
  }
  if (result.kind === 'items') await printItems(result, input, printing);
  if (result.kind === 'request') await printRequest(result, printing);
  if (result.kind === 'text') {
    if (filter !== undefined) throw usageError('--jq: this command prints no JSON');
    const isDrawn = drawnForms.includes(form);
    await io.out.write(isDrawn || !io.out.isTTY ? result.text : visibleJson(result.text));
  }
  return 'exitCode' in result ? (result.exitCode ?? 0) : 0;
}

/** Every form; `plain` is the default in a pipe. */
const forms = {
  jq: async ({ filter, options, io }, { live }) =>
    jqForm(filter as JqFilter, { byItem: live === true || options.format === 'ndjson', indent: io.out.isTTY }),
  json: async () => jsonForm,
  ndjson: async () => ndjsonForm,
  csv: async () => (await import('./rows.ts')).rowForm('csv'),
  tsv: async () => (await import('./rows.ts')).rowForm('tsv'),
  plain: async () => (await import('./rows.ts')).rowForm('plain'),
  table: (printing) => drawForm('table', printing),
  chart: (printing) => drawForm('chart', printing),
} satisfies Readonly<Record<string, (printing: PrintContext, rows: Rows) => Promise<Form>>>;

type FormName = keyof typeof forms;

/** Forms for people are cleaned, also in a pipe: it may end on a terminal. */
const drawnForms: readonly FormName[] = ['table', 'chart'];

function chooseForm(result: Result, { io, options, filter }: PrintContext): FormName {
  const { format = io.out.isTTY ? 'table' : 'plain' } = options;
  if (filter !== undefined) return 'jq';
  if ('chart' in result && result.chart) return 'chart';
  // Live items never become a complete list.
  if (format === 'json' && 'live' in result && result.live) return 'ndjson';
  return format;
}

async function drawForm(name: 'table' | 'chart', { io, options, note }: PrintContext): Promise<Form> {
  const { createPalette, tableForm, chartForm } = await import('./draw.ts');
  const drawing = { width: io.out.width, palette: createPalette(io.out.hasColors && !options.noColor), note };
  return name === 'table' ? tableForm(drawing) : chartForm(drawing);
}

async function writeForm(name: FormName, rows: Rows, printing: PrintContext): Promise<void> {
  const { out } = printing.io;
  const form = await forms[name](printing, rows);
  // Exact in a pipe; on a terminal, characters that hide or reorder text are escaped.
  const clean = drawnForms.includes(name) ? terminalText : out.isTTY ? visibleJson : (text: string) => text;
  let hasWritten = false;
  for await (const text of form(rows))
    for (const part of splitLong(text)) {
      // A walk hears signals between its pages; rows that are all there are drawn without such a place.
      if (hasWritten && (rows.answer !== undefined || part !== text)) await printing.pause();
      await out.write(clean(part));
      hasWritten = true;
    }
}

const maxPart = 65_536;

/** Long text in parts that end with a line, so that a signal can end it between two. */
function* splitLong(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at + maxPart) + 1 || text.length;
    yield text.slice(at, end);
    at = end;
  }
}

async function printAnswer(result: Result & { kind: 'answer' }, input: unknown, printing: PrintContext): Promise<void> {
  const { options, note } = printing;
  const { view } = result;
  const name = chooseForm(result, printing);
  const answer = hidesFlagged(name, options) ? withoutFlagged(result.answer) : result.answer;
  const json = result.text ?? JSON.stringify(answer);
  const rows = view && listRows(view, answer, input);
  if (view === undefined) await writeJson(name, [answer].flat(), json, printing);
  else if (rows === undefined) {
    if (!isWhole(name) || options.columns !== undefined) note(unexpectedShape);
    // A table would not have shown a secret.
    const shown = isWhole(name) ? json : printing.hideSecrets(json);
    await writeJson(name, [parseJson(shown)], shown, printing);
  } else {
    const change = chooseFields(view, name, options);
    const batches = inSlices(change === undefined ? rows : rows.map(change));
    const blocks = options.columns === undefined ? listBlocks(view, answer, input) : [];
    const parts = { json: change === undefined ? json : undefined, blocks };
    await writeForm(name, { view, columns: options.columns, input, batches, answer: parts }, printing);
    // A line to type names the service that was typed.
    const program = shellLine(['sotra', ...serviceFlags(options)]);
    const noteLine = (text: string) => note(text.replace(/\bsotra(?= [a-z]+ [a-z])/, () => program));
    if (rows.length === 0 && view.empty !== undefined && !isWhole(name)) noteLine(view.empty);
    const notes = isWhole(name) ? [] : (readLoosely(() => view.notes?.(answer as never, input as never)) ?? []);
    for (const each of [...notes, ...(view.after?.() ?? [])]) noteLine(each);
  }
  for (const each of result.notes ?? []) note(each);
}

/** An answer that has no rows: as JSON, whole or an item a line. */
async function writeJson(name: FormName, items: unknown[], json: string, printing: PrintContext): Promise<void> {
  const form = name === 'jq' || name === 'ndjson' ? name : 'json';
  const batches = inSlices(items);
  const answer = { json, blocks: [] };
  await writeForm(form, { view: rawItems, columns: undefined, input: undefined, batches, answer }, printing);
}

const unexpectedShape = 'warning: the answer does not have the shape of this table; shown as received';

async function printItems(result: Result & { kind: 'items' }, input: unknown, printing: PrintContext): Promise<void> {
  const { options, note } = printing;
  const { view, live = false } = result;
  const name = chooseForm(result, printing);
  const change = hidesFlagged(name, options) ? withoutFlagged : chooseFields(view, name, options);
  let count = 0;
  async function* showBatches() {
    for await (const batch of result.batches) {
      yield change === undefined ? batch : batch.map((row, index) => change(row, count + index));
      count += batch.length;
    }
  }
  const shown = { view, columns: options.columns, input, batches: showBatches(), live };
  await writeForm(name, shown, printing);
  if (count === 0 && view.empty !== undefined && !isWhole(name)) note(view.empty);
  for (const each of view.after?.() ?? []) note(each);
}

/** The answer's own JSON, for programs: without notes. */
function isWhole(name: FormName): boolean {
  return name === 'json' || name === 'jq';
}

function hidesFlagged(name: FormName, { showNsfw }: PrintOptions): boolean {
  return drawnForms.includes(name) && !showNsfw;
}

/** Makes a row in JSON an object of the fields in `--columns`. Errors: `usage` for an unknown one. */
function chooseFields(
  view: AnyView,
  name: FormName,
  { columns }: PrintOptions,
): ((row: unknown, index: number) => unknown) | undefined {
  if (columns === undefined || (name !== 'json' && name !== 'ndjson')) return undefined;
  checkColumns(view, columns);
  const chosen = knownColumns(view, columns);
  return (row, index) =>
    Object.fromEntries(chosen.map((column) => [column.key, cellValue(column, row, index) ?? null]));
}
