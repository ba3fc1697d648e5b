import type { Result } from '../cli/command.ts';
import { column } from './columns.ts';
import type { View } from './view.ts';

/** One thing that a command would do to this machine. */
export interface PlannedChange {
  /** A verb, such as `remove`. */
  action: string;
  /** What it would be done to, such as `context staging`. */
  what: string;
  /** The new value, or the place: a file or an address. */
  detail: string | null;
}

interface Plan {
  dryRun: true;
  changes: readonly PlannedChange[];
}

const view: View<Plan, PlannedChange> = {
  layout: 'table',
  rows: ({ changes }) => changes,
  columns: [
    column.text('action', 'Would', 'what would be done'),
    column.text('what', 'What', 'to what', { cut: 'end' }),
    column.text('detail', 'To or in', 'new value, file or address', { cut: 'middle' }),
  ],
  empty: 'Nothing would be changed.',
};

/** What `--dry-run` shows in place of changes. */
export function showPlan(changes: readonly PlannedChange[]): Result {
  return { kind: 'answer', answer: { dryRun: true, changes } satisfies Plan, view };
}
