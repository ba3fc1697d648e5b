import { useQuery } from '@tanstack/preact-query';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted, formatCount } from '../../lib/output/format.ts';
import { type ActivityRow, type LoadedActivity, maxListed, maxLooked } from '../activity.ts';
import type { LiveEntry } from '../serve.ts';
import { rowsAtOnce, useShown } from './data-table.tsx';
import { DetailPanel, Rows } from './detail.tsx';
import { type Connection, getJson, listenLive, lostText } from './page-api.ts';
import { queryClient } from './queries.ts';
import { type Route, setQuery } from './route.ts';
import { Empty } from './text.tsx';

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
            {hasMore ? ' loaded' : rows.length >= maxListed && ', the newest'}
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

export interface Activity {
  /** The stored rows; absent until they are loaded. */
  list: LoadedActivity | undefined;
  /** The same with live changes, newest first. */
  rows: readonly ActivityRow[];
  /** Those that came or changed since they were loaded, by id. */
  fresh: ReadonlyMap<string, ActivityRow>;
  loadOlder: (known: LoadedActivity) => void;
  connection: Connection;
  /** Why rows are missing. */
  problem: string;
}

const lookMs = 2000;
/** Kept while the page stays open. */
const maxKept = 5000;

/** The rows of the page: the stored ones and live changes. */
export function useActivity(): Activity {
  const [list, setList] = useState<LoadedActivity>();
  const [fresh, setFresh] = useState<ReadonlyMap<string, ActivityRow>>(new Map());
  const [connection, setConnection] = useState<Connection>({ state: 'connecting' });
  const [problem, setProblem] = useState('');
  const loads = useRef(0);
  const addRows = (added: readonly ActivityRow[]) =>
    added.length > 0 &&
    setFresh((before) => new Map([...before, ...added.map((row) => [row.id, row] as const)].slice(-maxKept)));
  const loadOlder = (known: LoadedActivity) => {
    getJson<LoadedActivity>(`ui/list?until=${known.rows.at(-1)?.atMs}`).then(
      (older) => setList((now) => (now === known ? { ...older, rows: [...known.rows, ...older.rows] } : now)),
      (thrown: Error) => setProblem(thrown.message),
    );
  };
  const takeEntry = ({ kind, data }: LiveEntry) => {
    if (kind === 'load') {
      const loaded = data as LoadedActivity;
      setList(loaded);
      setFresh(new Map());
      setProblem('');
      loads.current += 1;
      // Rows that come faster than they are drawn are loaded again and again, without older ones.
      if (loaded.hasMore && loads.current === 1) loadOlder(loaded);
    } else if (kind === 'failed') setProblem(`${(data as { error: string }).error}.`);
  };
  const takeEntries = (entries: readonly LiveEntry[]) => {
    for (const each of entries) takeEntry(each);
    const added = entries.flatMap(({ kind, data }) => (kind === 'row' ? [data as ActivityRow] : []));
    addRows(added);
    const isOther = added.length < entries.length;
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => isOther || isAbout(queryKey, added) });
  };
  // Not after the first paint: nothing is drawn without it.
  useLayoutEffect(() => listenLive('ui/live', takeEntries, setConnection), []);
  const rows = useMemo(() => mergeRows(list?.rows ?? [], fresh), [list, fresh]);
  const waiting = rows.filter((row) => row.waiting).slice(0, maxLooked);
  const { data: looked } = useQuery({
    queryKey: ['rows'],
    queryFn: () => getJson<ActivityRow[]>(`ui/rows?${new URLSearchParams(waiting.map(({ id }) => ['id', id]))}`),
    enabled: waiting.length > 0,
    refetchInterval: lookMs,
  });
  useEffect(() => {
    const known = new Set(rows.map((row) => JSON.stringify(row)));
    addRows((looked ?? []).filter((row) => !known.has(JSON.stringify(row))));
  }, [looked]);
  const why = problem || (connection.state === 'lost' ? lostText : '');
  return { list, rows, fresh, loadOlder, connection, problem: why };
}

/** Whether a query shows a row that changed, or one that caused it. */
function isAbout([route, query]: readonly unknown[], rows: readonly ActivityRow[]): boolean {
  const { id } = (query ?? {}) as { id?: string };
  return route === 'show' && rows.some((row) => row.id === id || row.causeId === id);
}

/** Newest first, each once; added rows replace those with the same id. */
function mergeRows(loaded: readonly ActivityRow[], fresh: ReadonlyMap<string, ActivityRow>): readonly ActivityRow[] {
  const rows = new Map(loaded.map((row) => [row.id, fresh.get(row.id) ?? row]));
  const news = [...fresh.values()].filter(({ id }) => !rows.has(id)).reverse();
  return [...news, ...rows.values()].sort((a, b) => b.atMs - a.atMs);
}
