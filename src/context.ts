import { join } from 'node:path';
import type { z } from 'zod';
import type { GlobalOptions } from './cli/globals.ts';
import type { KnownCommands } from './cli/outline.ts';
import type { Endpoint, InputOf, Params } from './contract/endpoint.ts';
import { createFitCheck } from './contract/fits.ts';
import { encodeRequest, type WireRequest } from './contract/request.ts';
import { SotraError } from './errors.ts';
import { readBody } from './http/body.ts';
import type { Answer, Caller } from './http/client.ts';
import { buildRequest, callEndpoint, sendRequest } from './http/client.ts';
import { RequestPreview } from './http/preview.ts';
import { hidingKey } from './http/secrets.ts';
import { describeKey, needsNoStore, resolveService, type Service, servedSandboxUrl } from './settings/settings.ts';
import type { Store } from './settings/store.ts';
import type { LocalSandbox, Transport, World } from './world.ts';

/** What a command may use; one for each command line. */
export interface Context {
  world: World;
  options: GlobalOptions;
  program: KnownCommands;
  service: () => Promise<Service>;
  store: () => Promise<Store>;
  dataDirectory: () => Promise<string>;
  sandboxFile: () => Promise<string>;
  sandbox: () => Promise<LocalSandbox>;
  /** The answer of an endpoint, or of a link of the service. Errors as in `callEndpoint`; `key-missing` before anything is sent. */
  call: <P extends Params, R extends z.ZodType>(
    endpoint: Endpoint<string, P, R>,
    input: InputOf<P>,
    link?: string,
    /** Overrides `--retries`, for callers that repeat by themselves. */
    retries?: number,
  ) => Promise<Answer<z.output<R>>>;
  /** Resolves when a call could be made. Errors as in `call`. */
  ready: () => Promise<void>;
  request: (wire: WireRequest, more?: Pick<Caller, 'tellsBody'>) => Promise<Answer>;
  /** Replaces the listener for waits before a request is repeated. */
  onWait: (listener: (wait: { ms: number; why: string }) => void) => void;
  /** Whether any request was sent. */
  hasAsked: () => boolean;
  /** Whether an answer did not fit the contract. */
  sawMisfit: () => boolean;
  /** A line on stderr, unless `--quiet`. */
  note: (text: string) => void;
  warn: (text: string) => void;
  /** From now on lines are written as they come, also with `--json`: this command runs until it is stopped. */
  stream: () => void;
  /** Removes the spinner for good. */
  stopWaiting: () => void;
  /** Status and headers of the answers since the last call, for `--include`. */
  takeHeads: () => string;
  close: () => Promise<void>;
}

interface ContextOptions {
  world: World;
  options: GlobalOptions;
  program: KnownCommands;
  say: (line: string) => void;
  /** Told of requests and answers with `--verbose`, in place of `say`. */
  trace?: (line: string) => void;
  stream: () => void;
}

const defaultRetries = 2;

