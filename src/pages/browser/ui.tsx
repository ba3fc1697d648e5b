import { QueryClientProvider } from '@tanstack/preact-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ActivityFacts } from '../activity.ts';
import { type Activity, ActivityView, useActivity } from './activity.tsx';
import { Board } from './board.tsx';
import { findElement } from './detail.tsx';
import { ActForm, Outcome } from './form.tsx';
import { postJson } from './page-api.ts';
import { queryClient } from './queries.ts';
import { useRoute, writeHref } from './route.ts';
import { Alert, CodeLine, CopyButton, CountDown, Facts, mountPage } from './text.tsx';
import { Webhooks } from './webhooks.tsx';

const tabs = [
  ['activity', 'Activity'],
  ['board', 'Board'],
  ['webhooks', 'Webhooks'],
] as const;

function Page() {
  const route = useRoute();
  const activity = useActivity();
  const [hasKeys, showKeys] = useState(false);
  useEffect(() => listenKeys(() => showKeys(true)), []);
  const { list, rows, problem } = activity;
  const { state, retryAtMs } = activity.connection;
  const note = (
    <>
      <Alert text={problem} />
      {retryAtMs !== undefined && <CountDown key={retryAtMs} toMs={retryAtMs} />}
    </>
  );
  if (list === undefined) return note;
  const views = list.facts.hasService ? tabs : tabs.slice(0, 1);
  const view = views.find(([name]) => name === route.view)?.[0] ?? 'activity';
  return (
    <div class="app">
      <Strip facts={list.facts} state={state} onKeys={() => showKeys(true)} />
      <nav class="views" aria-label="Views">
        {views.map(([name, title]) => (
          <a key={name} href={writeHref(name)} aria-current={name === view ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <main>
        {note}
        {view === 'activity' && <ActivityView list={list} {...{ activity, route }} />}
        {view === 'board' && <Board route={route} />}
        {view === 'webhooks' && <Webhooks {...{ route, rows }} />}
      </main>
      {hasKeys && <Keys onClose={() => showKeys(false)} />}
    </div>
  );
}

interface StripProps {
  facts: ActivityFacts;
  state: Activity['connection']['state'];
  onKeys: () => void;
}

/** Where the service is, and how to make a first row. */
function Strip({ facts: { title, address, key, curl, line, canTest }, state, onKeys }: StripProps) {
  const sendTest = async () => <Outcome outcome={await postJson('ui/test', {})} />;
  return (
    <header>
      <h1>
        sotra <span>{title}</span>
      </h1>
      <p class="where">
        <CodeLine text={address} what="address" />
      </p>
      <CopyButton text={curl ?? line} caption={curl === undefined ? 'Copy command' : 'Copy curl'} />
      {key !== undefined && (
        <p class="where">
          <span class="muted">key</span> <CodeLine text={key} what="key" />
        </p>
      )}
      {canTest && <ActForm button="Send test event" onAct={sendTest} />}
      <p class={`state ${state}`} role="status">
        {{ connecting: 'Connecting', live: 'Live', lost: 'Not connected' }[state]}
      </p>
      <button type="button" onClick={onKeys} aria-label="Keys">
        <kbd>?</kbd>
      </button>
    </header>
  );
}

/** Keys that work outside of inputs. Returns what ends it. */
function listenKeys(onHelp: () => void): () => void {
  const steps: Readonly<Record<string, () => void>> = {
    j: () => walk(1),
    k: () => walk(-1),
    '?': onHelp,
    '/': () => findElement('main input[type="search"]')?.focus(),
    Escape: () => findElement('main .close')?.click(),
  };
  const onKey = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const step = steps[event.key];
    const hasModifier = event.altKey || event.ctrlKey || event.metaKey;
    if (step === undefined || hasModifier || event.defaultPrevented || target.closest('dialog') !== null) return;
    if (target.closest('input, select, textarea') === null) {
      event.preventDefault();
      step();
    } else if (event.key === 'Escape') target.blur();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/** To the next or previous row; while one is open, that row is opened instead. */
function walk(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main .browse .row')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const from = at === -1 ? links.findIndex((link) => link.ariaCurrent === 'true') : at;
  const next = links[Math.max(0, Math.min(links.length - 1, from + by))];
  next?.focus();
  if (next !== undefined && findElement('main .close') !== null) location.replace(next.href);
}

const keys = [
  ['/', 'search'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Escape', 'close it'],
  ['?', 'these keys'],
] as const;

/** Holds the focus until it is closed, and gives it back. */
function Keys({ onClose }: { onClose: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} aria-label="Keys" onClose={onClose}>
      <form method="dialog">
        <h2>Keys</h2>
        <button type="submit">Close</button>
      </form>
      <Facts kind="keys" facts={keys.map(([key, does]) => [<kbd>{key}</kbd>, does])} />
    </dialog>
  );
}

mountPage(
  <QueryClientProvider client={queryClient}>
    <Page />
  </QueryClientProvider>,
);
