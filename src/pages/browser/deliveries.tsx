import type { Retry } from '../../lib/forward.ts';
import { formatCount } from '../../lib/output/format.ts';
import type { DeliveryList, DeliveryRow, PageFacts, PageStatus, RefusedRow } from '../deliveries.ts';
import { ask, type Connection, ignore, listenLive, lostText, useAsked } from './ask.ts';
import { Moment } from './cells.tsx';
import { Delivery, Refused, sayTime } from './delivery-detail.tsx';
import { type Field, FilterBar } from './form.tsx';
import { Frame, gather, noFrame, useClock, useWhileSeen } from './frame.ts';
import { type Chosen, Inspector, type Tab } from './inspector.tsx';
import { Keys, listenKeys } from './keys.tsx';
import { useEffect, useMemo, useRef, useState } from './preact.ts';
import { mountPage } from './start.tsx';
import { Facts, Row, Text } from './text.tsx';

const [maxRows, maxRefused] = [10_000, 200];
const [gatherMs, filterWaitMs, reloadMs, statusEveryMs, lookEveryMs] = [50, 250, 1000, 1500, 4000];
const noFilters = { text: '', type: '', webhook: '', wallet: '', token: '', status: '' };
const none: DeliveryList = { rows: [], hasMore: false, commands: [] };

function Deliveries() {
  const [list, setList] = useState<DeliveryList>(none);
  const [refused, setRefused] = useState<readonly RefusedRow[]>([]);
  const [filters, setFilters] = useState(noFilters);
  const [state, setState] = useState<Connection>('connecting');
  const [error, setError] = useState('');
  const [hasKeys, showKeys] = useState(false);
  const current = useRef(filters);
  current.current = filters;
  const asked = useRef(0);
  const [version, setVersion] = useState(0);
  const lookAgain = () => setVersion((before) => before + 1);
  const { data: facts } = useAsked<PageFacts>('deliveries/facts', {}, 0);
  /** After the list was asked for. Also whether the inbox answers, which may be elsewhere. */
  const { data: status, error: trouble } = useAsked<PageStatus>(
    'deliveries/status',
    version > 0 ? {} : undefined,
    version,
  );
  const frame = { ...noFrame, nowSec: useClock() / 1000 };

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
  const loadAll = () => {
    void load();
    lookAgain();
    ask<readonly RefusedRow[]>('deliveries/refused').then(setRefused, ignore);
  };
  useEffect(() => {
    const loadSoon = gather(load, reloadMs);
    const incoming = gather<DeliveryRow>((rows) => {
      // What only the server can tell of a row is asked of it.
      if (Object.values(current.current).some((text) => text !== '')) loadSoon();
      else setList((before) => ({ ...before, rows: withNewest(before.rows, rows) }));
    }, gatherMs);
    const calls = {
      load: loadAll,
      row: incoming,
      refused: gather<RefusedRow>(
        (rows) => setRefused((before) => [...rows.reverse(), ...before].slice(0, maxRefused)),
        gatherMs,
      ),
    };
    return listenLive('deliveries/live', calls, setState);
  }, []);
  useEffect(() => listenKeys({ '?': () => showKeys(true) }), []);
  useEffect(() => {
    const wait = setTimeout(load, state === 'connecting' ? 0 : filterWaitMs);
    return () => clearTimeout(wait);
  }, [filters]);
  useWhileSeen(state === 'live' && lookAgain, lookEveryMs, state);
  const waiting = list.rows.filter(({ status }) => status === 'waiting').slice(0, 50);
  const waitingIds = waiting.map(({ id }) => id).join('\n');
  const loadWaiting = () =>
    ask<readonly DeliveryRow[]>('deliveries/rows', { id: waitingIds.split('\n') }).then(
      (rows) => setList((before) => ({ ...before, rows: withChanges(before.rows, rows) })),
      ignore,
    );
  useWhileSeen(waitingIds !== '' && loadWaiting, statusEveryMs, waitingIds);

  const types = useDistinct(list.rows, ({ type }) => type, filters.type);
  const webhooks = useDistinct(list.rows, ({ webhook }) => webhook, filters.webhook);
  const deliveries: Tab<DeliveryRow> = {
    kind: 'event',
    title: `Deliveries ${formatCount(list.rows.length)}${list.hasMore ? '+' : ''}`,
    filters: <FilterBar fields={listFields(types, webhooks)} values={filters} onChange={setFilters} />,
    label: 'Deliveries',
    items: list.rows,
    readKey: readRowId,
    render: renderRow,
    empty: filters === noFilters ? 'Nothing has come yet.' : 'Nothing fits these filters.',
  };
  const refusals: Tab<RefusedRow> = {
    kind: 'refused',
    title: `Refused requests ${formatCount(refused.length)} since the start`,
    label: 'Refused requests',
    items: refused,
    readKey: ({ number }) => String(number),
    render: renderRefused,
    empty: 'No request was refused since the start.',
  };
  const retries = status?.retries ?? [];
  const readDetail = ({ kind, key }: Chosen) => {
    if (kind === 'refused') return <Refused number={key} />;
    const tries = retries.map((each) => `${each.seq} ${each.tries}`);
    return <Delivery id={key} version={[list.rows.find(({ id }) => id === key)?.status, ...tries].join()} />;
  };
  return (
    <Frame.Provider value={frame}>
      <div class="app">
        <header>
          <h1>
            sotra <span>deliveries</span>
          </h1>
          <p class="where">
            <Text text={facts === undefined ? '' : `${facts.inbox} on ${facts.listensOn}`} />
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
          <button type="button" onClick={() => showKeys(true)} aria-label="Keys">
            <kbd>?</kbd>
          </button>
        </header>
        {status !== undefined && (
          <section class="figures" aria-label="Figures">
            <Facts
              kind="counters"
              facts={[
                ['Stored', formatCount(status.stored)],
                ['Waiting', formatCount(status.waiting)],
              ]}
            />
          </section>
        )}
        <main>
          <Inspector
            tabs={[deliveries, refusals]}
            error={state === 'lost' ? lostText : error || trouble}
            notes={retries.map((each) => <FailingTarget key={`${each.url} ${each.webhook}`} retry={each} />)}
            commands={list.commands}
            chooser="Choose a delivery: click, or arrow keys in the list."
            detail={readDetail}
          />
        </main>
      </div>
      {hasKeys && <Keys onClose={() => showKeys(false)} />}
    </Frame.Provider>
  );
}

