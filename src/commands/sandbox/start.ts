import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join, resolve } from 'node:path';
import { checkWireNames, flagName } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { parseJson } from '../../api/json.ts';
import { sameText } from '../../api/webhook-signature.ts';
import { writeFlags } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { dataDirectory, sandboxFile } from '../../lib/config/config.ts';
import { makeFolder, readStateFile, writeReadyFiles } from '../../lib/files/durable-file.ts';
import { untilAborted } from '../../lib/io.ts';
import { plannedAddress, showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/view.ts';
import { readWire, readWireNames, type Wire, wireForm } from '../../sandbox/db/settings.ts';
import { openDb } from '../../sandbox/db/store.ts';
import { sandboxPartners } from '../../sandbox/db/world.ts';
import { type Fault, faultForm, parseFault } from '../../sandbox/serve/fault.ts';
import { createRequestLog, formatRequest, maxLogged, type RequestLog } from '../../sandbox/serve/request-log.ts';
import {
  controlHeader,
  cutQuery,
  type IncomingRequest,
  makeAnswer,
  readBearer,
  type ServedAnswer,
  ServiceRefusal,
} from '../../sandbox/service/handler.ts';
import type { SandboxPage } from './page.ts';
import type { StartInput } from './params.ts';
import { type Ready, servedFolder } from './served.ts';

const defaultPort = 4010;
const detachWaitMs = 30_000;

export async function startServed(input: StartInput, context: Context): Promise<Result> {
  const wire = readWire(input.wire ?? '{}');
  if (wire === undefined) throw usageError(`--wire ${input.wire}: ${wireForm}`);
  checkWireNames(readWireNames(wire), endpoints, '--wire');
  const faults = (input.fault ?? []).map(readFault);
  if (context.options.dryRun) return showStartPlan(input, context);
  return input.detach ? detachSandbox(input, context) : serveSandbox({ ...input, wire, faults }, context);
}

/** Errors: `usage`. */
function readFault(text: string): Fault {
  const fault = parseFault(text);
  if (fault === undefined) throw usageError(`--fault ${text}: ${faultForm}`);
  return fault;
}

async function showStartPlan(input: StartInput, context: Context): Promise<Result> {
  const file = input.db ?? sandboxFile(context.io);
  const isNew = file === ':memory:' || !existsSync(file);
  const settings = (['asOf', 'eligibility', 'serviceName', 'layout', 'chains', 'wire'] as const).flatMap((key) =>
    input[key] === undefined ? [] : [{ action: 'set', what: `${key} of ${file}`, detail: String(input[key]) }],
  );
  return showPlan([
    ...(isNew ? [{ action: 'make', what: input.empty ? 'an empty database' : 'the built-in data', detail: file }] : []),
    ...settings,
    { action: 'serve', what: file, detail: plannedAddress(input.port ?? defaultPort) },
    ...(input.ui ? [{ action: 'serve', what: 'its page', detail: plannedAddress() }] : []),
  ]);
}

async function serveSandbox(
  input: Omit<StartInput, 'wire'> & { wire: Wire; faults: readonly Fault[] },
  context: Context,
): Promise<Result> {
  const { io, options } = context;
  const file = input.db ?? sandboxFile(io);
  const { serve, setUpWorld } = await import('../../sandbox/serve/serve.ts');
  const db = openDb(file);
  setUpWorld(db, input, io.now());
  const folder = servedFolder(context);
  makeFolder(folder);
  const stop = new AbortController();
  const log = createRequestLog(io.now);
  const control: Control = { token: randomBytes(24).toString('base64url'), pid: io.pid, log, stop: () => stop.abort() };
  let page: SandboxPage | undefined;
  const served = await serve({
    db,
    port: input.port ?? defaultPort,
    wire: input.wire,
    cors: input.cors ?? [],
    faults: input.faults,
    io,
    warn: context.warn,
    control: (request, headers) => answerControl(control, request, headers),
    isOwn: ({ target }) => target.startsWith(root),
    onAnswered: (request, answer, ms) => {
      const logged = log.note(request, answer, ms);
      page?.addRequest(logged, request, answer);
      if (options.verbose) context.note(formatRequest(logged));
    },
  });
  const ready: Ready = {
    url: served.url,
    pid: io.pid,
    db: file === ':memory:' ? file : resolve(file),
    keys: sandboxPartners.map(({ key }) => key),
    controlToken: control.token,
  };
  let removeReadyFiles = () => {};
  try {
    if (input.ui) {
      const { startSandboxPage } = await import('./page.ts');
      page = await startSandboxPage({ ready, wire: readWireNames(input.wire), db }, context);
      ready.ui = page.url;
    }
    removeReadyFiles = writeReadyFiles([join(folder, `${new URL(ready.url).port}.json`), input.readyFile], ready);
    context.note(`The sandbox listens on ${ready.url} (keys: ${ready.keys.join(', ')}). Ctrl-C stops it.`);
    if (options.format === 'json' || options.format === 'ndjson') await io.out.write(`${JSON.stringify(ready)}\n`);
    if (page !== undefined) await (await import('../../pages/serve.ts')).showAddress(page, input, context);
    await Promise.race([untilAborted(stop.signal), untilAborted(io.signal)]);
  } finally {
    await page?.close();
    await served.close();
    removeReadyFiles();
  }
  return { kind: 'none' };
}

async function detachSandbox(input: StartInput, context: Context): Promise<Result> {
  const { io } = context;
  const folder = dataDirectory(context.io);
  const readyFile = input.readyFile ?? join(folder, 'sandbox-ready.json');
  const log = join(folder, 'sandbox.log');
  // The ready file of a running server stays, in case the new one does not start.
  const before = readIfThere(readyFile);
  const logged = readIfThere(log) ?? '';
  const { verbose } = context.options;
  const inputs = Object.entries({ ...input, detach: undefined, readyFile, verbose });
  const flags = writeFlags(Object.fromEntries(inputs.map(([key, value]) => [`--${flagName(key)}`, value])));
  const child = await io.spawnSelf(['sandbox', 'start', ...flags], log);
  const until = io.now() + detachWaitMs;
  try {
    while ([undefined, before].includes(readIfThere(readyFile))) {
      if (child.exitCode() !== null) throw readFailure(log, logged.length);
      const hint = `Its output is in ${log}.`;
      if (io.now() > until)
        throw new SotraError('wait-timeout', `the sandbox did not answer within ${detachWaitMs / 1000} s`, { hint });
      await io.sleep(25, io.signal);
    }
  } catch (thrown) {
    // Without a ready file nothing could stop it.
    child.stop();
    throw thrown;
  }
  const ready = parseJson(readStateFile(readyFile)) as Ready;
  const message = `The sandbox listens on ${ready.url} (keys: ${ready.keys.join(', ')}); sotra sandbox stop ends it.`;
  if (io.out.isTTY && context.options.format === undefined) return { kind: 'text', text: `${message}\n` };
  context.note(message);
  return { kind: 'answer', answer: ready };
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readStateFile(file) : undefined;
}

/** The error that ended a server, as it wrote it behind the output of earlier ones. */
function readFailure(log: string, start: number): SotraError {
  const output = (readIfThere(log) ?? '').slice(start);
  const [, problem, hint] = /^error: (.*)(?:\nhint: (.*))?/m.exec(output) ?? [];
  const more = hint ?? `Its output is in ${log}.`;
  return new SotraError('config', `the sandbox did not start: ${problem ?? 'it ended'}`, { hint: more });
}

const root = '/_sandbox/';
const methods = { status: 'GET', log: 'GET', stop: 'POST' } as const;

/** What the control API of a served sandbox, under /_sandbox/, works with. */
interface Control {
  /** Requests to it need this. */
  token: string;
  pid: number;
  log: RequestLog;
  stop: () => void;
}

/** `undefined` for a request to the service. Errors: `ServiceRefusal`. */
function answerControl(
  { token, pid, log, stop }: Control,
  { method, target, authorization }: IncomingRequest,
  headers: IncomingHttpHeaders,
): ServedAnswer | undefined {
  if (!target.startsWith(root)) return undefined;
  const given = String(headers[controlHeader] ?? readBearer(authorization) ?? '');
  if (!sameText(given, token)) throw new ServiceRefusal(401, 'wrong control token');
  const path = cutQuery(target);
  const name = path.slice(root.length);
  if (name !== 'status' && name !== 'log' && name !== 'stop')
    throw new ServiceRefusal(404, `no such endpoint: ${method} ${path}`);
  const allow = methods[name];
  if (method !== allow) throw new ServiceRefusal(405, `${path} takes ${allow}, not ${method}`, { allow });
  if (name === 'stop') setImmediate(stop);
  const limit = Number(new URLSearchParams(target.slice(path.length)).get('limit')) || maxLogged;
  return makeAnswer(200, JSON.stringify(name === 'log' ? log.latest(Math.max(1, limit)) : { pid }));
}
