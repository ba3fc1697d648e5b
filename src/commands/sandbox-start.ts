import { randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkWireNames } from '../api/wire.ts';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { replaceFile } from '../durable-file.ts';
import { SotraError } from '../errors.ts';
import { sandboxFile } from '../local-service.ts';
import { parseTime } from '../model/duration.ts';
import { endpoints } from '../resources/index.ts';
import { freezeClock, setMeta } from '../sandbox/clock.ts';
import { startDeliverer } from '../sandbox/deliver.ts';
import { parseFault } from '../sandbox/fault-text.ts';
import { listen } from '../sandbox/listen.ts';
import { createApp } from '../sandbox/server.ts';
import { openDb } from '../sandbox/store.ts';
import { ensureWorld, sandboxPartners } from '../sandbox/world.ts';
import type { Layout } from '../settings.ts';

interface StartInput {
  port?: number | undefined;
  db?: string | undefined;
  empty?: boolean | undefined;
  asOf?: string | undefined;
  detach?: boolean | undefined;
  readyFile?: string | undefined;
  wire?: Record<string, string> | undefined;
  eligibility?: 'any' | 'public' | undefined;
  serviceName?: string | undefined;
  layout?: Layout | undefined;
  fault?: string[] | undefined;
}

/** What `--ready-file` and `sandbox start --json` hold. */
interface Ready {
  url: string;
  pid: number;
  db: string;
  keys: string[];
  /** Sent as `x-control-token` to `POST /_sandbox/stop`. */
  controlToken: string;
}

const defaultPort = 4010;
const detachWaitMs = 30_000;

/** Serves the sandbox until Ctrl-C, a signal or `POST /_sandbox/stop`; detached: gives the address once it answers. */
export async function startSandbox(input: StartInput, context: Context): Promise<Result> {
  return input.detach ? detachSandbox(input, context) : serveSandbox(input, context);
}

async function serveSandbox(input: StartInput, context: Context): Promise<Result> {
  const { world, options } = context;
  if (input.wire !== undefined) checkWireNames(input.wire, endpoints, '--wire');
  const file = input.db ?? (await sandboxFile(context));
  const db = openDb(file);
  const frozenMs = input.asOf === undefined ? undefined : parseTime(input.asOf);
  if (frozenMs !== undefined) freezeClock(db, frozenMs);
  ensureWorld(db, world.now(), input.empty ? 'empty' : 'demo');
  if (input.eligibility !== undefined) setMeta(db, 'eligibility', input.eligibility);
  if (input.serviceName !== undefined) setMeta(db, 'signing.serviceName', input.serviceName);
  if (input.layout !== undefined) setMeta(db, 'signing.layout', input.layout);
  const { routes } = await import('../resources/routes.ts');
  const app = createApp({ db, routes, now: world.now, wire: input.wire ?? {} });
  const controlToken = randomBytes(24).toString('base64url');
  const stopped = new Promise<void>((resolve) => {
    if (world.signal.aborted) resolve();
    world.signal.addEventListener('abort', () => resolve(), { once: true });
    app.post('/_sandbox/stop', (c) => {
      if (!sameText(c.req.header('x-control-token') ?? '', controlToken))
        return c.json({ error: 'wrong control token' }, 401);
      setImmediate(resolve);
      return c.json({});
    });
  });
  const server = await listen(app, input.port ?? defaultPort, {
    faults: (input.fault ?? []).flatMap((text) => parseFault(text) ?? []),
    sleep: (ms) => world.sleep(ms, world.signal),
  });
  const { now, sleep, pid } = world;
  const deliverer = startDeliverer({ db, now, sleep, pid, isAlive: world.system.isAlive, warn: context.warn });
  const ready: Ready = {
    url: server.url,
    pid: world.pid,
    db: file,
    keys: sandboxPartners.map(({ key }) => key),
    controlToken,
  };
  const readyText = `${JSON.stringify(ready, null, 2)}\n`;
  try {
    if (input.readyFile !== undefined) replaceFile(input.readyFile, readyText);
    context.note(`The sandbox answers on ${ready.url} (keys: ${ready.keys.join(', ')}). Ctrl-C stops it.`);
    if (options.format === 'json' || options.format === 'ndjson')
      await world.io.out.write(`${JSON.stringify(ready)}\n`);
    await stopped;
  } finally {
    await server.close();
    await deliverer.stop();
    db.close();
    // A later server may have written its own there.
    if (input.readyFile !== undefined && textOf(input.readyFile) === readyText)
      rmSync(input.readyFile, { force: true });
  }
  return { kind: 'none' };
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

async function detachSandbox(input: StartInput, context: Context): Promise<Result> {
  const { world } = context;
  const folder = await context.dataDirectory();
  const readyFile = input.readyFile ?? join(folder, 'sandbox-ready.json');
  const log = join(folder, 'sandbox.log');
  // That of a server that runs stays, in case ours does not start.
  const before = textOf(readyFile);
  const argv = ['sandbox', 'start', '--ready-file', readyFile, '--port', String(input.port ?? defaultPort)];
  if (input.db !== undefined) argv.push('--db', input.db);
  if (input.empty) argv.push('--empty');
  if (input.asOf !== undefined) argv.push('--as-of', input.asOf);
  if (input.wire !== undefined) argv.push('--wire', JSON.stringify(input.wire));
  if (input.eligibility !== undefined) argv.push('--eligibility', input.eligibility);
  if (input.serviceName !== undefined) argv.push('--service-name', input.serviceName);
  if (input.layout !== undefined) argv.push('--layout', input.layout);
  for (const fault of input.fault ?? []) argv.push('--fault', fault);
  const child = await world.spawnSelf(argv, log);
  const until = world.now() + detachWaitMs;
  try {
    while ([undefined, before].includes(textOf(readyFile))) {
      if (child.exitCode() !== null)
        throw new SotraError('config', `the sandbox did not start: ${lastLines(log)}`, {
          hint: `Its output is in ${log}.`,
        });
      if (world.now() > until)
        throw new SotraError('wait-timeout', `the sandbox did not answer within ${detachWaitMs / 1000} s`, {
          hint: `Its output is in ${log}.`,
        });
      await world.sleep(25, world.signal);
    }
  } catch (thrown) {
    // Nobody was told of it, and so nobody would stop it.
    child.stop();
    throw thrown;
  }
  const ready: Ready = JSON.parse(readFileSync(readyFile, 'utf8'));
  context.note(`The sandbox answers on ${ready.url} in process ${ready.pid}; kill ${ready.pid} stops it.`);
  return { kind: 'answer', answer: ready };
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function lastLines(log: string): string {
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').slice(-2).join(' ') : 'no output';
}
