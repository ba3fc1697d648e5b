import type { Worker } from 'node:worker_threads';
import type { z } from 'zod';
import type { Answer, Caller } from './api/client.ts';
import { buildRequest, callEndpoint, sendRequest } from './api/client.ts';
import type { Endpoint, InputOf, Params } from './api/endpoint.ts';
import { createFitCheck } from './api/fits.ts';
import type { Transport } from './api/http.ts';
import { RequestPreview } from './api/preview.ts';
import { encodeRequest, type WireRequest } from './api/request.ts';
import { hidingKey } from './api/secrets.ts';
import type { GlobalOptions } from './cli/globals.ts';
import type { Program } from './cli/outline.ts';
import { SotraError } from './errors.ts';
import type { Io } from './output/io.ts';
import { type Env, needsNoStore, resolveService, type Service, servedSandboxUrl } from './settings.ts';
import type { Store } from './store.ts';

/** What there is to know of the machine. */
interface System {
  /** Version of Node, without a `v`. */
  node: string;
  platform: string;
  /** Whether a process of this machine runs. */
  isAlive: (pid: number) => boolean;
}

/** The outside world: what only the process edge, or a test, can supply. */
export interface World {
  io: Io;
  env: Env;
  version: string;
  now: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborted by Ctrl-C and SIGTERM. */
  signal: AbortSignal;
  /** Starts this program again in the background, its output going to a file. `exitCode` is `null` while it runs. */
  spawnSelf: (argv: readonly string[], logFile: string) => Promise<{ exitCode: () => number | null; stop: () => void }>;
  /** Starts a file of this program on a thread of its own, which sees no environment and prints nothing. */
  startThread: (name: 'jq-thread') => Promise<Worker>;
  pid: number;
  system: System;
  /** For long walks, which make garbage page by page and keep none of it: the heap does not grow with the first of it. */
  keepHeapSmall?: () => Promise<void>;
  /** In place of real sockets; tests only. */
  transport?: Transport;
}

/** What a command may use; built once for a command line and passed down. */
export interface Context {
  world: World;
  options: GlobalOptions;
  /** Every command, for those that speak of them. */
  program: Program;
  service: () => Promise<Service>;
  store: () => Promise<Store>;
  dataDirectory: () => Promise<string>;
  /** One endpoint's answer, or that of a link to more of it. Errors as in `callEndpoint`; `key-missing` before anything is sent. */
  call: <P extends Params, R extends z.ZodType>(
    endpoint: Endpoint<string, P, R>,
    input: InputOf<P>,
    link?: string,
  ) => Promise<Answer<z.output<R>>>;
  /** Resolves when a call could be made: there is a service and a key, or only a preview is wanted. Errors as in `call`. */
  ready: () => Promise<void>;
  /** Any request's answer, with the same key, retries and errors. */
  request: (wire: WireRequest) => Promise<Answer>;
  /** Whether an answer came that does not fit the contract. */
  sawMisfit: () => boolean;
  /** A sentence on stderr, unless `--quiet`. */
  note: (text: string) => void;
  /** A sentence on stderr behind `warning:`, unless `--quiet`. */
  warn: (text: string) => void;
  /** Status and headers of the answers that came since the last time, for `--include`; empty without it. */
  takeHeads: () => string;
  close: () => Promise<void>;
}

interface Surroundings {
  world: World;
  options: GlobalOptions;
  program: Program;
  /** Writes a line to stderr. */
  say: (line: string) => void;
}

