import { counted, formatCount } from '../../lib/output/format.ts';
import type { ActivityFacts, ActivityRow } from '../activity.ts';
import { Empty, Loading, ProblemNote } from './cells.tsx';
import { DetailPanel } from './detail.tsx';
import { useMemo, useState } from './preact.ts';
import { type Route, setQuery } from './route.ts';
import { Rows } from './rows.tsx';
import type { Activity } from './use-activity.ts';

const rowsAtOnce = 200;

const chips: readonly (readonly [name: string, fits: (row: ActivityRow) => boolean])[] = [
  ['failed', ({ failed }) => failed],
  ['requests', ({ kind }) => kind === 'request' || kind === 'refused'],
  ['deliveries', ({ kind }) => kind === 'event' || kind === 'attempt' || kind === 'refused'],
];

interface ActivityViewProps {
  activity: Activity;
  facts: ActivityFacts;
  route: Route;
}

/** The stream of activity, and beside it the open row. */
export function ActivityView({ activity, facts, route }: ActivityViewProps) {
  const { rows, hasMore, fresh, error, reload, loadOlder } = activity;
  const { query, parts } = route;
  const [shown, show] = useState(rowsAtOnce);
  const only = query['only'] ?? '';
  const search = query['q'] ?? '';
  const found = useMemo(() => findRows(rows ?? [], only, search), [rows, only, search]);
  const [id] = parts;
  const showMore = () => {
    show(shown + rowsAtOnce);
    if (hasMore && shown + rowsAtOnce >= found.length) loadOlder();
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
            {rows !== undefined && sayCount(found.length, rows.length, hasMore)}
          </span>
        </search>
        <ProblemNote error={error} again={reload} />
        {rows === undefined && error === null && <Loading label="Activity" />}
        {rows?.length === 0 && <Empty text={facts.empty} line={facts.line} />}
        {rows !== undefined && rows.length > 0 && found.length === 0 && <Empty text="No row matches." />}
        <Rows label="Activity" rows={found.slice(0, shown)} {...{ query, fresh }} selected={id} />
        {(found.length > shown || hasMore) && found.length > 0 && (
          <button type="button" class="more" onClick={showMore}>
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

function sayCount(found: number, all: number, hasMore: boolean): string {
  const total = `${counted(all, 'row')}${hasMore ? ' loaded' : ''}`;
  return found === all ? total : `${formatCount(found)} of ${total}`;
}
