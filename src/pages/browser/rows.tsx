import { formatCount } from '../../lib/output/format.ts';
import type { ActivityRow } from '../activity.ts';
import { Moment } from './cells.tsx';
import { type Route, writeHref } from './route.ts';
import { Text } from './text.tsx';

interface RowsProps {
  label: string;
  rows: readonly ActivityRow[];
  /** The query of the page: links keep its filters. */
  query: Route['query'];
  selected?: string | undefined;
  /** Rows that came since the page was loaded. */
  fresh?: ReadonlyMap<string, ActivityRow>;
}

/** Rows of activity, each a link that opens it. */
export function Rows({ label, rows, query, selected, fresh }: RowsProps) {
  return (
    <ol class="rows" aria-label={label}>
      {rows.map((row) => (
        <li key={row.id}>
          <a
            class={fresh?.has(row.id) ? 'row fresh' : 'row'}
            href={writeHref('activity', [row.id], query)}
            aria-current={row.id === selected ? 'true' : undefined}
          >
            <Status row={row} />
            <span class="title">
              <Text text={row.title} />
            </span>
            <Moment atMs={row.atMs} />
            <span class="kind">
              {row.kind} {row.number}
            </span>
            <span class={row.failed ? 'about error' : 'about'}>
              <Text text={row.about} />
            </span>
            <span class="took">{row.durationMs === undefined ? '' : `${formatCount(row.durationMs)} ms`}</span>
          </a>
        </li>
      ))}
    </ol>
  );
}

export function Status({ row: { status, failed, waiting } }: { row: ActivityRow }) {
  const tone = failed ? 'refused' : waiting ? 'waiting' : 'forwarded';
  return <Text as="span" class={`status ${tone}`} text={status} />;
}
