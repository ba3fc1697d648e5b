import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { type ActivityList, type ActivityRow, maxLooked } from '../activity.ts';
import { type Connection, getJson, listenLive, type PageError } from './page-api.ts';
import { useEffect, useMemo, useState } from './preact.ts';
import { queryClient } from './queries.ts';

export interface Activity {
  /** Newest first; absent until they are loaded. */
  rows: readonly ActivityRow[] | undefined;
  hasMore: boolean;
  /** Those that came or changed since they were loaded, by id. */
  fresh: ReadonlyMap<string, ActivityRow>;
  state: Connection;
  error: PageError | null;
  reload: () => void;
  loadOlder: () => void;
}

const lookMs = 2000;
/** Kept while the page stays open. */
const maxKept = 5000;
const noRows: ReadonlyMap<string, ActivityRow> = new Map();

/** The rows of the page: the stored ones and live changes. */
export function useActivity(): Activity {
  const [fresh, setFresh] = useState(noRows);
  const [state, setState] = useState<Connection>('connecting');
  // The live stream says when it is loaded, so that no row falls between.
  const { data, error, hasNextPage, refetch, fetchNextPage } = useInfiniteQuery({
    queryKey: ['list'],
    queryFn: ({ pageParam }) =>
      getJson<ActivityList>(`ui/list${pageParam === undefined ? '' : `?before=${pageParam}`}`),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ rows, hasMore }) => (hasMore ? rows.at(-1)?.atMs : undefined),
    enabled: false,
  });
  const rows = useMemo(
    () =>
      data &&
      mergeRows(
        data.pages.flatMap((page) => page.rows),
        fresh,
      ),
    [data, fresh],
  );
  const addRows = (added: readonly ActivityRow[]) =>
    setFresh((before) => new Map([...before, ...added.map((row) => [row.id, row] as const)].slice(-maxKept)));
  useEffect(
    () =>
      listenLive(
        'ui/live',
        (entries) => {
          const added = entries.flatMap(({ kind, data: row }) => (kind === 'row' ? [row as ActivityRow] : []));
          const kinds = new Set(entries.map(({ kind }) => kind));
          if (kinds.has('load')) {
            setFresh(noRows);
            void refetch();
          }
          if (added.length > 0) addRows(added);
          if (kinds.has('load') || kinds.has('changed')) void queryClient.invalidateQueries();
          else void queryClient.invalidateQueries({ predicate: ({ queryKey }) => isAbout(queryKey, added) });
        },
        setState,
      ),
    [],
  );
  const waiting = rows?.filter((row) => row.waiting).slice(0, maxLooked) ?? [];
  const { data: looked } = useQuery({
    queryKey: ['rows'],
    queryFn: () => getJson<ActivityRow[]>(`ui/rows?${new URLSearchParams(waiting.map(({ id }) => ['id', id]))}`),
    enabled: waiting.length > 0,
    refetchInterval: lookMs,
  });
  useEffect(() => {
    if (looked !== undefined) addRows(looked);
  }, [looked]);
  return { rows, hasMore: hasNextPage, fresh, state, error, reload: refetch, loadOlder: fetchNextPage };
}

/** Whether a query shows a row that changed, or one that caused it. */
function isAbout([route, query]: readonly unknown[], rows: readonly ActivityRow[]): boolean {
  const { id } = (query ?? {}) as { id?: string };
  return route === 'show' && rows.some((row) => row.id === id || row.causeId === id);
}

/** Newest first, each once; added rows replace those with the same id. */
function mergeRows(loaded: readonly ActivityRow[], fresh: ReadonlyMap<string, ActivityRow>): readonly ActivityRow[] {
  const rows = new Map(loaded.map((row) => [row.id, row]));
  const news = [...fresh.values()].filter(({ id }) => !rows.has(id)).reverse();
  return [...news, ...[...rows.values()].map((row) => fresh.get(row.id) ?? row)].sort((a, b) => b.atMs - a.atMs);
}