export function createContext({ world, options, program, say, trace: tell = say, stream }: ContextOptions): Context {
  const service = once(() => findService(world, options));
  const dataDirectory = async () => (await import('./settings/store.ts')).dataDirectory(world);
  const sandboxFile = async () => join(await dataDirectory(), 'sandbox.db');
  const sandbox = once(async () => {
    const { wire, serviceName, layout } = await service();
    return world.openSandbox({ file: await sandboxFile(), now: world.now, wire, serviceName, layout });
  });
  const transport = once(async () => world.transport ?? openTransport(await service(), context));
  const hideKey = once(async () => {
    const { kind, apiKey } = await service();
    // Those of the sandbox are no secret: its documentation names them.
    return hidingKey(kind === 'sandbox' ? null : apiKey);
  });
  const note = (text: string) => (options.quiet ? undefined : say(text));
  const warn = (text: string) => note(`warning: ${text}`);
  const heads = new Set<{ text: string }>();
  const trace = once(async () =>
    options.traceFile === undefined
      ? undefined
      : (await import('./http/observe.ts')).openTrace(options.traceFile, world.version),
  );
  let tellWait: Parameters<Context['onWait']>[0] = () => undefined;
  const watches = options.verbose || options.include || options.traceFile !== undefined;
  const watchOne = async () =>
    (await import('./http/observe.ts')).watchCall({
      say: options.verbose ? tell : undefined,
      heads: options.include ? heads : undefined,
      trace: await trace(),
      now: world.now,
    });
  let waitsInSilence = !world.io.err.isTTY || options.quiet || options.verbose || options.plain;
  const spinner = once(async () => {
    const { showWaiting } = await import('./output/progress.ts');
    const { noColor, ascii } = options;
    return showWaiting({ err: world.io.err, noColor, unicode: !ascii, now: world.now });
  });
  const observerFor = async (kind: Service['kind']): Promise<Caller['observe']> => {
    const watch = watches ? await watchOne() : undefined;
    const shown = waitsInSilence || kind === 'sandbox' ? undefined : await spinner();
    return (event) => {
      watch?.(event);
      if (event.kind === 'wait') tellWait(event);
      shown?.observe(event);
    };
  };
  const fits = createFitCheck();
  let misfits = 0;
  let asked = false;
  const callerFor = async (keyless: boolean, retries?: number): Promise<Caller> => {
    const { kind, baseUrl, apiKey, wire } = await service();
    // Nothing listens at the address of the in-process sandbox, and a curl line must work when pasted.
    const pasted = kind === 'sandbox' && options.curl;
    if (pasted) note('The line works while sotra sandbox start runs, with SOTRA_API_KEY=sandbox-key-a exported.');
    const { preview } = options;
    if (apiKey === null && !preview && !keyless) throw keyMissing(await service());
    return {
      baseUrl: pasted ? servedSandboxUrl : baseUrl,
      apiKey: apiKey ?? (preview ? 'missing' : null),
      keyName: describeKey(await service()),
      hideKey: await hideKey(),
      wire,
      transport: preview ? previewing : await transport(),
      userAgent: `sotra/${world.version}`,
      timeoutMs: options.timeoutMs,
      maxTimeMs: options.maxTimeMs,
      retries: retries ?? options.retries ?? defaultRetries,
      maxWaitMs: options.maxWaitMs,
      maxBodyBytes: options.maxBodyBytes,
      readBody,
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
      observe: preview ? () => undefined : await observerFor(kind),
    };
  };
  const context: Context = {
    world,
    options,
    program,
    service,
    store: once(async () => {
      const { configDirectory, openStore } = await import('./settings/store.ts');
      const store = openStore(configDirectory(world));
      // A dry run computes the change, with its refusals, and writes nothing.
      return options.dryRun ? { ...store, update: async (_, change) => change(store.read()) } : store;
    }),
    dataDirectory,
    sandboxFile,
    sandbox,
    call: async (endpoint, input, link, retries) => {
      const caller = await callerFor(endpoint.keyless === true, retries);
      if (options.preview)
        throw new RequestPreview(buildRequest(encodeRequest(endpoint, input as never, caller.wire), caller));
      asked = true;
      return callEndpoint(endpoint, input, caller, link);
    },
    ready: async () => {
      await callerFor(false);
    },
    request: async (wire, more) => {
      const caller = await callerFor(false);
      if (options.preview) throw new RequestPreview(buildRequest(wire, caller));
      asked = true;
      return sendRequest(wire, { ...caller, ...more });
    },
    onWait: (listener) => {
      tellWait = listener;
    },
    hasAsked: () => asked,
    sawMisfit: () => misfits > 0,
    note,
    warn,
    stream,
    takeHeads: () => {
      const text = [...heads].map((head) => head.text).join('');
      heads.clear();
      return text;
    },
    stopWaiting: () => {
      waitsInSilence = true;
      if (spinner.started()) void spinner().then((shown) => shown.stop());
    },
    close: async () => {
      context.stopWaiting();
      if (transport.started()) await (await transport()).close();
      else if (sandbox.started()) await (await sandbox()).close();
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
  const { configDirectory, openStore } = await import('./settings/store.ts');
  const service = resolveService(options, world.env, openStore(configDirectory(world)).read());
  if (service.keyStore !== 'keychain' || options.preview) return service;
  const { readKeychain } = await import('./settings/keychain.ts');
  return { ...service, apiKey: await readKeychain(service) };
}

async function openTransport(service: Service, context: Context): Promise<Transport> {
  if (service.kind === 'sandbox') return context.sandbox();
  return httpTransport(context.world);
}

/** What sends requests to a service. */
export async function httpTransport({ transport, now, system, env }: World): Promise<Transport> {
  return transport ?? (await import('./http/transport.ts')).createTransport({ now, node: system.node, env });
}

function once<T>(make: () => Promise<T>): (() => Promise<T>) & { started: () => boolean } {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make();
    return made;
  };
  return Object.assign(get, { started: () => made !== undefined });
}

function keyMissing({ baseUrl, context, isElsewhere, keyRefusedFor }: Service): SotraError {
  const { origin } = new URL(baseUrl);
  const why =
    keyRefusedFor === undefined ? '' : `; the stored one was saved for ${keyRefusedFor} and is not sent elsewhere`;
  const where = isElsewhere ? ` --context <name> --base-url ${baseUrl}` : ` --context ${context}`;
  return new SotraError('key-missing', `no API key for ${origin}${why}`, {
    hint: `Set SOTRA_API_KEY, or store one with sotra auth login${where}.`,
  });
}
