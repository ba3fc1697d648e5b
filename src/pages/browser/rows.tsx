import { useEffect, useState } from 'preact/hooks';
import { formatCount, formatTime } from '../../lib/output/format.ts';
import type { ActivityRow } from '../activity.ts';
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
            <Text as="span" class="title" text={row.title} />
            <Moment atMs={row.atMs} />
            <span class="kind">
              {row.kind} {row.number}
            </span>
            <Text as="span" class={row.failed ? 'about error' : 'about'} text={row.about} />
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

/** A moment in UTC; only its time if it is today. */
export function Moment({ atMs }: { atMs: number }) {
  const exact = formatTime(Math.floor(atMs / 1000));
  const isToday = exact.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return (
    <time dateTime={exact.replace(' ', 'T')} title={exact}>
      {isToday ? exact.slice(11) : exact.slice(0, 16)}
    </time>
  );
}

const firstRows = 40;
export const rowsAtOnce = 200;

/** How many rows of a list are drawn: some at once, so that they are there soon, then 200, and more when asked for. */
export function useShown(): [shown: number, showMore: () => void] {
  const [shown, show] = useState(firstRows);
  useEffect(() => show(rowsAtOnce), []);
  return [shown, () => show(shown + rowsAtOnce)];
}
