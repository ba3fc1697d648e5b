import type { UseQueryResult } from '@tanstack/preact-query';
import { type ComponentChildren, createElement, type JSX, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { splitUnseen } from '../../api/safe-text.ts';
import { signIn } from './page-api.ts';

interface TextProps extends JSX.AllHTMLAttributes {
  text: string;
  /** The element around it; default: none. */
  as?: 'a' | 'code' | 'div' | 'h2' | 'p' | 'span';
}

/** Untrusted text: invisible characters and those that change the direction are shown as marks. */
export function Text({ text, as, ...attributes }: TextProps) {
  const shown = (
    <bdi>
      {splitUnseen(text).map((part, index) =>
        part.unseen ? (
          <span key={index} class="unseen">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </bdi>
  );
  return as === undefined ? shown : createElement(as, attributes, shown);
}

/** The same as plain text, for what cannot hold elements. */
export function seen(text: string): string {
  return splitUnseen(text)
    .map((part) => part.text)
    .join('');
}

/** A name, its value, the tone of the value, such as `gain`, and an explanation; strings may be untrusted. */
export type Fact = readonly [
  name: ComponentChildren,
  value: ComponentChildren,
  tone?: string | undefined,
  help?: string,
];

/** `kind` as the style sheet has it. */
export function Facts({ facts, kind }: { facts: readonly Fact[]; kind?: string }) {
  const write = (part: ComponentChildren) => (typeof part === 'string' ? <Text text={part} /> : part);
  return (
    <dl class={kind}>
      {facts.map(([name, value, tone, help], index) => (
        <div key={index}>
          <dt title={help}>{write(name)}</dt>
          <dd class={tone}>{write(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Alert({ text }: { text: string }) {
  return text === '' ? null : <Text as="p" class="error" role="alert" text={text} />;
}

interface CopyButtonProps {
  /** Absent: there is no button. */
  text: string | undefined;
  /** What is copied, for screen readers, if the caption does not say it. */
  what?: string;
  caption?: ComponentChildren;
}

export function CopyButton({ text, what, caption = 'Copy' }: CopyButtonProps) {
  const [said, say] = useState('');
  if (text === undefined) return null;
  const done = (result: string) => {
    say(result);
    setTimeout(() => say(''), 1500);
  };
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => done('Copied'),
      () => done('Not allowed'),
    );
  return (
    <button type="button" onClick={copy} aria-label={what && `Copy: ${seen(what)}`} title="Copy">
      <span aria-live="polite">{said || caption}</span>
    </button>
  );
}

/** A line of code with a button that copies it. */
export function CodeLine({ text, what = 'command' }: { text: string; what?: string }) {
  return (
    <>
      <Text as="code" text={text} /> <CopyButton text={text} what={what} />
    </>
  );
}

interface AnswerNoteProps {
  label: string;
  answers: readonly UseQueryResult<unknown>[];
}

/** While there is no answer: that it is awaited, or why there is none, what to do, and when it is asked for again. */
export function AnswerNote({ label, answers }: AnswerNoteProps) {
  // Between two tries there is no error yet.
  const [problem] = answers.flatMap(({ error, failureReason }) => error ?? failureReason ?? []);
  if (problem === undefined)
    return answers.every(({ data }) => data !== undefined) ? null : (
      <div class="frame" role="status" aria-label={`${label}: loading`} />
    );
  const { message, hint, retryAtMs } = problem;
  const tryAgain = () => {
    for (const { error, refetch } of answers) if (error !== null) refetch();
  };
  return (
    <div class="problem" role="alert">
      <Text as="p" class="error" text={message} />
      {hint !== '' && <Text as="p" text={hint} />}
      {retryAtMs === undefined ? (
        <button type="button" onClick={tryAgain}>
          Try again
        </button>
      ) : (
        <CountDown key={retryAtMs} toMs={retryAtMs} />
      )}
    </div>
  );
}

/** The seconds until something is tried again. */
export function CountDown({ toMs }: { toMs: number }) {
  const [nowMs, setNow] = useState(Date.now);
  useEffect(() => {
    const tick = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(tick);
  }, []);
  const leftSec = Math.ceil((toMs - nowMs) / 1000);
  return <p role="timer">{leftSec > 0 ? `Retrying in ${leftSec} s.` : 'Retrying …'}</p>;
}

/** Why a list is empty, and a line that changes that. */
export function Empty({ text, line }: { text: string; line?: string }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {line !== undefined && (
        <p>
          <CodeLine text={line} />
        </p>
      )}
    </div>
  );
}

/** Draws a page once it is signed in, or shows why it cannot. */
export function mountPage(page: ComponentChildren): void {
  const root = document.getElementById('app');
  if (root === null) return;
  signIn().then(
    () => render(page, root),
    (thrown: Error) =>
      render(
        <main class="refused">
          <h1>sotra</h1>
          <p role="alert">{thrown.message}</p>
        </main>,
        root,
      ),
  );
}
