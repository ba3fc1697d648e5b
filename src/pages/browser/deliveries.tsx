import type { Retry } from '../../model/forward.ts';
import { formatCount, formatTime } from '../../output/format.ts';
import type { DeliveryList, DeliveryRow, PageFacts, PageStats, RefusedRow } from '../deliveries.ts';
import { ask, type Connection, ignore, listenLive, lostText } from './ask.ts';
import { Chart } from './chart.tsx';
import { type Choice, Detail } from './delivery-detail.tsx';
import { FilterBar, type Filters, noFilters } from './delivery-filters.tsx';
import { useEffect, useMemo, useRef, useState } from './preact.ts';
import { mountPage } from './start.tsx';
import { Alert, Commands, Facts, Row, Text } from './text.tsx';
import { VirtualList } from './virtual-list.tsx';

const [maxRows, maxRefused] = [10_000, 200];
const [filterWaitMs, reloadMs, statusEveryMs, figuresEveryMs] = [250, 1000, 1500, 4000];
const [hourSec, hourCount] = [3600, 24];
const none: DeliveryList = { rows: [], hasMore: false, commands: [] };

function Deliveries() {
  const [facts, setFacts] = useState<PageFacts>();
  const [stats, setStats] = useState<PageStats>();
  const [list, setList] = useState<DeliveryList>(none);
  const [refused, setRefused] = useState<readonly RefusedRow[]>([]);
  const [filters, setFilters] = useState<Filters>(noFilters);
  const [tab, setTab] = useState<Choice['kind']>('event');
  const [selected, setSelected] = useState<{ kind: Choice['kind']; key: string }>();
  const [state, setState] = useState<Connection>('connecting');
  const [error, setError] = useState('');
  const [trouble, setTrouble] = useState('');
  const current = useRef(filters);
  current.current = filters;
  const asked = useRef(0);

  const load = async () => {
    const number = ++asked.current;
    try {
      const loaded = await ask<DeliveryList>('deliveries/list', { ...current.current });
      if (number !== asked.current) return;
      setList(loaded);
      setError('');
    } catch (thrown) {
      if (number === asked.current) setError((thrown as Error).message);
    }
  };
  const soon = useRef<number>();
  /** Many may come in a second. */
  const loadSoon = () => {
    soon.current ??= window.setTimeout(() => {
      soon.current = undefined;
      void load();
    }, reloadMs);
  };
  /** Also whether the inbox answers, which may be elsewhere. */
  const loadStats = async () => {
    try {
      setStats(await ask<PageStats>('deliveries/stats'));
      setTrouble('');
    } catch (thrown) {
      setTrouble((thrown as Error).message);
    }
  };
  const loadAll = () => {
    void load();
    void loadStats();
    ask<readonly RefusedRow[]>('deliveries/refused').then(setRefused, ignore);
  };
  useEffect(() => {
    ask<PageFacts>('deliveries/facts').then(setFacts, ignore);
    const incoming = gather<DeliveryRow>((rows) => {
      // What only the server can tell of a row is asked of it.
      if (Object.values(current.current).some((text) => text !== '')) loadSoon();
      else setList((before) => ({ ...before, rows: withNewest(before.rows, rows) }));
    });
    const calls = {
      load: loadAll,
      row: incoming,
      refused: gather<RefusedRow>((rows) =>
        setRefused((before) => [...rows.reverse(), ...before].slice(0, maxRefused)),
      ),
    };
    return listenLive('deliveries/live', calls, setState);
  }, []);
  useEffect(() => {
    const wait = setTimeout(load, state === 'connecting' ? 0 : filterWaitMs);
    return () => clearTimeout(wait);
  }, [filters]);
  useEffect(() => {
    const figures = setInterval(() => {
      if (!document.hidden && state === 'live') void loadStats();
    }, figuresEveryMs);
    return () => clearInterval(figures);
  }, [state]);
  const waiting = list.rows.filter(({ status }) => status === 'waiting').slice(0, 50);
  const waitingIds = waiting.map(({ id }) => id).join('\n');
  useEffect(() => {
    if (waitingIds === '') return;
    const look = setInterval(() => {
      if (document.hidden) return;
      ask<readonly DeliveryRow[]>('deliveries/rows', { id: waitingIds.split('\n') }).then(
        (rows) => setList((before) => ({ ...before, rows: withChanges(before.rows, rows) })),
        ignore,
      );
    }, statusEveryMs);
    return () => clearInterval(look);
  }, [waitingIds]);

  const types = useDistinct(list.rows, ({ type }) => type, filters.type);
  const webhooks = useDistinct(list.rows, ({ webhook }) => webhook, filters.webhook);
  const row = selected?.kind === 'event' ? list.rows.find(({ id }) => id === selected.key) : undefined;
  const close = () => {
    setSelected(undefined);
    document.querySelector<HTMLElement>('.list')?.focus();
  };
  useEffect(() => {
    const leave = (event: KeyboardEvent) => event.key === 'Escape' && close();
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  }, []);
  const listProps = {
    selected: selected?.kind === tab ? selected.key : undefined,
    onSelect: (key: string) => setSelected({ kind: tab, key }),
    onOpen: () => document.getElementById('detail')?.focus(),
  };
  const told = state === 'lost' ? lostText : error || trouble;
  return (
    <div class={selected === undefined ? 'app' : 'app reading'}>
      <header>
        <h1>
          sotra <span>deliveries</span>
        </h1>
        <p class="where">
          <Text text={facts?.inbox ?? ''} />
          {facts?.listensOn && (
            <>
              {' '}
              on <Text text={facts.listensOn} />
            </>
          )}
          {facts?.targets.map((url) => (
            <span key={url}>
              {' '}
              → <Text text={url} />
            </span>
          ))}
        </p>
        <p class={`state ${state}`} role="status">
          {{ connecting: 'Connecting', live: 'Live', lost: 'Not connected' }[state]}
        </p>
      </header>
      {stats !== undefined && (
        <section class="figures" aria-label="Figures">
          <Figures stats={stats} refused={refused.length} />
          <HoursChart hours={stats.hours} />
        </section>
      )}
      <main>
        <section class="browse" aria-label="List">
          <nav class="choice" aria-label="What is listed">
            <button type="button" aria-pressed={tab === 'event'} onClick={() => setTab('event')}>
              Deliveries {formatCount(list.rows.length)}
              {list.hasMore ? '+' : ''}
            </button>
            <button type="button" aria-pressed={tab === 'refused'} onClick={() => setTab('refused')}>
              Refused requests {formatCount(refused.length)}
            </button>
          </nav>
          {tab === 'event' && <FilterBar {...{ filters, types, webhooks }} onChange={setFilters} />}
          <Alert text={told} />
          {stats?.retries.map((each) => (
            <FailingTarget key={`${each.url} ${each.webhook}`} retry={each} />
          ))}
          {tab === 'event' && list.rows.length > 0 && (
            <VirtualList {...listProps} label="Deliveries" items={list.rows} keyOf={readRowId} render={renderRow} />
          )}
          {tab === 'event' && list.rows.length === 0 && (
            <p class="empty">{filters === noFilters ? 'Nothing has come yet.' : 'Nothing fits these filters.'}</p>
          )}
          {tab === 'refused' && refused.length > 0 && (
            <VirtualList
              {...listProps}
              label="Refused requests"
              items={refused}
              keyOf={readRowNumber}
              render={renderRefused}
            />
          )}
          {tab === 'refused' && refused.length === 0 && (
            <p class="empty">
              {facts?.listensOn === null
                ? 'Refused requests are kept by sotra webhook listen --ui alone.'
                : 'No request was refused since this page is served.'}
            </p>
          )}
          <Commands commands={[...list.commands, ...(stats?.commands ?? [])]} />
        </section>
        {selected === undefined ? (
          <p class="empty chooser">Choose a delivery: click, or arrow keys in the list.</p>
        ) : (
          <Detail chosen={{ ...selected, version: row?.status ?? '' }} onClose={close} />
        )}
      </main>
    </div>
  );
}

