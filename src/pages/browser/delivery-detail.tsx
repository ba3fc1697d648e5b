import type { Forward } from '../../model/forward.ts';
import { formatCount, formatTime } from '../../output/format.ts';
import type { ReplayOutcome, ShownDelivery, ShownRefusal, ShownRequest } from '../deliveries.ts';
import { ask, postJson } from './ask.ts';
import { BodyView } from './body-view.tsx';
import { useEffect, useState } from './preact.ts';
import { Alert, Commands, Facts, Text } from './text.tsx';

/** Which delivery or refused request is read; `version` changes when it must be asked for anew. */
export interface Choice {
  kind: 'event' | 'refused';
  key: string;
  version: string;
}

type DetailFacts = { kind: 'event'; what: ShownDelivery } | { kind: 'refused'; what: ShownRefusal };

export function Detail({ chosen, onClose }: { chosen: Choice; onClose: () => void }) {
  const { kind, key, version } = chosen;
  const [shown, show] = useState<DetailFacts>();
  const [error, setError] = useState('');
  useEffect(() => {
    let isCurrent = true;
    const asked: Promise<DetailFacts> =
      kind === 'event'
        ? ask<ShownDelivery>('deliveries/event', { id: key }).then((what) => ({ kind, what }))
        : ask<ShownRefusal>('deliveries/refused-request', { number: key }).then((what) => ({ kind, what }));
    asked.then(
      (what) => {
        if (!isCurrent) return;
        setError('');
        show(what);
      },
      (thrown: Error) => {
        if (!isCurrent) return;
        setError(thrown.message);
        show(undefined);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [kind, key, version]);
  return (
    <article class="detail" id="detail" tabIndex={-1} aria-label="Detail">
      <button type="button" class="back" onClick={onClose}>
        ← List
      </button>
      <Alert text={error} />
      {shown !== undefined && (
        <>
          <h2>
            <Text
              text={shown.kind === 'event' ? shown.what.row.about : `${shown.what.row.status} ${shown.what.row.reason}`}
            />
          </h2>
          <Facts facts={describeDelivery(shown)} />
          {shown.kind === 'event' && shown.what.links.length > 0 && (
            <p class="links">
              {shown.what.links.map(({ name, href }) => (
                <a key={name} href={href}>
                  {name}
                </a>
              ))}
            </p>
          )}
          <Verification what={shown.what} />
          {shown.kind === 'event' && (
            <>
              <Forwards forwards={shown.what.forwards} />
              <Replay key={key} id={key} to={shown.what.forwards[0]?.url ?? ''} />
            </>
          )}
          <h3>Body</h3>
          <BodyView key={key} base64={shown.what.body} bytes={shown.what.bodyBytes} />
          <Headers what={shown.what} />
          {shown.kind === 'event' && (
            <>
              <h3>Commands</h3>
              <Commands commands={shown.what.commands} />
            </>
          )}
        </>
      )}
    </article>
  );
}

function describeDelivery(shown: DetailFacts): [string, string][] {
  const at = formatTime(Math.floor(shown.what.atMs / 1000));
  if (shown.kind === 'refused') {
    const { method, path } = shown.what.row;
    return [
      ['Received', at],
      ['Request', `${method} ${path}`],
    ];
  }
  const { id, type, webhook, status } = shown.what.row;
  return [
    ['Event id', id],
    ['Type', type],
    ['Received', at],
    ['Webhook', webhook],
    ['Forwarding', status ?? 'no target'],
  ];
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

function Forwards({ forwards }: { forwards: readonly Forward[] }) {
  return (
    <>
      <h3>Forwarded</h3>
      {forwards.length === 0 && <p class="muted">To no target yet.</p>}
      {forwards.map((each) => (
        <p key={each.url} class="forward">
          <span class={`status ${each.outcome}`}>{each.status ?? 'no answer'}</span> in {formatCount(each.ms)} ms,{' '}
          {each.tries === 1 ? 'first try' : `${formatCount(each.tries)} tries`},{' '}
          {formatTime(Math.floor(each.atMs / 1000))} <Text text={each.url} />
          {each.error !== null && (
            <span class="error">
              {' '}
              <Text text={each.error} />
            </span>
          )}
        </p>
      ))}
    </>
  );
}

function Replay({ id, to }: { id: string; to: string }) {
  const [target, setTarget] = useState(to);
  const [said, say] = useState('');
  const send = async () => {
    say('Sending …');
    try {
      const { taken, status, ms, error } = await postJson<ReplayOutcome>('deliveries/replay', { id, to: target });
      say(`${taken ? 'Taken' : 'Not taken'}: ${status ?? error} in ${formatCount(ms)} ms`);
    } catch (thrown) {
      say((thrown as Error).message);
    }
  };
  return (
    <form
      class="replay"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        Send it again to
        <input
          type="url"
          required
          placeholder="http://127.0.0.1:3000/hook"
          value={target}
          onInput={(event) => setTarget(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Send</button>
      <output>
        <Text text={said} />
      </output>
    </form>
  );
}

function Headers({ what }: { what: ShownRequest }) {
  return (
    <>
      <h3>Headers</h3>
      <Facts kind="headers" facts={what.headers.map(({ name, value }) => [name, value])} />
    </>
  );
}
