import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseTime } from '../../src/api/duration.ts';
import { tryParseJson } from '../../src/api/json.ts';
import { copyDemo } from './demo.ts';
import { openPort, serve, temporaryFolder } from './harness.ts';

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
export async function startPage(
  line: string | readonly string[],
  env: Record<string, string> = {},
): Promise<ServedPage> {
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

/** The same page by another port, as ssh forwards one; `cut` ends each connection and refuses new ones until `mend`. */
export async function forwardPort(ui: string): Promise<{ ui: string; cut: () => void; mend: () => void }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(new URL(ui).port), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  const port = await openPort(server);
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  const forwarded = new URL(ui);
  forwarded.port = String(port);
  return {
    ui: forwarded.href,
    cut,
    mend: () => {
      isCut = false;
    },
  };
}

/** Asks a page's server as its script does: a path below `/api/ui/`, with a body by POST. */
export async function openPageApi(ui: string) {
  const { origin } = new URL(ui);
  const headers = { ...(await sessionOf(ui)), origin, 'content-type': 'application/json' };
  return async (path: string, body?: unknown, own: Record<string, string> = headers) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${origin}/api/ui/${path}`, { headers: own, ...sent });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: what it holds is what is tested
    return { status: answer.status, text, json: tryParseJson(text) as any };
  };
}
