import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isObject, tryParseJson } from '../api/json.ts';
import { sameText } from '../api/webhook-signature.ts';
import type { Context } from '../context.ts';
import { readMessage, SotraError } from '../errors.ts';
import { listAssets, readAsset } from '../lib/files/asset.ts';
import { foreignRefusal, isLocalRequest, readBody, send as sendReply, startHttpServer } from '../lib/http-server.ts';
import type { Io } from '../lib/io.ts';

/** A page and its API. */
export interface WebApp {
  /** In the paths of its page (`/name`), its script (`/name.js`) and its API (`/api/name/...`). */
  name: string;
  title: string;
  /** By method and the rest of the path, such as `GET list`; results are sent as JSON. Errors: a `SotraError` is sent to the page. */
  routes: Readonly<Record<string, (query: URLSearchParams, body: unknown) => Promise<unknown>>>;
  /** Streamed under `live`; an entry `load` gets what `load` gives, or becomes `failed` with its error, after which the stream ends. */
  live: LiveLog;
  load: () => Promise<unknown>;
}

const [maxStreams, maxBodyBytes] = [12, 64 * 1024];
const warnEveryMs = 60_000;
/** An idle stream could be closed on its way, such as by a forwarded port. */
const beatMs = 15_000;

const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

/** A page sends it with each request. Unlike a cookie, no browser adds it by itself, and other local ports never get it. */
const sessionHeader = 'x-sotra-session';

const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };

export interface ServedPage {
  /** With a code that one page exchanges once. */
  url: string;
  /** The same with a new code; earlier ones stop working. */
  newUrl: () => string;
  /** Aborted when it is closed. */
  closing: AbortSignal;
  close: () => Promise<void>;
}

