import type { CallOutcome } from '../activity.ts';
import { useEffect, useState } from './preact.ts';

const storedSession = 'sotra-session';

/** Without it nothing is answered. Kept for the tabs of this port alone: no browser sends it anywhere by itself. */
const addSessionHeader = (headers: Record<string, string> = {}) => ({
  ...headers,
  'x-sotra-session': sessionStorage.getItem(storedSession) ?? '',
});

/** Exchanges the code in the address for a session. Errors: `Error` with a message for the user if there is none. */
export async function signIn(): Promise<void> {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? [];
  if (code !== undefined) {
    history.replaceState(null, '', location.pathname);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch('/api/session', { method: 'POST', headers, body: JSON.stringify({ code }) }).catch(
      gone,
    );
    if (response.ok) sessionStorage.setItem(storedSession, (await response.json()).session);
  }
  const [channel, own] = [new BroadcastChannel(storedSession), () => sessionStorage.getItem(storedSession)];
  if (own() === null) await borrowSession(channel);
  await readPageAnswer(await fetch('/api/session', { headers: addSessionHeader() }).catch(gone));
  channel.onmessage = ({ data }) => data === wantsSession && channel.postMessage(own());
}

const [wantsSession, borrowMs] = ['wanted', 300];

/** Gets the session from another tab of this port, which no other site can ask: a copied link works in a new tab. */
function borrowSession(channel: BroadcastChannel): Promise<void> {
  return new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      if (data === wantsSession || data === null) return;
      sessionStorage.setItem(storedSession, data);
      resolve();
    };
    channel.postMessage(wantsSession);
    setTimeout(resolve, borrowMs);
  });
}

/** The answer of the server of this page. Errors: `Error` with its message, or that it is gone. */
export async function ask<T>(path: string): Promise<T> {
  return readPageAnswer(await fetch(`/api/${path}`, { headers: addSessionHeader() }).catch(gone));
}

/** The same for a POST. */
export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const headers = addSessionHeader({ 'content-type': 'application/json' });
  return readPageAnswer(
    await fetch(`/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(gone),
  );
}

export const lostText = 'Not connected: the sotra command that serves this page has ended, or cannot be reached.';

function gone(): never {
  throw new Error(lostText);
}

async function readPageAnswer<T>(response: Response): Promise<T> {
  if (response.headers.get('content-type')?.startsWith('application/json') !== true)
    throw new Error((await response.text()).trim());
  const answer = await response.json();
  if (response.ok) return answer;
  const { error, hint = '', retryAfterSec } = answer;
  const problem: Problem = {
    text: error,
    hint,
    retryAtMs: retryAfterSec === undefined ? undefined : Date.now() + retryAfterSec * 1000,
  };
  throw Object.assign(new Error([error, hint].filter(Boolean).join('. ')), { problem });
}

/** Why there is no answer, and what to do about it. */
export interface Problem {
  text: string;
  hint: string;
  /** When it may be asked again. */
  retryAtMs?: number | undefined;
}

export function readProblem(thrown: Error & { problem?: Problem }): Problem {
  return thrown.problem ?? { text: thrown.message, hint: '' };
}

/** For what fails because the connection is lost: the page shows that by itself. */
export function ignore(): void {}

export type Connection = 'connecting' | 'live' | 'lost';

/** Calls back by kind for each entry of a stream; after a lost connection it continues there. Returns what ends it. */
export function listenLive(
  path: string,
  calls: Readonly<Record<string, (data: never) => void>>,
  onState: (state: Connection) => void,
): () => void {
  const stop = new AbortController();
  let lastId = '';
  const listen = async () => {
    const response = await fetch(`/api/${path}`, {
      headers: addSessionHeader({ 'last-event-id': lastId }),
      signal: stop.signal,
    });
    if (!response.ok || response.body === null) return;
    onState('live');
    for await (const line of readStreamLines(response.body)) {
      const { id, kind, data } = JSON.parse(line);
      lastId = id;
      calls[kind]?.(data as never);
    }
  };
  const keepListening = async () => {
    while (!stop.signal.aborted) {
      await listen().catch(ignore);
      if (stop.signal.aborted) return;
      onState('lost');
      await new Promise((resolve) => setTimeout(resolve, reconnectMs));
    }
  };
  void keepListening();
  return () => stop.abort();
}

const reconnectMs = 3000;

/** The lines of a stream, without empty ones. */
async function* readStreamLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}

export interface Asked<T> {
  /** Stays while it is asked for again. */
  data: T | undefined;
  problem: Problem | undefined;
  again: () => void;
}

/** By path, so that Back shows the last answer at once. */
const answers = new Map<string, unknown>();
const maxAnswers = 50;

/** Asks whenever the path or the version changes; without a path nothing. */
export function useAsk<T>(path: string | undefined, version: number | string = 0): Asked<T> {
  const [settled, settle] = useState<{ path?: string; data?: T; problem?: Problem }>({});
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (path === undefined) return;
    let isWanted = true;
    ask<T>(path).then(
      (data) => {
        answers.delete(path);
        answers.set(path, data);
        if (answers.size > maxAnswers) answers.delete([...answers.keys()][0] ?? '');
        if (isWanted) settle({ path, data });
      },
      (thrown: Error) => isWanted && settle({ path, problem: readProblem(thrown) }),
    );
    return () => {
      isWanted = false;
    };
  }, [path, version, tries]);
  return {
    data: (settled.path === path ? settled.data : undefined) ?? (answers.get(path ?? '') as T | undefined),
    problem: settled.path === path ? settled.problem : undefined,
    again: () => setTries((count) => count + 1),
  };
}

/** The answer of an endpoint that reads, as the terminal shows it. */
export function useCall<T>(endpoint: string, input: Readonly<Record<string, unknown>>, version: number) {
  const query = new URLSearchParams({ endpoint, input: JSON.stringify(input) });
  return useAsk<CallOutcome<T>>(`ui/call?${query}`, version);
}

/** Passes on items that come within `waitMs` as one batch. */
export function gather<T>(pass: (items: T[]) => void, waitMs: number): (item: T) => void {
  let gathered: T[] = [];
  return (item) => {
    gathered.push(item);
    if (gathered.length > 1) return;
    setTimeout(() => {
      const items = gathered;
      gathered = [];
      pass(items);
    }, waitMs);
  };
}
