import { connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { WireNames } from '../../src/api/endpoint.ts';
import { type Db, openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld, type WorldKind } from '../../src/sandbox/db/world.ts';
import { createService } from '../../src/sandbox/serve/answer.ts';
import { listen } from '../../src/sandbox/serve/serve.ts';
import { copyDemo } from './demo.ts';
import { temporaryFolder } from './harness.ts';

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
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.end(Buffer.from(text, 'latin1'));
  await new Promise((resolve) => socket.once('close', resolve));
  const answer = Buffer.concat(chunks).toString();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), body: answer.split('\r\n\r\n')[1] ?? '' };
}
