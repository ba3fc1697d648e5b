import type { UseQueryResult } from '@tanstack/preact-query';
import { useEffect, useState } from './preact.ts';
import { CodeLine, Text } from './text.tsx';

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
