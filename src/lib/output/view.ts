import { isObject } from '../../api/json.ts';
import type { HttpRequest } from '../../client/transport.ts';
import type { SotraError } from '../../errors.ts';

/** A cell as machines get it (csv, tsv, piped rows): neither rounded nor shortened. */
export type CellValue = string | number | boolean | null | undefined;

/** The meaning of a cell. Color follows from it, and never carries it alone. */
export type Tone = 'gain' | 'loss' | 'muted' | 'strong' | 'plain';

export interface CellText {
  text: string;
  /** Replaces the text in a table that would not fit. */
  short?: string;
  tone?: Tone;
}

export interface Column<Row> {
  /** The name in `--columns` and the header in csv and tsv, camelCase. */
  key: string;
  header: string;
  /** For help: what the column means, with its unit. */
  help: string;
  value: (row: Row, index: number) => CellValue;
  /** The human form; default: the machine value. */
  show?: (row: Row, index: number) => string | CellText | undefined;
  align?: 'left' | 'right';
  /** Columns of the highest number are dropped first when the table does not fit; absent: never. */
  drop?: number;
  /** Shown only when named in `--columns`. */
  extra?: boolean;
  /** Its text may be cut on a narrow terminal, and wrapped in a record; a number: other columns give way until it has so many cells. */
  cut?: boolean | number;
}

/** A titled table that accompanies a view; human formats only. */
export interface Block {
  title?: string | undefined;
  layout: 'table' | 'record';
  columns: readonly Column<never>[];
  rows: readonly unknown[];
}

/**
 * How an answer becomes rows and columns. `layout: 'table'` is one line an item; `'record'` is one "name  value" line
 * a column, for a single object.
 */
export interface View<Answer, Row, Input = unknown> {
  layout: 'table' | 'record';
  /** The items, in the service's order; one for a record. */
  rows: (answer: Answer, input: Input) => readonly Row[];
  columns: readonly Column<Row>[];
  /** One sentence for stderr when there are no rows. */
  empty?: string;
  notes?: (answer: Answer, input: Input) => readonly string[];
  /** Notes once every row is shown, of all pages. */
  after?: () => readonly string[];
  /** Further tables below the first; human formats only. */
  blocks?: (answer: Answer, input: Input) => readonly Block[];
  chart?: (rows: readonly Row[], input: Input) => BarChart;
}

/** A view with answers and rows of any type, for the renderer. */
export type AnyView = Omit<View<never, never, never>, 'rows'> & {
  rows: (answer: never, input: never) => readonly unknown[];
};

/** Each item is a row, for formats without columns. */
export const rawItems: AnyView = { layout: 'table', rows: (answer) => answer, columns: [] };

/** Figures as bars, one a line: gains to the right of zero, losses to the left. */
export interface BarChart {
  title: string;
  bars: readonly Bar[];
}

export interface Bar {
  label: string;
  /** `null`: not known. */
  usd: number | null;
}

export type AnyColumn = Column<never>;

/** The named columns, each once; without a known name all that are not `extra`. */
export function knownColumns(view: Pick<AnyView, 'columns'>, names: readonly string[] = []): readonly AnyColumn[] {
  const byKey = new Map(view.columns.map((column) => [column.key, column]));
  const named = [...new Set(names)].flatMap((name) => byKey.get(name) ?? []);
  return named.length > 0 ? named : view.columns.filter((column) => column.extra !== true);
}

/** The machine value of a cell; JSON for an object, nothing for a row of another shape. */
export function cellValue(column: AnyColumn, row: unknown, index: number): CellValue {
  const value: unknown = readLoosely(() => column.value(row as never, index));
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as CellValue);
}

export function listRows(view: Pick<AnyView, 'rows'>, answer: unknown, input: unknown): readonly unknown[] | undefined {
  const rows = readLoosely(() => view.rows(answer as never, input as never));
  return Array.isArray(rows) ? rows : undefined;
}

export function listBlocks(view: Pick<AnyView, 'blocks'>, answer: unknown, input: unknown): readonly Block[] {
  return readLoosely(() => view.blocks?.(answer as never, input as never)) ?? [];
}

/** The result of `read`; `undefined` for an answer of another shape. */
export function readLoosely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof TypeError || thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