/** The context of one command line. Never throws; its parts do. */
export function createContext({ world, options, program, say }: Surroundings): Context {
  const service = once(() => findService(world, options));
  const transport = once(async () => world.transport ?? openTransport(await service(), context));
  const hideKey = once(async () => hidingKey((await service()).apiKey));
  const note = (text: string) => (options.quiet ? undefined : say(text));
  const warn = (text: string) => note(`warning: ${text}`);
  const heads = new Set<{ text: string }>();
  const trace = once(async () =>
    options.traceFile === undefined
      ? undefined
      : (await import('./trace.ts')).openTrace(options.traceFile, world.version),
  );
  const observe = async () => {
    if (!options.verbose && !options.include && options.traceFile === undefined) return () => undefined;
    const { watchCall } = await import('./watch.ts');
    return watchCall({
      say: options.verbose ? say : undefined,
      heads: options.include ? heads : undefined,
      trace: await trace(),
      now: world.now,
    });
  };
  const fits = createFitCheck();
  let misfits = 0;
  const callerFor = async (keyless: boolean): Promise<Caller> => {
    const { kind, baseUrl, apiKey, wire } = await service();
    // Nothing listens at the address of the sandbox inside this process, and a curl line must work when pasted.
    const pasted = kind === 'sandbox' && options.curl;
    if (pasted) note('The line works while sotra sandbox start runs, with SOTRA_API_KEY=sandbox-key-a exported.');
    const preview = options.dryRun || options.curl;
    if (apiKey === null && !preview && !keyless) throw keyMissing(await service());
    return {
      baseUrl: pasted ? servedSandboxUrl : baseUrl,
      apiKey: apiKey ?? (preview ? 'missing' : null),
      hideKey: await hideKey(),
      wire,
      transport: preview ? previewing : await transport(),
      userAgent: `sotra/${world.version}`,
      timeoutMs: options.timeoutMs,
      maxTimeMs: options.maxTimeMs,
      retries: options.retries,
      maxWaitMs: options.maxWaitMs,
      maxBodyBytes: options.maxBodyBytes,
      fits,
      strict: options.strict,
      signal: world.signal,
      now: world.now,
      random: world.random,
      sleep: world.sleep,
      warn: (text) => {
        misfits += 1;
        warn(text);
      },
      observe: preview ? () => undefined : await observe(),
    };
  };
  const context: Context = {
    world,
    options,
    program,
    service,
    store: once(async () => {
      const { directories, openStore } = await import('./store.ts');
      return openStore(directories(world.env).config);
    }),
    dataDirectory: async () => (await import('./store.ts')).directories(world.env).data,
    call: async (endpoint, input, link) => {
      const caller = await callerFor(endpoint.keyless === true);
      if (options.dryRun || options.curl)
        throw new RequestPreview(buildRequest(encodeRequest(endpoint, input as never, caller.wire), caller));
      return callEndpoint(endpoint, input, caller, link);
    },
    ready: async () => {
      await callerFor(false);
    },
    request: async (wire) => {
      const caller = await callerFor(false);
      if (options.dryRun || options.curl) throw new RequestPreview(buildRequest(wire, caller));
      return sendRequest(wire, caller);
    },
    sawMisfit: () => misfits > 0,
    note,
    warn,
    takeHeads: () => {
      const text = [...heads].map((head) => head.text).join('');
      heads.clear();
      return text;
    },
    close: async () => {
      if (transport.started()) await (await transport()).close();
      if (trace.started()) (await trace())?.close();
    },
  };
  return context;
}

const previewing: Transport = {
  send: () => Promise.reject(new SotraError('internal', 'a previewed request was about to be sent')),
  close: async () => undefined,
};

async function findService(world: World, options: GlobalOptions): Promise<Service> {
  if (needsNoStore(options, world.env)) return resolveService(options, world.env, { contexts: {} });
  const { directories, openStore } = await import('./store.ts');
  const service = resolveService(options, world.env, openStore(directories(world.env).config).read());
  if (service.keyStore !== 'keychain' || options.dryRun || options.curl) return service;
  const { readKeychain } = await import('./keychain.ts');
  return { ...service, apiKey: await readKeychain(service) };
}

async function openTransport(service: Service, context: Context): Promise<Transport> {
  if (service.kind === 'sandbox') return (await import('./local-service.ts')).openLocalService(context);
  const { now, system, env } = context.world;
  return (await import('./api/transport.ts')).createTransport({ now, node: system.node, env });
}

function once<T>(make: () => Promise<T>): (() => Promise<T>) & { started: () => boolean } {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make();
    return made;
  };
  return Object.assign(get, { started: () => made !== undefined });
}

function keyMissing({ baseUrl, context, keyRefusedFor }: Service): SotraError {
  const { origin } = new URL(baseUrl);
  const why =
    keyRefusedFor === undefined ? '' : `; the stored one was saved for ${keyRefusedFor} and is not sent elsewhere`;
  return new SotraError('key-missing', `no API key for ${origin}${why}`, {
    hint: `Set SOTRA_API_KEY, or store one with sotra auth login${context === undefined ? '' : ` --context ${context}`}.`,
  });
}
