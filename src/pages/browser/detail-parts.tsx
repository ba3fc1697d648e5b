import { formatCount, formatTime } from '../../output/format.ts';
import type { ShownForward } from '../deliveries.ts';
import { type ComponentChildren, useState } from './preact.ts';
import { Facts, Text } from './text.tsx';

export function Headers({ headers }: { headers: readonly { name: string; value: string }[] }) {
  return <Facts kind="headers" facts={headers.map(({ name, value }) => [name, value])} />;
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
        <Text text={url} />
        {status === null && error !== null && (
          <>
            {' '}
            <Failure text={error} />
          </>
        )}
      </p>
      <Act name="Send again" about={`to ${url}`} onAct={onSend} />
    </div>
  );
}

interface ActProps {
  name: string;
  /** What it acts on, for who does not see it. */
  about?: string;
  /** Asked before, where it cannot be undone. */
  question?: string;
  onAct: () => Promise<ComponentChildren>;
}

/** A button that says what came of it. */
export function Act({ name, about = '', question, onAct }: ActProps) {
  const [said, say] = useState<ComponentChildren>('');
  const [asks, ask] = useState(false);
  const act = async () => {
    if (question !== undefined && !asks) {
      ask(true);
      return say(question);
    }
    ask(false);
    say('…');
    say(await onAct().catch((thrown: Error) => <Failure text={thrown.message} />));
  };
  return (
    <p class="act">
      <button type="button" onClick={() => void act()}>
        {asks ? `Yes, ${name.toLowerCase()}` : name}
        <span class="hidden"> {about}</span>
      </button>
      {asks && (
        <button type="button" onClick={() => [ask(false), say('')]}>
          No
        </button>
      )}
      <output>{said}</output>
    </p>
  );
}

interface ActFormProps {
  /** As the style sheet has it. */
  kind: 'control' | 'replay';
  button: string;
  /** What stands beside the button. */
  more?: ComponentChildren;
  onAct: () => Promise<ComponentChildren>;
  children?: ComponentChildren;
}

/** A form that says what came of it. */
export function ActForm({ kind, button, more, onAct, children }: ActFormProps) {
  const [said, say] = useState<ComponentChildren>('');
  const act = async () => {
    say('…');
    say(await onAct().catch((thrown: Error) => <Failure text={thrown.message} />));
  };
  return (
    <form
      class={kind}
      onSubmit={(event) => {
        event.preventDefault();
        void act();
      }}
    >
      {children}
      <button type="submit">{button}</button>
      {more}
      <output>{said}</output>
    </form>
  );
}

export function Failure({ text }: { text: string }) {
  return (
    <span class="error">
      <Text text={text} />
    </span>
  );
}
