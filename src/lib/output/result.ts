import type { HttpRequest } from '../../client/transport.ts';
import type { SotraError } from '../../errors.ts';
import type { AnyView } from './view.ts';

export const formats = ['table', 'json', 'ndjson', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** The result of a command, to be printed. */
export type Result =
  /** `text` is the JSON exactly as received. */
  | (ChartOption & {
      kind: 'answer';
      answer: unknown;
      text?: string;
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
