import { QueryClientProvider } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import type { ActivityFacts } from '../activity.ts';
import { type Activity, ActivityView, useActivity } from './activity.tsx';
import { Board } from './board.tsx';
import { ActForm, Outcome } from './form.tsx';
import { Keys, listenKeys } from './keys.tsx';
import { postJson } from './page-api.ts';
import { queryClient } from './queries.ts';
import { useRoute, writeHref } from './route.ts';
import { mountPage } from './start.tsx';
import { Alert, CodeLine, CopyButton, CountDown } from './text.tsx';
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

mountPage(
  <QueryClientProvider client={queryClient}>
    <Page />
  </QueryClientProvider>,
);
