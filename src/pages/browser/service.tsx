import type { LoggedRequest } from '../../model/logged-request.ts';
import type { SandboxWorld, ServiceFacts } from '../service.ts';
import { ask, type Connection, ignore, listenLive, lostText, useAsked } from './ask.ts';
import { Controls } from './controls.tsx';
import { Feed } from './feed.tsx';
import { Leaderboard } from './leaderboard.tsx';
import { Position } from './position.tsx';
import { useEffect, useRef, useState } from './preact.ts';
import { type Route, useRoute, writeHref } from './route.ts';
import { OpenList, Section } from './service-parts.tsx';
import { mountPage } from './start.tsx';
import { Alert, Row, Text } from './text.tsx';
import { Token } from './token.tsx';
import { Trader } from './trader.tsx';
import { Webhooks } from './webhooks.tsx';

/** Views that are shown again after a change at most so often. */
const reloadMs = 1000;
const maxRequests = 1000;
/** A service that does not say when something changes is asked again so often, while the page is seen. */
const [refreshMs, lookMs] = [30_000, 1000];

function Service() {
  const route = useRoute();
  const facts = useAsked<ServiceFacts>('service/facts', {}, 0).data;
  const controlStart = facts?.controlStart ?? null;
  const isSandbox = controlStart !== null;
  const [version, setVersion] = useState(0);
  const [state, setState] = useState<Connection>('connecting');
  const [requests, setRequests] = useState<readonly LoggedRequest[]>();
  const { data: world, error } = useAsked<SandboxWorld>(
    'service/control',
    isSandbox ? { name: 'world' } : undefined,
    version,
  );
  const start = facts?.commandStart ?? 'sotra';
  useEffect(() => {
    if (facts === undefined) return;
    let waits = false;
    const reload = () => {
      if (waits) return;
      waits = true;
      setTimeout(() => {
        waits = false;
        setVersion((before) => before + 1);
      }, reloadMs);
    };
    const loadRequests = () =>
      ask<LoggedRequest[]>('service/control', { name: 'log' }).then((log) => setRequests(log.reverse()), ignore);
    const calls = {
      load: () => {
        void loadRequests();
        reload();
      },
      changed: reload,
      request: (request: LoggedRequest) => setRequests((before = []) => [request, ...before].slice(0, maxRequests)),
    };
    return listenLive('service/live', isSandbox ? calls : {}, setState);
  }, [facts === undefined]);
  useEffect(() => {
    if (facts === undefined || isSandbox) return;
    let latestMs = Date.now();
    const look = setInterval(() => {
      if (document.hidden || Date.now() - latestMs < refreshMs) return;
      latestMs = Date.now();
      setVersion((before) => before + 1);
    }, lookMs);
    return () => clearInterval(look);
  }, [facts === undefined]);
  const main = useRef<HTMLElement>(null);
  const place = [route.view, ...route.parts].join('/');
  const first = useRef(place);
  useEffect(() => {
    if (first.current === place) return;
    first.current = '';
    main.current?.focus({ preventScroll: true });
    for (const each of [main.current, window]) each?.scrollTo(0, 0);
  }, [place]);
  const views = [...readViews, ...(isSandbox ? sandboxViews : [])];
  return (
    <div class="app pages">
      <header>
        <h1>
          sotra <span>{isSandbox ? 'sandbox' : 'service'}</span>
        </h1>
        <p class="where">
          <Text text={facts?.service ?? ''} />
        </p>
        <p class={`state ${state}`} role="status">
          {{ connecting: 'Connecting', live: isSandbox ? 'Live' : 'Every 30 s', lost: 'Not connected' }[state]}
        </p>
      </header>
      <nav class="views" aria-label="Views">
        {views.map(([view, title]) => (
          <a key={view} href={writeHref(view)} aria-current={isAt(route, view) ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <main ref={main} tabIndex={-1}>
        <h2 class="hidden">{views.find(([view]) => isAt(route, view))?.[1] ?? route.view}</h2>
        <Alert text={state === 'lost' ? lostText : ''} />
        {drawRoute(route, { version, controlStart, requests, world: { world, error }, start })}
      </main>
    </div>
  );
}

const readViews = [
  ['leaderboard', 'Leaderboard'],
  ['feed', 'Feed'],
  ['webhooks', 'Webhooks'],
] as const;
const sandboxViews = [
  ['requests', 'Requests'],
  ['controls', 'Controls'],
] as const;

function isAt({ view }: Route, name: string): boolean {
  return view === name || (view === '' && name === 'leaderboard');
}

interface ViewFacts {
  version: number;
  controlStart: string | null;
  requests: readonly LoggedRequest[] | undefined;
  world: { world: SandboxWorld | undefined; error: string };
  start: string;
}

function drawRoute(route: Route, { version, controlStart, requests, world, start }: ViewFacts) {
  const [part = '', address = ''] = route.parts;
  switch (route.view) {
    case '':
    case 'leaderboard':
      return <Leaderboard {...{ route, version }} />;
    case 'feed':
      return <Feed {...{ route, version }} />;
    case 'trader':
      return <Trader key={part} id={part} version={version} />;
    case 'position':
      return <Position key={part} id={part} version={version} />;
    case 'token':
      return <Token key={address} chain={part} address={address} version={version} />;
    case 'webhooks':
      return <Webhooks isSandbox={controlStart !== null} version={version} />;
    case 'requests':
      return <Requests {...{ requests, start }} />;
    case 'controls':
      return <Controls {...{ ...world, start }} controlStart={controlStart ?? ''} />;
    default:
      return <p class="empty">There is no such view.</p>;
  }
}

/** What programs asked the sandbox, newest first: names it ignored, and faults that it injected. */
function Requests({ requests, start }: { requests: readonly LoggedRequest[] | undefined; start: string }) {
  return (
    <Section title="Requests" commands={[{ name: 'Command', line: `${start} sandbox log` }]}>
      <OpenList
        label="Requests"
        items={requests?.map((request, index) => ({ request, key: String(requests.length - index) }))}
        keyOf={({ key }) => key}
        empty="None since it was started; those of this page are not counted."
        render={({ request }) => renderRequest(request)}
      />
    </Section>
  );
}

function renderRequest({ time, method, path, status, ms, partner, key, ignored, fault }: LoggedRequest) {
  return (
    <Row
      before={<span class={`status ${status < 400 ? 'forwarded' : 'refused'}`}>{status}</span>}
      title={`${method} ${path}`}
      after={<time>{`${time.slice(0, 19).replace('T', ' ')}Z`}</time>}
      about={
        <>
          {ms} ms, {key === null ? 'no key' : `${partner === null ? 'unknown key' : `key ${partner}`} ${key}`}
          {ignored.length > 0 && (
            <span class="waiting">
              , ignored: <Text text={ignored.join(', ')} />
            </span>
          )}
          {fault !== undefined && (
            <span class="error">
              , fault: <Text text={fault} />
            </span>
          )}
        </>
      }
    />
  );
}

mountPage(<Service />);
