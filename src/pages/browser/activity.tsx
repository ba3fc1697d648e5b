import { counted, formatCount } from '../../lib/output/format.ts';
import type { ActivityRow, LoadedActivity } from '../activity.ts';
import { Empty } from './answer-note.tsx';
import { DetailPanel } from './detail.tsx';
import { useMemo } from './preact.ts';
import { type Route, setQuery } from './route.ts';
import { Rows } from './rows.tsx';
import { rowsAtOnce, useShown } from './shown.ts';
import type { Activity } from './use-activity.ts';

const chips: readonly (readonly [name: string, fits: (row: ActivityRow) => boolean])[] = [
  ['failed', ({ failed }) => failed],
  ['requests', ({ kind }) => kind === 'request' || kind === 'refused'],
  ['deliveries', ({ kind }) => kind === 'event' || kind === 'attempt' || kind === 'refused'],
];

interface ActivityViewProps {
  list: LoadedActivity;
  activity: Activity;
  route: Route;
}

/** The stream of activity, and beside it the open row. */
export function ActivityView({ list, activity, route }: ActivityViewProps) {
  const { facts, hasMore } = list;
  const { rows, fresh, loadOlder } = activity;
  const { query, parts } = route;
  const [shown, showMore] = useShown();
  const { only = '', q: search = '' } = query;
  const found = useMemo(() => findRows(rows, only, search), [rows, only, search]);
  const [id] = parts;
  const more = () => {
    showMore();
    if (hasMore && shown + rowsAtOnce >= found.length) loadOlder(list);
  };
  return (
    <div class="inspect">
      <section class="browse" aria-label="Activity">
        <search class="tools">
          {chips.map(([name]) => (
            <button
              key={name}
              type="button"
              aria-pressed={only === name}
              onClick={() => setQuery(route, { only: only === name ? '' : name })}
            >
              {name}
            </button>
          ))}
          <input
            type="search"
            aria-label="Search rows"
            placeholder="Search"
            value={search}
            onInput={(event) => setQuery(route, { q: event.currentTarget.value })}
          />
          <span class="muted" role="status">
            {found.length < rows.length && `${formatCount(found.length)} of `}
            {counted(rows.length, 'row')}
            {hasMore && ' loaded'}
          </span>
        </search>
        {rows.length === 0 && <Empty text={facts.empty} line={facts.line} />}
        {rows.length > found.length && found.length === 0 && <Empty text="No row matches." />}
        <Rows label="Activity" rows={found.slice(0, shown)} {...{ query, fresh }} selected={id} />
        {(found.length > shown || hasMore) && found.length > 0 && (
          <button type="button" class="more" onClick={more}>
            Show more
          </button>
        )}
      </section>
      {id !== undefined && <DetailPanel id={id} route={route} />}
    </div>
  );
}

function findRows(rows: readonly ActivityRow[], only: string, search: string): readonly ActivityRow[] {
  const fits = chips.find(([name]) => name === only)?.[1];
  const words = search.trim().toLowerCase();
  const holds = ({ id, title, about, status, kind }: ActivityRow) =>
    `${id} ${kind} ${status} ${title} ${about}`.toLowerCase().includes(words);
  return rows.filter((row) => (fits?.(row) ?? true) && (words === '' || holds(row)));
}