function Figures({ stats, refused }: { stats: PageStats; refused: number }) {
  const figures = [
    ['Stored', formatCount(stats.stored)],
    ['Forwarded, 24 h', formatCount(stats.forwarded)],
    ['Waiting', formatCount(stats.waiting)],
    ['Requests refused', formatCount(refused)],
  ] as const;
  return <Facts kind="counters" facts={figures} />;
}

function FailingTarget({ retry: { url, webhook, error, tries, nextMs } }: { retry: Retry }) {
  return (
    <p class="forward">
      <span class="status refused">failing</span> <Text text={`${url} does not take ${webhook}: ${error}`} />
      {`; ${formatCount(tries)} ${tries === 1 ? 'try' : 'tries'}, the next at ${formatTime(Math.floor(nextMs / 1000))}`}
    </p>
  );
}

/** A bar for each of the last 24 hours: what was received, and below the line what was refused. */
function HoursChart({ hours }: { hours: PageStats['hours'] }) {
  const points = useMemo(() => makeHourPoints(hours), [hours]);
  const sum = (key: 'y' | 'loss') => formatCount(points.reduce((total, point) => total + Math.abs(point[key]), 0));
  const label = `Last 24 hours: ${sum('y')} received, ${sum('loss')} refused, by us or a target`;
  return <Chart label={label} points={points} shape="bars" height={44} />;
}

