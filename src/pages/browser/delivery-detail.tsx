import { formatCount, formatTime } from '../../lib/output/format.ts';
import type { ReplayOutcome, ShownDelivery, ShownForward, ShownRefusal, ShownRequest } from '../deliveries.ts';
import { postJson, useAsked } from './ask.ts';
import { BodyView } from './body-view.tsx';
import { ActForm, Input } from './form.tsx';
import { Detail, type DetailProps } from './inspector.tsx';
import { type ComponentChildren, useState } from './preact.ts';
import { Alert, type Fact, Headers, Text } from './text.tsx';

/** A delivery that is stored; `version` changes when it must be asked for anew. */
export function Delivery({ id, version }: { id: string; version: string }) {
  const { data, error } = useAsked<ShownDelivery>('deliveries/event', { id }, version);
  if (data === undefined) return <Alert text={error} />;
  const { row, links, forwards, commands } = data;
  const facts: Fact[] = [
    ['Event id', row.id],
    ['Type', row.type],
    ['Received', sayTime(data.atMs)],
    ['Webhook', row.webhook],
    ['Forwarding', row.status ?? 'no target'],
  ];
  return (
    <Request title={row.about} facts={facts} what={data} commands={commands}>
      {links.length > 0 && (
        <p class="links">
          {links.map(({ name, href }) => (
            <a key={name} href={href}>
              {name}
            </a>
          ))}
        </p>
      )}
      <h3>Forwarded</h3>
      {forwards.length === 0 && <p class="muted">To no target yet.</p>}
      {forwards.map((each) => (
        <Forwarded key={each.url} forward={each} onSend={() => replay(id, each.url)} />
      ))}
      <Replay key={id} id={id} />
    </Request>
  );
}

/** A request that was refused. */
export function Refused({ number }: { number: string }) {
  const { data, error } = useAsked<ShownRefusal>('deliveries/refused-request', { number }, 0);
  if (data === undefined) return <Alert text={error} />;
  const { method, path, status, reason } = data.row;
  const facts: Fact[] = [
    ['Received', sayTime(data.atMs)],
    ['Request', `${method} ${path}`],
  ];
  return <Request title={`${status} ${reason}`} facts={facts} what={data} />;
}

function Request({ what, children, ...told }: DetailProps & { what: ShownRequest }) {
  return (
    <Detail {...told}>
      {children}
      <Verification what={what} />
      <h3>Body</h3>
      <BodyView base64={what.body} bytes={what.bodyBytes} />
      <h3>Headers</h3>
      <Headers headers={what.headers} />
    </Detail>
  );
}

function Verification({ what }: { what: ShownRequest }) {
  return (
    <>
      <h3>Verification</h3>
      <ol class="steps">
        {what.verification.map(({ name, text, ok }) => (
          <li key={name} class={ok === undefined ? 'told' : ok ? 'ok' : 'failed'}>
            <span class="name">
              {name}
              {ok !== undefined && <span class="hidden">{ok ? ', fits' : ', does not fit'}</span>}
            </span>{' '}
            <Text text={text} />
          </li>
        ))}
      </ol>
    </>
  );
}

async function replay(id: string, to: string) {
  const { taken, status, ms, error } = await postJson<ReplayOutcome>('deliveries/replay', { id, to });
  const told = `${taken ? 'Taken' : 'Not taken'}: ${status ?? error} in ${formatCount(ms)} ms`;
  return taken ? told : <Text as="span" class="error" text={told} />;
}

/** To a target that is not known here. */
function Replay({ id }: { id: string }) {
  const [target, setTarget] = useState('');
  return (
    <ActForm kind="replay" button="Send" onAct={() => replay(id, target)}>
      <Input
        label="Send it to another address"
        type="url"
        required
        placeholder="http://127.0.0.1:3000/hook"
        value={target}
        onType={setTarget}
      />
    </ActForm>
  );
}

export const sayTime = (atMs: number) => formatTime(Math.floor(atMs / 1000));

/** How a delivery stands at a target, and a button that sends it there again. */
export function Forwarded({ forward, onSend }: { forward: ShownForward; onSend: () => Promise<ComponentChildren> }) {
  const { url, state, status, error, tries, ms, atMs, nextMs } = forward;
  const told = [
    ...(ms === null ? [] : [`in ${formatCount(ms)} ms`]),
    ...(tries === 0 ? [] : [tries === 1 ? 'first try' : `${formatCount(tries)} tries`]),
    ...(atMs === null ? [] : [sayTime(atMs)]),
    ...(nextMs === null ? [] : [`next try ${sayTime(nextMs)}`]),
  ];
  return (
    <div class="forward">
      <p>
        <span class={`status ${state ?? 'muted'}`}>{status ?? state ?? 'not sent'}</span> {told.join(', ')}{' '}
        <Text text={url} /> {status === null && error !== null && <Text as="span" class="error" text={error} />}
      </p>
      <ActForm button="Send again" about={`to ${url}`} onAct={onSend} />
    </div>
  );
}