/** The rows of a result: of one answer, or of a list that comes in batches. */
export interface Rows {
  view: AnyView;
  /** Those named in `--columns`. */
  columns: readonly string[] | undefined;
  input: unknown;
  batches: AsyncIterable<readonly unknown[]>;
  /** Of one answer; a list has none. */
  answer?: AnswerParts | undefined;
  /** They come over time, each to be shown at once. */
  live?: boolean;
}

interface AnswerParts {
  /** Its JSON as received; absent: the list of its rows. */
  json: string | undefined;
  blocks: readonly Block[];
}

/** One form of output: the rows as text, piece by piece. Nothing comes before the first batch, so that a failed call prints nothing. */
export type Form = (rows: Rows) => AsyncIterable<string>;

/** Rows of one table; a longer list is several tables. */
const tableRows = 500;

/** The rows of each table: a list of pages in slices, everything else as it comes. */
export async function* tableBatches({ batches, answer, live }: Rows): AsyncGenerator<readonly unknown[]> {
  if (answer !== undefined || live) return yield* batches;
  let rows: unknown[] = [];
  for await (const batch of batches) {
    rows = rows.concat(batch);
    while (rows.length >= tableRows) yield rows.splice(0, tableRows);
  }
  yield rows;
}

/** The batches as they come, `see` called with each first. */
export async function* onEachBatch(
  batches: AsyncIterable<readonly unknown[]>,
  see: (batch: readonly unknown[]) => void,
): AsyncGenerator<readonly unknown[]> {
  for await (const batch of batches) {
    see(batch);
    yield batch;
  }
}

/** Rows that are drawn without a pause in which a signal is heard. */
const sliceRows = 1000;

/** Items that are all there, in batches that are drawn at once. */
export async function* inSlices<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let at = 0; at === 0 || at < items.length; at += sliceRows) yield items.slice(at, at + sliceRows);
}

/** All items of the batches. */
export async function collectItems(batches: AsyncIterable<readonly unknown[]>): Promise<unknown[]> {
  const pages: (readonly unknown[])[] = [];
  for await (const batch of batches) pages.push(batch);
  return pages.flat();
}

export const formats = ['table', 'json', 'ndjson', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** The result of a command, to be printed. */
export type Result =
  /** `text` is the JSON exactly as received. */
  | (ChartOption & {
      kind: 'answer';
      answer: unknown;
      text?: string;
      /** What people get instead of its rows or its JSON. */
      drawn?: string;
      view?: AnyView;
      notes?: readonly string[];
      exitCode?: number;
      /** The reason for the exit code, for `sotra why`. */
      failure?: SotraError;
    })
  /** Printed as they come; `live`: each batch at once, also on a terminal. */
  | (ChartOption & { kind: 'items'; batches: AsyncIterable<readonly unknown[]>; view: AnyView; live?: boolean })
  | { kind: 'text'; text: string }
  /** A request that is shown and not sent, with more about it in `text` and `facts`. */
  | { kind: 'request'; request: HttpRequest; text?: string; facts?: Readonly<Record<string, unknown>> }
  | { kind: 'none'; exitCode?: number };

interface ChartOption {
  chart?: boolean;
}

const hidden = '(hidden: NSFW)';

/** An answer without the names and handles that the service flags as NSFW. Section "Profile": clients decide. */
export function withoutFlagged<T>(answer: T): T {
  return hideFlagged(answer) as T;
}

function hideFlagged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideFlagged);
  if (!isObject(value)) return value;
  const shown: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, hideFlagged(inner)]),
  );
  const { actor, metadata, isNSFW } = shown;
  if (isFlagged(shown) && 'name' in shown) shown['name'] = hidden;
  if (isFlagged(shown) && isNSFW !== undefined && isObject(metadata)) shown['metadata'] = withoutTexts(metadata);
  // The title of a card is the name of its trader.
  if (isObject(actor) && isFlagged(actor) && 'itemTitle' in shown) shown['itemTitle'] = hidden;
  return shown;
}

function isFlagged({ isNSFW, profile }: Record<string, unknown>): boolean {
  return (isObject(isNSFW) && isNSFW['nsfwText'] === true) || (isObject(profile) && isFlagged(profile));
}

function withoutTexts(handles: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(handles).map(([key, value]) => [key, typeof value === 'string' ? hidden : value]),
  );
}
