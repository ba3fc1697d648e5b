import type { CallOutcome } from '../service.ts';
import { useFrame } from './frame.ts';
import { createContext, useContext, useEffect, useRef, useState } from './preact.ts';

const storedSession = 'sotra-session';

/** Without it nothing is answered. Kept for the tabs of this port alone: no browser sends it anywhere by itself. */
const addSessionHeader = (headers: Record<string, string> = {}) => ({
  ...headers,
  'x-sotra-session': sessionStorage.getItem(storedSession) ?? '',
});

/** Exchanges the code in the address for a session. Errors: `Error` with the words for the reader, where there is none. */
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

/** Of another tab of this port, which only its own pages can ask: so a link of a view opens in a tab of its own. */
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

/** What the server of this page answers. Errors: `Error` with its words, or that it is gone. */
export async function ask<T>(path: string, query: Record<string, string | readonly string[]> = {}): Promise<T> {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    for (const each of typeof value === 'string' ? [value] : value) if (each !== '') search.append(key, each);
  return readPageAnswer(await fetch(`/api/${path}?${search}`, { headers: addSessionHeader() }).catch(gone));
}

/** The same for what does something. */
export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const headers = addSessionHeader({ 'content-type': 'application/json' });
  return readPageAnswer(
    await fetch(`/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(gone),
  );
}

/** What changes the world of a sandbox, or tells what is secret in it. */
export function postControl<T>(name: string, body: unknown): Promise<T> {
  return postJson(`service/control?name=${name}`, body);
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
  const { error, hint = '', code, status, retryAfterSec } = answer;
  const problem: Problem = {
    text: error,
    hint,
    cause: `${code} ${status}`,
    retryAtMs: retryAfterSec === undefined ? undefined : Date.now() + retryAfterSec * 1000,
  };
  throw Object.assign(new Error([error, hint].filter(Boolean).join('. ')), { problem });
}

/** Why something was not answered, and what to do about it. */
export interface Problem {
  text: string;
  hint: string;
  /** The same for all that stopped for the same reason. */
  cause: string;
  /** When it may be asked again. */
  retryAtMs?: number | undefined;
}

/** Hears what became of each question of a page; without a problem it was answered, `null`: nobody asks it any more. */
export const Settled = createContext<(question: string, problem: Problem | null | undefined) => void>(ignore);

/** For what fails because the connection is lost: the page says that by itself. */
export function ignore(): void {}

export type Connection = 'connecting' | 'live' | 'lost';

/** Calls for each kind of entry as it comes, after a lost connection from where it was. Gives what ends it. */
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

/** What was asked for; absent until it has come. `error` stands beside what came before. */
export interface AskState<T> {
  data: T | undefined;
  error: string;
}

/** Nothing is asked without a query. Asks again whenever the path, the query or the version changes; what is shown stays meanwhile, unless it is of another question. */
export function useAsked<T>(
  path: string,
  query: Record<string, string> | undefined,
  version: number | string,
): AskState<T> {
  const question = query === undefined ? '' : `${path}?${new URLSearchParams(query)}`;
  const [asked, setAsked] = useState<AskState<T> & { question: string }>({ question, data: undefined, error: '' });
  const latest = useRef('');
  const [sent, settled] = [useRef(0), useRef(0)];
  const settle = useContext(Settled);
  useEffect(() => () => settle(question, null), [question]);
  useEffect(() => {
    latest.current = question;
    if (query === undefined) return;
    const number = ++sent.current;
    /** Whether it is what was asked last, and not older than what is shown: an answer may take longer than the time between two. */
    const isWanted = () => {
      if (latest.current !== question || number < settled.current) return false;
      settled.current = number;
      return true;
    };
    ask<T>(path, query).then(
      (data) => {
        if (!isWanted()) return;
        setAsked({ question, data, error: '' });
        settle(question, undefined);
      },
      (thrown: Error & { problem?: Problem }) => {
        if (!isWanted()) return;
        const { message: error, problem = { text: error, hint: '', cause: error } } = thrown;
        setAsked((before) => ({ question, data: before.question === question ? before.data : undefined, error }));
        settle(question, problem);
      },
    );
  }, [question, version]);
  return asked.question === question ? asked : { data: undefined, error: '' };
}

/** What the control of a sandbox tells. */
export function useControl<T>(query: Record<string, string> | undefined): AskState<T> {
  return useAsked('service/control', query, useFrame().version);
}

/** The answer of an endpoint that reads, as the terminal shows it, and the lines that give the same. */
export function useCall<T>(endpoint: string, input: Readonly<Record<string, unknown>>) {
  const { version } = useFrame();
  const { data: called, error } = useAsked<CallOutcome<T>>(
    'service/call',
    { endpoint, input: JSON.stringify(input) },
    version,
  );
  const { data, tables = [], commands = [] } = called ?? {};
  return { data, tables, table: tables[0], commands, error };
}