function makeHourPoints(hours: PageStats['hours']) {
  const last = Math.floor(Date.now() / 1000 / hourSec) * hourSec;
  const byHour = new Map(hours.map((each) => [each.hour, each]));
  return Array.from({ length: hourCount }, (_, index) => {
    const hour = last - (hourCount - 1 - index) * hourSec;
    const { received = 0, refusedSignatures = 0, refused = 0 } = byHour.get(hour) ?? {};
    const lost = refused + refusedSignatures;
    const title = `${formatTime(hour).slice(0, 16)}Z: ${formatCount(received)} received, ${formatCount(lost)} refused`;
    return { x: hour, y: received, loss: -lost, title };
  });
}

const readRowId = ({ id }: DeliveryRow) => id;
const readRowNumber = ({ number }: RefusedRow) => String(number);

function renderRow({ type, status, atMs, about }: DeliveryRow) {
  const after = (
    <>
      {status !== null && <span class={`status ${status}`}>{status}</span>}
      <Moment atMs={atMs} />
    </>
  );
  return <Row title={type} after={after} about={<Text text={about} />} />;
}

function renderRefused({ method, path, status, reason, atMs }: RefusedRow) {
  const before = <span class="status refused">{status}</span>;
  return (
    <Row before={before} title={`${method} ${path}`} after={<Moment atMs={atMs} />} about={<Text text={reason} />} />
  );
}

/** The date stands on wide screens alone. */
function Moment({ atMs }: { atMs: number }) {
  const [date = '', time = ''] = formatTime(Math.floor(atMs / 1000)).split(' ');
  return (
    <time>
      <span class="date">{date} </span>
      {time}
    </time>
  );
}

/** What comes in quick succession is shown at once. */
function gather<T>(show: (items: T[]) => void): (item: T) => void {
  let gathered: T[] = [];
  return (item) => {
    gathered.push(item);
    if (gathered.length > 1) return;
    setTimeout(() => {
      const items = gathered;
      gathered = [];
      show(items);
    }, 50);
  };
}

function withNewest(before: readonly DeliveryRow[], added: readonly DeliveryRow[]): DeliveryRow[] {
  const known = new Set(before.slice(0, 1000).map(readRowId));
  return [...added.filter(({ id }) => !known.has(id)).reverse(), ...before].slice(0, maxRows);
}

function withChanges(before: readonly DeliveryRow[], changed: readonly DeliveryRow[]): readonly DeliveryRow[] {
  const byId = new Map(changed.map((row) => [row.id, row]));
  return before.map((row) => byId.get(row.id) ?? row);
}

/** The values of the rows so far, so that a choice stays one after the list is restricted to it. */
function useDistinct(rows: readonly DeliveryRow[], of: (row: DeliveryRow) => string, chosen: string): string[] {
  const known = useRef(new Set<string>());
  return useMemo(() => {
    for (const row of rows) known.current.add(of(row));
    if (chosen !== '') known.current.add(chosen);
    return [...known.current].sort().slice(0, 200);
  }, [rows, chosen]);
}

mountPage(<Deliveries />);
