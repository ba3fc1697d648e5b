import { formatTime } from '../../lib/output/format.ts';
import type { RequestRow } from '../requests.ts';
import type { SandboxWorld, ServiceFacts } from '../service.ts';
import { ask, type Connection, ignore, listenLive, lostText, type Problem, Settled, useAsked } from './ask.ts';
import { Frame, gather, noFrame, type PageFrame, useClock, useWhileSeen } from './frame.ts';
import { Keys, listenKeys } from './keys.tsx';
import { Leaderboard } from './leaderboard.tsx';
import { useEffect, useMemo, useRef, useState } from './preact.ts';
import { type Answers, noAnswers, Problems, settleAnswer } from './problems.tsx';
import { Requests } from './requests.tsx';
import { type Route, useRoute, writeHref } from './route.ts';
import { mountPage } from './start.tsx';
import { Alert, CopyButton, Text } from './text.tsx';
import { Trader } from './trader.tsx';
import { Webhooks } from './webhooks.tsx';

/** Views that are shown again after a change at most so often. */
const reloadMs = 1000;
const maxRequests = 1000;
/** A service that does not say when something changes is asked again so often, while the page is seen. */
const [refreshMs, lookMs] = [30_000, 1000];

function Service() {
  const route = useRoute();
  const [answers, setAnswers] = useState(noAnswers);
  const settle = useMemo(
    () => (question: string, problem: Problem | null | undefined) =>
      setAnswers((before) => settleAnswer(before, question, problem)),
    [],
  );
  return (
    <Settled.Provider value={settle}>
      <ServicePage {...{ route, answers }} />
    </Settled.Provider>
  );
}

function ServicePage({ route, answers }: { route: Route; answers: Answers }) {
  const { data: told } = useAsked<ServiceFacts>('service/facts', {}, 0);
  const facts = told ?? noFrame.facts;
  const { isSandbox } = facts;
  const [version, setVersion] = useState(0);
  const retry = () => setVersion((before) => before + 1);
  const [state, setState] = useState<Connection>('connecting');
  const [requests, setRequests] = useState<readonly RequestRow[]>();
  const [hasKeys, showKeys] = useState(false);
  const { data: world } = useAsked<SandboxWorld>('service/control', isSandbox ? { name: 'world' } : undefined, version);
  useEffect(() => {
    if (told === undefined) return;
    const reload = gather(retry, reloadMs);
    const loadRequests = () => ask<RequestRow[]>('service/requests').then(setRequests, ignore);
    const calls = {
      load: () => {
        void loadRequests();
        if (isSandbox) reload();
      },
      changed: reload,
      request: (request: RequestRow) => setRequests((before) => addRequest(before, request)),
    };
    return listenLive('service/live', calls, setState);
  }, [told === undefined]);
  const latestMs = useRef(Date.now());
  const refresh = () => {
    if (Date.now() - latestMs.current < refreshMs) return;
    latestMs.current = Date.now();
    retry();
  };
  useWhileSeen(told !== undefined && !isSandbox && refresh, lookMs, told === undefined);
  const main = useRef<HTMLElement>(null);
  const place = [route.view, ...route.parts].join('/');
  const first = useRef(place);
  useEffect(() => {
    if (first.current === place) return;
    first.current = '';
    main.current?.focus({ preventScroll: true });
    for (const each of [main.current, window]) each?.scrollTo(0, 0);
  }, [place]);
  const tab = views.find(([view]) => isAt(route, view));
  const from = useRef<PageFrame['from']>({ title: 'Leaderboard', href: writeHref('leaderboard') });
  if (tab !== undefined) from.current = { title: tab[1], href: writeHref(tab[0], route.parts, route.query) };
  const nowSec = useNow(world, isSandbox);
  const frame = { nowSec, from: from.current, facts, version };
  useEffect(() => listenKeys({ '?': () => showKeys(true) }), []);
  const isLost = state === 'lost' || answers.problems.size > 0;
  return (
    <Frame.Provider value={frame}>
      <div class="app pages">
        <header>
          <h1>
            sotra <span>{isSandbox ? 'sandbox' : 'service'}</span>
          </h1>
          <Text as="p" class="where" text={facts.service} />
          <p class={`state ${isLost ? 'lost' : state}`} role="status">
            {isLost
              ? sayLost(state, answers)
              : { connecting: 'Connecting', live: isSandbox ? 'Live' : 'Every 30 s', lost: '' }[state]}
          </p>
          <button type="button" onClick={() => showKeys(true)} aria-label="Keys">
            <kbd>?</kbd>
          </button>
          <CopyButton text={location.href} what="link of this view">
            Copy link
          </CopyButton>
        </header>
        <nav class="views" aria-label="Views">
          {views.map(([view, title]) => (
            <a key={view} href={writeHref(view)} aria-current={sayCurrent(title, tab?.[1], from.current.title)}>
              {title}
            </a>
          ))}
        </nav>
        <main ref={main} tabIndex={-1}>
          <h2 class="hidden">{tab?.[1] ?? route.view}</h2>
          <Alert text={state === 'lost' ? lostText : ''} />
          {state !== 'lost' && <Problems problems={answers.problems} onRetry={retry} />}
          {drawRoute(route, requests)}
        </main>
      </div>
      {hasKeys && <Keys onClose={() => showKeys(false)} />}
    </Frame.Provider>
  );
}

/** The tab stays current while a trader of it is shown. */
function sayCurrent(title: string, shown: string | undefined, from: string): 'page' | 'true' | undefined {
  return title === shown ? 'page' : shown === undefined && title === from ? 'true' : undefined;
}

function sayLost(state: Connection, { goodMs }: Answers): string {
  const since = goodMs === undefined ? '' : `, last good answer ${formatTime(Math.floor(goodMs / 1000)).slice(11)}`;
  return `${state === 'lost' ? 'Not connected' : 'Failing'}${since}`;
}

/** By the clock of the sandbox, which may be stopped or ahead. */
function useNow(world: SandboxWorld | undefined, isSandbox: boolean): number | undefined {
  const realMs = useClock();
  const shownMs = useMemo(() => Date.now(), [world]);
  if (world === undefined) return isSandbox ? undefined : realMs / 1000;
  return Date.parse(world.now) / 1000 + (world.frozen ? 0 : Math.max(0, realMs - shownMs) / 1000);
}

const views = [
  ['leaderboard', 'Leaderboard'],
  ['webhooks', 'Webhooks'],
  ['requests', 'Requests'],
] as const;

function isAt({ view }: Route, name: string): boolean {
  return view === name || (view === '' && name === 'leaderboard');
}

/** One that has its answer since is shown where it was. */
function addRequest(before: readonly RequestRow[] = [], request: RequestRow): readonly RequestRow[] {
  return before.some(({ number }) => number === request.number)
    ? before.map((each) => (each.number === request.number ? request : each))
    : [request, ...before].slice(0, maxRequests);
}

function drawRoute(route: Route, requests: readonly RequestRow[] | undefined) {
  const [part = '', key = ''] = route.parts;
  switch (route.view) {
    case '':
    case 'leaderboard':
      return <Leaderboard route={route} />;
    case 'trader':
      return <Trader key={part} id={part} />;
    case 'webhooks': {
      const first = { kind: key === '' ? 'webhook' : part, key: key || part };
      return <Webhooks key={route.parts.join()} first={part === '' ? undefined : first} />;
    }
    case 'requests':
      return <Requests key={part} first={part || undefined} requests={requests} />;
    default:
      return <p class="empty">There is no such view.</p>;
  }
}

mountPage(<Service />);
