import type { Called } from '../service.ts';
import { ask } from './ask.ts';
import { useEffect, useRef, useState } from './preact.ts';

/** What was asked for; absent until it has come. `error` stands beside what came before. */
export interface Asked<T> {
  data: T | undefined;
  error: string;
}

/** Nothing is asked without a query. Asks again whenever the path, the query or the version changes; what is shown stays meanwhile, unless it is of another question. */
export function useAsked<T>(path: string, query: Record<string, string> | undefined, version: number): Asked<T> {
  const question = query === undefined ? '' : `${path}?${new URLSearchParams(query)}`;
  const [asked, setAsked] = useState<Asked<T> & { question: string }>({ question, data: undefined, error: '' });
  const latest = useRef('');
  useEffect(() => {
    if (query === undefined) return;
    const number = `${question}#${version}`;
    latest.current = number;
    ask<T>(path, query).then(
      (data) => latest.current === number && setAsked({ question, data, error: '' }),
      (thrown: Error) =>
        latest.current === number &&
        setAsked((before) => ({
          question,
          data: before.question === question ? before.data : undefined,
          error: thrown.message,
        })),
    );
  }, [question, version]);
  return asked.question === question ? asked : { data: undefined, error: '' };
}

/** The answer of a command that reads, and the lines that give the same. */
export function useCall<T>(command: string, input: Readonly<Record<string, unknown>> | undefined, version: number) {
  const { data: called, error } = useAsked<Called<T>>(
    'service/call',
    input && { command, input: JSON.stringify(input) },
    version,
  );
  return { data: called?.data, commands: called?.commands ?? [], error };
}
