import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { checkWireNames } from '../../contract/endpoint.ts';
import { SotraError } from '../../errors.ts';
import { readStateFile, replaceFile } from '../../files/durable-file.ts';
import { parseJson } from '../../model/json.ts';
import { showPlan } from '../../output/confirm.ts';
import { endpoints } from '../../resources/index.ts';
import type { Layout } from '../../settings/settings.ts';
import { openDb } from '../db/store.ts';
import { sandboxPartners } from '../db/world.ts';
import { createControl, createRequestLog, isControl, logLine } from '../http/control.ts';
import { type Ready, servedFolder } from './served.ts';

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

const defaultPort = 4010;
const detachWaitMs = 30_000;

export async function startSandbox(input: StartInput, context: Context): Promise<Result> {
  if (context.options.dryRun) return planOf(input, context);
  return input.detach ? detachSandbox(input, context) : serveSandbox(input, context);
}

async function planOf(input: StartInput, context: Context): Promise<Result> {
  const file = input.db ?? (await context.sandboxFile());
  const isNew = file === ':memory:' || !existsSync(file);
  const settings = (['asOf', 'eligibility', 'serviceName', 'layout'] as const).flatMap((key) =>
    input[key] === undefined ? [] : [{ action: 'set', what: `${key} of ${file}`, detail: input[key] }],
  );
  return showPlan([
    ...(isNew ? [{ action: 'make', what: input.empty ? 'an empty world' : 'the built-in world', detail: file }] : []),
    ...settings,
    { action: 'serve', what: file, detail: `http://127.0.0.1:${input.port ?? defaultPort}` },
  ]);
}

async function serveSandbox(input: StartInput, context: Context): Promise<Result> {
  const { world, options } = context;
  if (input.wire !== undefined) checkWireNames(input.wire, endpoints, '--wire');
  const file = input.db ?? (await context.sandboxFile());
  const { serve, setUpWorld } = await import('../serve.ts');
  const db = openDb(file);
  setUpWorld(db, input, world.now());
  const folder = await servedFolder(context);
  const log = createRequestLog(world.now);
  const controlToken = randomBytes(24).toString('base64url');
  const ready = {
    url: '',
    pid: world.pid,
    db: file === ':memory:' ? file : resolve(file),
    keys: sandboxPartners.map(({ key }) => key),
  };
  const stop = new AbortController();
  const control = createControl({ token: controlToken, status: ready, log, stop: () => stop.abort() });
  const served = await serve({
    db,
    port: input.port ?? defaultPort,
    wire: input.wire ?? {},
    faults: input.fault ?? [],
    world: { now: world.now, sleep: world.sleep, pid: world.pid, isAlive: world.system.isAlive, warn: context.warn },
    control: (request, headers) => control(request, headers['x-control-token']?.toString()),
    onAnswered: (request, ...answered) => {
      if (isControl(request)) return;
      const logged = log.note(request, ...answered);
      if (options.verbose) context.note(logLine(logged));
    },
  });
  ready.url = served.url;
  const readyText = `${JSON.stringify({ ...ready, controlToken } satisfies Ready, null, 2)}\n`;
  const ownFile = join(folder, `${new URL(served.url).port}.json`);
  const readyFiles = [ownFile, ...(input.readyFile === undefined ? [] : [input.readyFile])];
  try {
    for (const each of readyFiles) replaceFile(each, readyText);
    context.note(`The sandbox listens on ${ready.url} (keys: ${ready.keys.join(', ')}). Ctrl-C stops it.`);
    if (options.format === 'json' || options.format === 'ndjson')
      await world.io.out.write(`${JSON.stringify({ ...ready, controlToken })}\n`);
    await Promise.race([aborted(stop.signal), aborted(world.signal)]);
  } finally {
    await served.close();
    // A later server may have written its own there.
    for (const each of readyFiles) if (textOf(each) === readyText) rmSync(each, { force: true });
  }
  return { kind: 'none' };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function detachSandbox(input: StartInput, context: Context): Promise<Result> {
  const { world } = context;
  const folder = await context.dataDirectory();
  const readyFile = input.readyFile ?? join(folder, 'sandbox-ready.json');
  const log = join(folder, 'sandbox.log');
  // That of a server that runs stays, in case ours does not start.
  const before = textOf(readyFile);
  const argv = ['sandbox', 'start', '--ready-file', readyFile, '--port', String(input.port ?? defaultPort)];
  const flags = {
    '--db': input.db,
    '--as-of': input.asOf,
    '--wire': input.wire && JSON.stringify(input.wire),
    '--eligibility': input.eligibility,
    '--service-name': input.serviceName,
    '--layout': input.layout,
  };
  for (const [flag, value] of Object.entries(flags)) if (value !== undefined) argv.push(flag, value);
  for (const fault of input.fault ?? []) argv.push('--fault', fault);
  if (input.empty) argv.push('--empty');
  if (context.options.verbose) argv.push('--verbose');
  const child = await world.spawnSelf(argv, log);
  const until = world.now() + detachWaitMs;
  try {
    while ([undefined, before].includes(textOf(readyFile))) {
      const hint = `Its output is in ${log}.`;
      if (child.exitCode() !== null)
        throw new SotraError('config', `the sandbox did not start: ${lastLines(log)}`, { hint });
      if (world.now() > until)
        throw new SotraError('wait-timeout', `the sandbox did not answer within ${detachWaitMs / 1000} s`, { hint });
      await world.sleep(25, world.signal);
    }
  } catch (thrown) {
    // Nobody knows of it, and so nobody would stop it.
    child.stop();
    throw thrown;
  }
  const ready = parseJson(readStateFile(readyFile)) as Ready;
  context.note(`The sandbox listens on ${ready.url} in process ${ready.pid}; sotra sandbox stop ends it.`);
  return { kind: 'answer', answer: ready };
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readStateFile(file) : undefined;
}

function lastLines(log: string): string {
  return existsSync(log) ? readStateFile(log).trim().split('\n').slice(-2).join(' ') : 'no output';
}
