import type { Problem } from './ask.ts';
import { useEffect, useState } from './preact.ts';
import { Text } from './text.tsx';

/** What became of the questions of a page. */
export interface Answers {
  problems: ReadonlyMap<string, Problem>;
  /** When the service answered last as it should. */
  goodMs: number | undefined;
}

export const noAnswers: Answers = { problems: new Map(), goodMs: undefined };

/** The same, once a question is answered, refused, or asked no more. */
export function settleAnswer(before: Answers, question: string, problem: Problem | null | undefined): Answers {
  const { problems, goodMs } = before;
  if (problem === null && !problems.has(question)) return before;
  const others = [...problems].filter(([key]) => key !== question);
  return {
    problems: new Map(problem ? [...others, [question, problem]] : others),
    goodMs: problem === undefined && question.startsWith('service/call') ? Date.now() : goodMs,
  };
}

/** Each reason once, whatever it stopped, with what to do about it. */
export function Problems({ problems, onRetry }: { problems: Answers['problems']; onRetry: () => void }) {
  const all = [...problems.values()];
  if (all.length === 0) return null;
  const causes = [...new Map(all.map((each) => [each.cause, each])).values()];
  const retryAtMs = Math.max(...all.map((each) => each.retryAtMs ?? 0));
  const others = all.length - causes.length;
  return (
    <div class="problem">
      {causes.map(({ text, hint, cause }) => (
        <div key={cause} role="alert">
          <p class="error">
            <Text text={text} />
            {others > 0 && `, and ${others} more for the same reason`}
          </p>
          {hint !== '' && <Text as="p" text={hint} />}
        </div>
      ))}
      {retryAtMs === 0 ? (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      ) : (
        <CountDown key={retryAtMs} toMs={retryAtMs} onEnd={onRetry} />
      )}
    </div>
  );
}

function CountDown({ toMs, onEnd }: { toMs: number; onEnd: () => void }) {
  const [leftSec, setLeft] = useState(Math.ceil((toMs - Date.now()) / 1000));
  useEffect(() => {
    const tick = setInterval(() => {
      const left = Math.ceil((toMs - Date.now()) / 1000);
      setLeft(left);
      if (left > 0) return;
      clearInterval(tick);
      onEnd();
    }, 1000);
    return () => clearInterval(tick);
  }, []);
  return <p role="timer">{leftSec > 0 ? `Asks again in ${leftSec} s.` : 'Asks again …'}</p>;
}
