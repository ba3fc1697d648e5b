import type { LiveEntry } from '../serve.ts';

const storedSession = 'sotra-session';

/** Every request needs it. In the storage of this tab and port: unlike a cookie, no browser sends it by itself. */
const addSessionHeader = (headers: Record<string, string> = {}) => ({
  ...headers,
  'x-sotra-session': sessionStorage.getItem(storedSession) ?? '',
});

const jsonType = { 'content-type': 'application/json' };

/** Exchanges the code in the address for a session. Errors: `PageError` if there is none. */
export async function signIn(): Promise<void> {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? [];
  if (code !== undefined) {
    history.replaceState(null, '', location.pathname);
    const response = await fetchPage('session', { method: 'POST', headers: jsonType, body: JSON.stringify({ code }) });
    if (response.ok) sessionStorage.setItem(storedSession, (await response.json()).session);
  }
  const [channel, own] = [new BroadcastChannel(storedSession), () => sessionStorage.getItem(storedSession)];
  if (own() === null) await borrowSession(channel);
  await getJson('session');
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

/** Why there is no answer, and what to do about it. */
export class PageError extends Error {
  readonly hint: string;
  /** When it may be asked again. */
  readonly retryAtMs: number | undefined;

  constructor(message: string, hint = '', retryAtMs?: number) {
    super(message);
    this.hint = hint;
    this.retryAtMs = retryAtMs;
  }
}

/** Errors: `PageError`; the same below. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return readAnswer(await fetchPage(path, { headers: addSessionHeader(), ...(signal && { signal }) }));
}

export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const headers = addSessionHeader(jsonType);
  return readAnswer(await fetchPage(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

export const lostText = 'Not connected: the sotra command that serves this page has ended, or cannot be reached.';

function fetchPage(path: string, init: RequestInit): Promise<Response> {
  return fetch(`/api/${path}`, init).catch(() => {
    throw new PageError(lostText);
  });
}

async function readAnswer<T>(response: Response): Promise<T> {
  if (response.headers.get('content-type')?.startsWith('application/json') !== true)
    throw new PageError((await response.text()).trim());
  const answer = await response.json();
  if (response.ok) return answer;
  const { error, hint, retryAfterSec } = answer;
  throw new PageError(error, hint, retryAfterSec && Date.now() + retryAfterSec * 1000);
}

export interface Connection {
  state: 'connecting' | 'live' | 'lost';
  /** When a lost one is tried again. */
  retryAtMs?: number;
}

/** Calls back for the entries of a stream; after a lost connection it begins again, with a `load`. Returns what ends it. */
export function listenLive(
  path: string,
  onEntries: (entries: readonly LiveEntry[]) => void,
  onChange: (connection: Connection) => void,
): () => void {
  const stop = new AbortController();
  const listen = async () => {
    const { ok, body } = await fetch(`/api/${path}`, { headers: addSessionHeader(), signal: stop.signal });
    if (!ok || body === null) return;
    onChange({ state: 'live' });
    for await (const lines of readLines(body)) onEntries(lines.map((line) => JSON.parse(line)));
  };
  const keepListening = async () => {
    while (!stop.signal.aborted) {
      await listen().catch(() => undefined);
      if (stop.signal.aborted) return;
      onChange({ state: 'lost', retryAtMs: Date.now() + reconnectMs });
      await new Promise((resolve) => setTimeout(resolve, reconnectMs));
    }
  };
  void keepListening();
  return () => stop.abort();
}

const reconnectMs = 3000;

/** The lines that a stream brings at once, without empty ones. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string[]> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n');
    rest = lines.pop() ?? '';
    yield lines.filter((line) => line !== '');
  }
}