function listFields(types: readonly string[], webhooks: readonly string[]): readonly Field<keyof typeof noFilters>[] {
  return [
    ['text', 'Text', { type: 'search', placeholder: 'id, path, words' }],
    ['wallet', 'Wallet', { type: 'search', placeholder: '0x…, Solana, ext:…' }],
    ['token', 'Token', { type: 'search', placeholder: '0x… or Solana' }],
    ['type', 'Type', [['', 'any'], ...types]],
    ['webhook', 'Webhook', [['', 'any'], ...webhooks]],
    ['status', 'Status', [['', 'any'], 'forwarded', 'waiting', 'failed']],
  ];
}

function FailingTarget({ retry: { url, webhook, error, tries, nextMs } }: { retry: Retry }) {
  return (
    <p>
      <span class="status refused">failing</span> <Text text={`${url} does not take ${webhook}: ${error}`} />
      {`; ${formatCount(tries)} ${tries === 1 ? 'try' : 'tries'}, the next at ${sayTime(nextMs)}`}
    </p>
  );
}

const readRowId = ({ id }: DeliveryRow) => id;

function renderRow({ type, status, atMs, about }: DeliveryRow) {
  const after = (
    <>
      {status !== null && <span class={`status ${status}`}>{status}</span>}
      <Moment atSec={atMs / 1000} />
    </>
  );
  return <Row title={type} after={after} about={<Text text={about} />} />;
}

function renderRefused({ method, path, status, reason, atMs }: RefusedRow) {
  const before = <span class="status refused">{status}</span>;
  return (
    <Row
      before={before}
      title={`${method} ${path}`}
      after={<Moment atSec={atMs / 1000} />}
      about={<Text text={reason} />}
    />
  );
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
