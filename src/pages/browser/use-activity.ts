import { type ActivityList, type ActivityRow, maxLooked } from '../activity.ts';
import { ask, type Connection, gather, ignore, listenLive, type Problem, readProblem } from './ask.ts';
import { useEffect, useRef, useState } from './preact.ts';

export interface Activity {
  /** Newest first; absent until they are loaded. */
  rows: readonly ActivityRow[] | undefined;
  hasMore: boolean;
  /** Those that came since the page was loaded. */
  fresh: ReadonlySet<string>;
  state: Connection;
  problem: Problem | undefined;
  /** Grows when the service should be asked again. */
  version: number;
  reload: () => void;
  loadOlder: () => void;
}

const [gatherMs, changedMs, lookMs] = [100, 1000, 2000];
/** Kept while the page stays open. */
const maxKept = 5000;

/** The rows of the page: the stored ones and live changes. */
export function useActivity(): Activity {
  const [list, setList] = useState<ActivityList>();
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [state, setState] = useState<Connection>('connecting');
  const [problem, setProblem] = useState<Problem>();
  const [version, setVersion] = useState(0);
  const current = useRef(list);
  current.current = list;
  const load = (beforeMs?: number) =>
    ask<ActivityList>(beforeMs === undefined ? 'ui/list' : `ui/list?before=${beforeMs}`).then(
      ({ rows, hasMore }) => {
        setProblem(undefined);
        setList((before) => ({ hasMore, rows: beforeMs === undefined ? rows : mergeRows(before?.rows ?? [], rows) }));
      },
      (thrown: Error) => setProblem(readProblem(thrown)),
    );
  const addRows = (rows: readonly ActivityRow[]) =>
    setList((before) => before && { ...before, rows: mergeRows(before.rows, rows) });
  useEffect(() => {
    const calls = {
      load: () => void load(),
      row: gather<ActivityRow>((rows) => {
        addRows(rows);
        setFresh((before) => new Set([...[...before].slice(-maxKept), ...rows.map(({ id }) => id)]));
      }, gatherMs),
      changed: gather<null>(() => setVersion((before) => before + 1), changedMs),
    };
    return listenLive('ui/live', calls, setState);
  }, []);
  useEffect(() => {
    const looking = setInterval(() => {
      const waiting = current.current?.rows.filter((row) => row.waiting).slice(0, maxLooked) ?? [];
      if (document.hidden || waiting.length === 0) return;
      ask<ActivityRow[]>(`ui/rows?${new URLSearchParams(waiting.map(({ id }) => ['id', id]))}`).then(addRows, ignore);
    }, lookMs);
    return () => clearInterval(looking);
  }, []);
  const loadOlder = () => void load(list?.rows.at(-1)?.atMs);
  const { rows, hasMore = false } = list ?? {};
  return { ...{ rows, hasMore, fresh, state, problem, version }, reload: () => void load(), loadOlder };
}

/** Newest first, each once; added rows replace those with the same id. */
function mergeRows(before: readonly ActivityRow[], added: readonly ActivityRow[]): readonly ActivityRow[] {
  const changed = new Map(added.map((row) => [row.id, row]));
  const kept = before.map((row) => changed.get(row.id) ?? row);
  const known = new Set(before.map(({ id }) => id));
  const news = [...changed.values()].filter(({ id }) => !known.has(id)).reverse();
  return [...news, ...kept].sort((a, b) => b.atMs - a.atMs).slice(0, maxKept);
}
