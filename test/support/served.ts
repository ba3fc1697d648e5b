import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseTime } from '../../src/api/duration.ts';
import type { WireNames } from '../../src/api/endpoint.ts';
import { tryParseJson } from '../../src/api/json.ts';
import { type Db, openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld, type WorldKind } from '../../src/sandbox/db/world.ts';
import { createService } from '../../src/sandbox/serve/answer.ts';
import { listen } from '../../src/sandbox/serve/serve.ts';
import { copyDemo } from './demo.ts';
import { openSocket, serve, temporaryFolder } from './harness.ts';

/** A sandbox on a local socket. */
export interface SandboxServer {
  url: string;
  keyA: string;
  keyB: string;
  dbFile: string;
  /** The database behind it, to look at or to fill. */
  db: Db;
  /** What `run` needs to speak to it as one partner. */
  envA: Record<string, string>;
  envB: Record<string, string>;
}

/** Serves the sandbox on a free port with a database of its own; both go when the test ends. */
export async function serveSandbox({
  kind = 'demo' as WorldKind,
  now = () => Date.now(),
  wire = {} as WireNames,
} = {}): Promise<SandboxServer> {
  const dbFile = join(temporaryFolder(), 'sandbox.db');
  if (kind === 'demo') copyDemo(dbFile, now());
  const db = openDb(dbFile);
  ensureWorld(db, now(), kind);
  const server = await listen(createService({ db, now, wire }), 0);
  onTestFinished(async () => {
    await server.close();
    db.close();
  });
  const [keyA, keyB] = ['sandbox-key-a', 'sandbox-key-b'];
  const envOf = (key: string) => ({ SOTRA_BASE_URL: server.url, SOTRA_API_KEY: key });
  return { url: server.url, keyA, keyB, dbFile, db, envA: envOf(keyA), envB: envOf(keyB) };
}

export interface Reply {
  status: number;
  body: unknown;
}

/** Sends a request as curl would: any text as the body. */
export async function ask(
  service: SandboxServer,
  method: string,
  path: string,
  { key = service.keyA, body }: { key?: string | null; body?: string } = {},
): Promise<Reply> {
  const headers = key === null ? {} : { authorization: `Bearer ${key}` };
  const answer = await fetch(service.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, body: await answer.json() };
}

/** Sends latin1 text as it is; the first line of the answer and its body, empty where the connection was closed without one. */
export async function sendRaw(url: string, text: string): Promise<{ status: number; body: string }> {
  const { got, socket, ended } = openSocket(url, Buffer.from(text, 'latin1'));
  socket.end();
  await ended;
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(got.text)?.[1] ?? 0), body: got.text.split('\r\n\r\n')[1] ?? '' };
}

/** What a command that serves a page wrote to its ready file. */
export interface ServedPage {
  ui: string;
  /** Of a sandbox. */
  url: string;
  controlToken: string;
  /** What `run` needs to speak to the same sandbox, or to use the same folder. */
  env: Record<string, string>;
}

/** Runs a command that serves a page, in this process and a folder of its own; it ends with the test. */
export async function startPage(line: string | string[], env: Record<string, string> = {}): Promise<ServedPage> {
  const folder = env['SOTRA_DATA_DIR'] ?? temporaryFolder();
  const argv = typeof line === 'string' ? line.split(' ') : line;
  const own = { SOTRA_DATA_DIR: folder, ...env };
  // A sandbox finds a copy of the world that it would make.
  const asOf = argv[argv.indexOf('--as-of') + 1];
  if (argv[0] === 'sandbox' && !argv.includes('--empty'))
    copyDemo(join(folder, 'sandbox.db'), argv.includes('--as-of') ? Number(parseTime(asOf ?? '')) : Date.now());
  const { ready, shown } = await serve(argv, { env: own });
  if (ready === undefined) throw new Error(shown.err);
  return { ...ready, env: { SOTRA_API_KEY: 'sandbox-key-a', ...own, ...(ready.url && { SOTRA_BASE_URL: ready.url }) } };
}

/** The header with which a page asks, in exchange for the code in its address. */
export async function sessionOf(ui: string): Promise<{ 'x-sotra-session': string }> {
  const { origin, hash } = new URL(ui);
  const headers = { origin, 'content-type': 'application/json' };
  const body = JSON.stringify({ code: hash.replace('#code=', '') });
  const answer = await fetch(`${origin}/api/session`, { method: 'POST', headers, body });
  if (answer.status !== 200) throw new Error(await answer.text());
  return { 'x-sotra-session': ((await answer.json()) as { session: string }).session };
}

/** Asks a page's server as its script does: a path below `/api/ui/`, with a body by POST; `decoded` has the bodies that it shows as text. */
export async function openPageApi(ui: string) {
  const { origin } = new URL(ui);
  const headers = { ...(await sessionOf(ui)), origin, 'content-type': 'application/json' };
  return async (path: string, body?: unknown, own: Record<string, string> = headers) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${origin}/api/ui/${path}`, { headers: own, ...sent });
    const text = await answer.text();
    const decoded = text.replaceAll(/(?<="body":")[^"]*/g, (body) => Buffer.from(body, 'base64').toString());
    // biome-ignore lint/suspicious/noExplicitAny: what it holds is what is tested
    return { status: answer.status, text, decoded, json: tryParseJson(text) as any };
  };
}
