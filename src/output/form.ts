import type { AnyView, Block } from './view.ts';

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
  /** Its JSON as it came; absent: the list of its rows. */
  json: string | undefined;
  blocks: readonly Block[];
}

/** One form of output: the rows as text, piece by piece. Nothing comes before the first batch, so that a failed call prints nothing. */
export type Form = (rows: Rows) => AsyncIterable<string>;

/** Rows of one table; a longer list is several tables. */
const tableRows = 500;

/** The rows of each table: those of an answer in one, a list in tables of some size, what comes over time as it comes. */
export async function* tableBatches({ batches, answer, live }: Rows): AsyncGenerator<readonly unknown[]> {
  if (answer !== undefined || live) return yield* batches;
  let rows: unknown[] = [];
  for await (const batch of batches) {
    rows = rows.concat(batch);
    while (rows.length >= tableRows) yield rows.splice(0, tableRows);
  }
  yield rows;
}

/** The parts that are not empty, an empty line between them. */
export function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