/** Serves a page on 127.0.0.1, on a free port. Errors: `config` if it cannot listen. */
export async function servePage(app: WebApp, warn: (text: string) => void): Promise<ServedPage> {
  // Read now: an update of the program may replace them while this runs. No path reads any other file.
  const files = new Map(listAssets('web/').map((name) => [name.slice('web'.length), readAsset(name)]));
  /** Only API requests with it are answered; a page gets it once, in exchange for the code in its address. */
  const session = newToken();
  let code: string | undefined;
  const apiStart = `/api/${app.name}/`;
  const stop = new AbortController();
  let [streams, warnedMs] = [0, Number.NEGATIVE_INFINITY];

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const refusal = refuseForeign(incoming);
    if (refusal !== undefined) return send(outgoing, refusal.status, 'text/plain', `${refusal.reason}\n`);
    const { pathname: path, searchParams: query } = new URL(`http://127.0.0.1${incoming.url}`);
    if (path.startsWith('/api/')) return handleApi(path, { query, incoming, outgoing });
    // Pages and scripts hold no data, so they need no session.
    if (path === '/')
      return sendReply(outgoing, { status: 303, headers: { ...pageHeaders, location: `/${app.name}` } });
    const file = files.get(path);
    if (file !== undefined)
      return send(outgoing, 200, types[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/plain', file);
    if (path !== `/${app.name}`) return send(outgoing, 404, 'text/plain', 'not found\n');
    send(outgoing, 200, 'text/html', writePage(app));
  };
  const handleApi = async (path: string, exchange: Exchange): Promise<void> => {
    const { incoming, outgoing } = exchange;
    const refusal = originRefusal(incoming);
    if (refusal !== undefined) return send(outgoing, refusal.status, 'text/plain', `${refusal.reason}\n`);
    if (path === '/api/session' && incoming.method === 'POST') {
      const given = tryParseJson((await readBody(incoming, maxBodyBytes))?.toString() ?? '');
      const typed = isObject(given) ? String(given['code']) : '';
      if (code === undefined || !sameText(typed, code)) return send(outgoing, 401, 'text/plain', usedText);
      code = undefined;
      return send(outgoing, 200, 'application/json', JSON.stringify({ session }));
    }
    if (!sameText(String(incoming.headers[sessionHeader] ?? ''), session))
      return send(outgoing, 401, 'text/plain', usedText);
    if (path === '/api/session') return send(outgoing, 200, 'application/json', '{}');
    if (path === `${apiStart}live`) return stream(outgoing);
    const name = path.startsWith(apiStart) ? path.slice(apiStart.length) : '';
    await answer(app, `${incoming.method} ${name}`, exchange);
  };
  const stream = async (outgoing: ServerResponse): Promise<void> => {
    if (streams >= maxStreams) return send(outgoing, 503, 'text/plain', 'too many pages are open\n');
    streams += 1;
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    outgoing.writeHead(200, { ...pageHeaders, 'content-type': 'application/x-ndjson' });
    outgoing.flushHeaders();
    const beat = setInterval(() => outgoing.write('\n'), beatMs);
    try {
      for await (const entries of app.live.read(AbortSignal.any([gone.signal, stop.signal]))) {
        const lines: string[] = [];
        for (const { kind, data } of entries)
          lines.push(JSON.stringify({ kind, data: kind === 'load' ? await app.load() : data }));
        if (!outgoing.write(`${lines.join('\n')}\n`))
          await once(outgoing, 'drain', { signal: gone.signal }).catch(() => undefined);
      }
      outgoing.end();
    } catch (thrown) {
      outgoing.end(`${JSON.stringify({ kind: 'failed', data: describeError(thrown) })}\n`);
    } finally {
      clearInterval(beat);
      streams -= 1;
    }
  };
  const { url, close } = await startHttpServer(handle, {
    port: 0,
    maxConnections: 64,
    headersTimeoutMs: 5000,
    requestTimeoutMs: 10_000,
    onError: (thrown) => {
      // Requests could otherwise flood the terminal.
      if (performance.now() - warnedMs < warnEveryMs) return;
      warnedMs = performance.now();
      warn(`a request of the page failed: ${readMessage(thrown)}`);
    },
  });
  // After the #, which no browser sends to a server or to another page.
  const newUrl = () => {
    code = newToken();
    return `${url}/#code=${code}`;
  };
  return {
    url: newUrl(),
    newUrl,
    closing: stop.signal,
    close: () => {
      stop.abort();
      return close();
    },
  };
}

/** A secret of this run, which nobody can guess. */
function newToken(): string {
  return randomBytes(24).toString('base64url');
}

const methods = ['GET', 'HEAD', 'POST'];

/** Why a request is refused even with a session: a page of another site may reach this server by another host name. */
function refuseForeign(incoming: IncomingMessage) {
  const { method = '', url = '' } = incoming;
  if (!isLocalRequest(incoming) || !url.startsWith('/')) return { status: 403, reason: foreignRefusal };
  return methods.includes(method) ? undefined : { status: 405, reason: `method ${method}: must be GET or POST` };
}

/** Why an API request is refused: it must come from a page of this server. */
function originRefusal({ method, headers }: IncomingMessage) {
  const { host, origin } = headers;
  if (origin !== undefined && origin !== `http://${host}`)
    return { status: 403, reason: 'Origin header: requests from other pages are refused' };
  if (!['same-origin', 'none', undefined].includes(headers['sec-fetch-site']?.toString()))
    return { status: 403, reason: 'Sec-Fetch-Site header: requests from other pages are refused' };
  if (method === 'POST' && origin === undefined) return { status: 403, reason: 'Origin header: a POST must have one' };
  if (method === 'POST' && headers['content-type'] !== 'application/json')
    return { status: 415, reason: 'Content-Type header: must be application/json' };
  return undefined;
}

const usedText =
  'This link has already been used, or is from an earlier run. Press Enter in the terminal where sotra runs: it gives another one.\n';

interface Exchange {
  query: URLSearchParams;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

async function answer({ routes }: WebApp, name: string, { query, incoming, outgoing }: Exchange): Promise<void> {
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
  if (route === undefined) return send(outgoing, 404, 'application/json', '{"error":"not found"}');
  const body = (await readBody(incoming, maxBodyBytes))?.toString();
  if (body === undefined) return send(outgoing, 413, 'application/json', '{"error":"the body is too large"}');
  const given = body === '' ? undefined : tryParseJson(body);
  if (body !== '' && !isFlatObject(given))
    return send(outgoing, 400, 'application/json', '{"error":"the body must be a JSON object of texts and numbers"}');
  try {
    const made = await route(query, given);
    send(outgoing, 200, 'application/json', JSON.stringify(made));
  } catch (thrown) {
    send(outgoing, 400, 'application/json', JSON.stringify(describeError(thrown)));
  }
}

/** Throws what is no `SotraError`. */
function describeError(thrown: unknown) {
  if (!(thrown instanceof SotraError)) throw thrown;
  const { code, status, message: error, hint, retryAfterSec } = thrown;
  return { error, hint, code, status, retryAfterSec };
}

/** What the pages send: an object of plain values and lists of them. */
function isFlatObject(body: unknown): boolean {
  const isPlain = (value: unknown) => typeof value !== 'object' || value === null;
  return isObject(body) && Object.values(body).every((value) => [value].flat().every(isPlain));
}

function send(outgoing: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  sendReply(outgoing, { status, headers: { ...pageHeaders, 'content-type': `${type}; charset=utf-8` }, body });
}

function writePage({ name, title }: WebApp): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/style.css">
<link rel="modulepreload" href="/shared.js">
<script type="module" src="/${name}.js"></script>
<div id="app"></div>
</html>
`;
}

export interface PageInput {
  open?: boolean | undefined;
  readyFile?: string | undefined;
}

type Page = Pick<ServedPage, 'url' | 'newUrl' | 'closing'>;

/**
 * Prints the link to a page on stderr, and opens it in the browser with `open`; with a ready file alone it prints nothing. On a terminal each
 * Enter prints a new link.
 */
export async function showAddress(page: Page, { open, readyFile }: PageInput, context: Context): Promise<void> {
  const { io, options } = context;
  const renews = io.in.isTTY === true && !options.noInput && io.in.isForeground?.() !== false;
  const more = renews ? '; press Enter for a new one' : '';
  if (open || readyFile === undefined) await io.err.write(`Open this link, which works once${more}:\n  ${page.url}\n`);
  if (renews) void renew(page, io);
  if (open) await openBrowser(page, io);
}

async function renew({ newUrl, closing }: Page, io: Io): Promise<void> {
  const lines = io.in[Symbol.asyncIterator]();
  const end = () => void lines.return?.();
  closing.addEventListener('abort', end, { once: true });
  try {
    for (let next = await lines.next(); !next.done && !closing.aborted; next = await lines.next())
      await io.err.write(`Open this link, which works once:\n  ${newUrl()}\n`);
  } catch {
    // The terminal is gone, or the command ends.
  } finally {
    closing.removeEventListener('abort', end);
  }
}

/** Through a private file: every local user can read the arguments of a program. */
async function openBrowser({ url, closing }: Page, io: Io): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-open-'));
  const file = join(folder, 'open.html');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  closing.addEventListener('abort', remove, { once: true });
  const text = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${url}"><title>sotra</title>\n`;
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  const { default: start } = await import('open');
  const program = io.env['BROWSER'];
  await start(pathToFileURL(file).href, program ? { app: { name: program } } : {}).catch(() =>
    io.err.write('No browser can be started here: open the address above by hand.\n'),
  );
}

/** An entry of the stream to pages; `load`: the page must load its data again. */
export interface LiveEntry {
  kind: string;
  data: unknown;
}

export interface LiveLog {
  add: (kind: string, data: unknown) => void;
  /** A `load`, then new entries in batches, until the signal; a `load` again if a reader is too slow. */
  read: (signal: AbortSignal) => AsyncIterable<readonly LiveEntry[]>;
}

/** Entries of one batch: a page draws as many rows, and asks for older ones. */
const maxWaiting = 200;
/** A batch is followed by a pause for each so many entries: pages draw less often when much happens. */
const perPause = 13;

export function createLiveLog(pauseMs = 250): LiveLog {
  const added = new EventEmitter<{ entry: [LiveEntry] }>().setMaxListeners(0);
  const load: LiveEntry = { kind: 'load', data: null };
  return {
    add: (kind, data) => void added.emit('entry', { kind, data }),
    read: async function* (signal) {
      const waiting = [load];
      const take = (entry: LiveEntry) => {
        if (waiting.push(entry) > maxWaiting) added.off('entry', take);
      };
      try {
        while (!signal.aborted) {
          const entries = waiting.splice(0);
          added.off('entry', take).on('entry', take);
          yield entries.length > maxWaiting ? [load] : entries;
          const pauses = Math.ceil(entries.length / perPause);
          await sleep(pauses * pauseMs, undefined, { signal }).catch(() => undefined);
          if (waiting.length === 0) await once(added, 'entry', { signal }).catch(() => undefined);
        }
      } finally {
        added.off('entry', take);
      }
    },
  };
}
