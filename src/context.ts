import { join } from 'node:path';
import type { Endpoint, InputOf, Params } from './api/endpoint.ts';
import type { AnyEndpoint } from './api/endpoints.ts';
import { findMisfit } from './api/misfit.ts';
import { encodeRequest, type WireRequest } from './api/request.ts';
import { callAndCheck } from './client/check-answer.ts';
import type { CallAnswer, ClientConfig } from './client/client.ts';
import { buildRequest, sendRequest } from './client/client.ts';
import { hideKeyInAnswers } from './client/hide-key.ts';
import { hints } from './client/hints.ts';
import { callPolicy, createRate } from './client/retry.ts';
import { secretHider } from './client/secrets.ts';
import { command } from './client/shell.ts';
import { type HttpRequest, maxAnswerBytes, type Transport } from './client/transport.ts';
import type { GlobalOptions } from './commands/options.ts';
import { isExplained, SotraError } from './errors.ts';
import { describeKey, needsNoStore, resolveService, type Service, servedSandboxUrl } from './lib/config/settings.ts';
import type { SettingsStore } from './lib/config/store.ts';
import type { Io } from './lib/io.ts';
import type { AnyView } from './lib/output/view.ts';

/** What a command may use; one for each command line. */
export interface Context {
  /** As typed. */
  argv: readonly string[];
  io: Io;
  options: GlobalOptions;
  service: () => Promise<Service>;
  store: () => Promise<SettingsStore>;
  dataDirectory: () => Promise<string>;
  sandboxFile: () => Promise<string>;
  /** The rows and columns of each endpoint's answer, by its id, as its command prints them. */
  views: () => Promise<Readonly<Record<AnyEndpoint['id'], AnyView>>>;
  /** The answer of an endpoint, or of a link of the service. Errors as in `callEndpoint`; `key-missing` before anything is sent. */
  call: <P extends Params, Answer>(
    endpoint: Endpoint<string, P, Answer>,
    input: InputOf<P>,
    link?: string,
    /** Overrides `--retries`, for callers that repeat by themselves. */
    retries?: number,
  ) => Promise<CallAnswer<Answer>>;
  /** Resolves when a call could be made. Errors as in `call`. */
  ready: () => Promise<void>;
  request: (wire: WireRequest, more?: Pick<ClientConfig, 'includeBodyInError'>) => Promise<CallAnswer>;
  /** What `call` would send. */
  previewCall: <P extends Params>(endpoint: Endpoint<string, P>, input: InputOf<P>) => Promise<HttpRequest>;
  /** What `request` would send. */
  previewRequest: (wire: WireRequest) => Promise<HttpRequest>;
  /** Replaces the listener for waits before a request is repeated. */
  onWait: (listener: (wait: { ms: number; why: string }) => void) => void;
  hasAsked: () => boolean;
  sawMisfit: () => boolean;
  /** Runs another command line, perhaps with another `Io`, and returns its exit code. Errors: those of that line. */
  /** A line on stderr, unless `--quiet`. */
  note: (text: string) => void;
  warn: (text: string) => void;
  /** From now on lines are written as they come, also with `--json`: this command runs until it is stopped. */
  stream: () => void;
  /** Removes the spinner for good. */
  stopWaiting: () => void;
  /** With what ended the command, if it failed; returns whether `sotra why` explains it. */
  close: (failed?: SotraError) => Promise<boolean>;
}

interface ContextOptions {
  argv: readonly string[];
  io: Io;
  options: GlobalOptions;
  say: (line: string) => void;
  /** Told of requests and answers with `--verbose`, in place of `say`. */
  trace?: (line: string) => void;
  stream: () => void;
  views: Context['views'];
  /** In place of the one that flags, environment and settings name. */
  knownService?: Service;
  /** Whether a page asks, not what was typed. */
  isPage?: boolean;
}

export function createContext(given: ContextOptions): Context {
  const { argv, io, options, stream, views } = given;
  const places = openPlaces(io, options);
  const served = openService(given, places);
  const watcher = watchCalls(given);
  const calls = makeCalls(given, places, served, watcher);
  const { dataDirectory, sandboxFile, store } = places;
  const { note, warn, onWait, stopWaiting } = watcher;
  const { call, ready, request, previewCall, previewRequest, hasAsked, sawMisfit } = calls;
  return {
    ...{ argv, io, options, stream, views },
    ...{ store, dataDirectory, sandboxFile, service: served.service },
    ...{ call, ready, request, previewCall, previewRequest, hasAsked, sawMisfit },
    ...{ note, warn, onWait, stopWaiting },
    close: async (failed) => {
      stopWaiting();
      const isKept = await calls.closeLog(failed);
      await served.close();
      return isKept;
    },
  };
}

/** Where what is kept on this machine stands. */
function openPlaces(io: Io, options: GlobalOptions) {
  const store = once(async () => {
    const { configDirectory, openSettings } = await import('./lib/config/store.ts');
    const opened = openSettings(configDirectory(io));
    // A preview computes the change, with its refusals, and writes nothing.
    if (options.preview)
      return { ...opened, update: async (_, change) => change(opened.read()) } satisfies SettingsStore;
    return opened;
  });
  const dataDirectory = async () => (await import('./lib/config/store.ts')).dataDirectory(io);
  return {
    store,
    dataDirectory,
    sandboxFile: async () => join(await dataDirectory(), 'sandbox.db'),
  };
}

/** The service or the sandbox, and the way there. */
function openService({ io, options, knownService }: ContextOptions, { store, sandboxFile }: Places) {
  const service = once(async () => knownService ?? findService({ io, options, store }));
  const transport = once(async () => {
    const { kind, wire, serviceName, layout } = await service();
    if (io.transport !== undefined || kind !== 'sandbox') return httpTransport(io);
    return io.openSandbox({ file: await sandboxFile(), now: io.now, wire, serviceName, layout });
  });
  return {
    service,
    transport,
    close: async () => {
      if (transport.started()) await (await transport()).close();
    },
  };
}

/** What is said while calls are made: notes, `--verbose`, the spinner. */
function watchCalls({ io, options, say, trace = say }: ContextOptions) {
  const note = (text: string) => (options.quiet ? undefined : say(text));
  let tellWait: Parameters<Context['onWait']>[0] = () => undefined;
  let waitsInSilence = !io.err.isTTY || options.quiet || options.verbose;
  const spinner = once(async () => {
    const { showWaiting } = await import('./lib/output/progress.ts');
    const { noColor } = options;
    const { shownWaitMs: shownMs } = io;
    return showWaiting({ err: io.err, noColor, now: io.now, shownMs });
  });
  return {
    note,
    warn: (text: string) => note(`warning: ${text}`),
    onWait: (listener: typeof tellWait) => {
      tellWait = listener;
    },
    observe: async (kind: Service['kind']): Promise<ClientConfig['observe']> => {
      const watch = options.verbose ? (await import('./client/observe.ts')).watchCall(trace) : undefined;
      const shown = waitsInSilence || kind === 'sandbox' ? undefined : await spinner();
      return (event) => {
        watch?.(event);
        if (event.kind === 'wait') tellWait(event);
        shown?.observe(event);
      };
    },
    stopWaiting: () => {
      waitsInSilence = true;
      if (spinner.started()) void spinner().then((shown) => shown.stop());
    },
  };
}

type Places = ReturnType<typeof openPlaces>;
type Served = ReturnType<typeof openService>;
type Watcher = ReturnType<typeof watchCalls>;

/** Calls of the service, each kept in the log. */
function makeCalls(
  { argv, io, options, isPage }: ContextOptions,
  { dataDirectory }: Places,
  served: Served,
  watcher: Watcher,
) {
  const { service, transport } = served;
  const { note, warn } = watcher;
  const hideKey = once(async () => {
    const { kind, apiKey } = await service();
    // Those of the sandbox are no secret: its documentation names them.
    return hideKeyInAnswers(kind === 'sandbox' ? null : apiKey);
  });
  const callLog = once(async () => {
    const logged = { argv, isPage, io, dataDirectory, warn };
    // A command that failed before it needed the service is not to ask the keychain for its key now.
    const known = service.started() ? await service().catch(() => undefined) : undefined;
    return (await import('./calls/keep-calls.ts')).openCallLog({ ...logged, service: known });
  });
  const takeTurn = options.rate === undefined ? undefined : createRate(options.rate, io);
  let misfits = 0;
  const misfitTexts = new Set<string>();
  const warnOfMisfit = (text: string) => {
    misfits += 1;
    // Pages and rounds mostly miss the contract alike.
    if (!misfitTexts.has(text)) warn(text);
    misfitTexts.add(text);
  };
  let asked = false;
  const tellHowToPaste = once(async () =>
    note('The line works while sotra sandbox start runs, with SOTRA_API_KEY=sandbox-key-a exported.'),
  );
  const createConfig = async (keyless: boolean, retries?: number): Promise<ClientConfig> => {
    const { kind, baseUrl, apiKey, wire } = await service();
    // Nothing listens at the address of the in-process sandbox, and a curl line must work when pasted.
    const pasted = kind === 'sandbox' && options.curl;
    if (pasted) await tellHowToPaste();
    const { preview, timeoutMs, maxTimeMs, maxWaitMs } = options;
    if (apiKey === null && !preview && !keyless) throw keyMissing(await service());
    const { signal, now, random, sleep } = io;
    return {
      ...{ timeoutMs, maxTimeMs, maxWaitMs, wire, takeTurn, signal, now, random, sleep },
      baseUrl: pasted ? servedSandboxUrl : baseUrl,
      apiKey: apiKey ?? (preview ? 'missing' : null),
      keyName: describeKey(await service()),
      hide: secretHider(apiKey ?? undefined),
      hideKey: await hideKey(),
      transport: preview ? previewing : await transport(),
      userAgent: `sotra/${io.version}`,
      hints,
      retries: retries ?? options.retries ?? callPolicy.retries,
      maxBodyBytes: io.maxAnswerBytes ?? maxAnswerBytes,
      warn: warnOfMisfit,
      observe: preview ? () => undefined : await watcher.observe(kind),
    };
  };
  const call: Context['call'] = async (endpoint, input, link, retries) => {
    const config = await createConfig(endpoint.keyless === true, retries);
    asked = true;
    const log = await callLog();
    const { strict } = options;
    const check = { strict, findMisfit: strict ? await loadStrictCheck() : findMisfit };
    return log.keep(config, (watched) => callAndCheck(endpoint, input, { ...watched, ...check }, link));
  };
  const request: Context['request'] = async (wire, more) => {
    const config = await createConfig(false);
    asked = true;
    return (await callLog()).keep({ ...config, ...more }, (watched) => sendRequest(wire, watched));
  };
  const previewCall: Context['previewCall'] = async (endpoint, input) => {
    const config = await createConfig(endpoint.keyless === true);
    return buildRequest(encodeRequest(endpoint, input as never, config.wire), config);
  };
  const previewRequest: Context['previewRequest'] = async (wire) => buildRequest(wire, await createConfig(false));
  return {
    call,
    request,
    previewRequest,
    previewCall,
    ready: async () => {
      await createConfig(false);
    },
    hasAsked: () => asked,
    sawMisfit: () => misfits > 0,
    /** Returns whether `sotra why` explains the failure. */
    closeLog: async (failed?: SotraError): Promise<boolean> =>
      failed !== undefined && isExplained(failed.exitCode) && (await callLog()).keepFailure(failed),
  };
}

const previewing: Transport = {
  send: () => Promise.reject(new SotraError('internal', 'a previewed request was about to be sent')),
  close: async () => undefined,
};

type ServiceSource = Pick<Context, 'io' | 'options' | 'store'>;

async function findService({ io, options, store }: ServiceSource): Promise<Service> {
  if (needsNoStore(options, io.env)) return resolveService(options, io.env, { contexts: {} });
  const stored = (await store()).read();
  const service = resolveService(options, io.env, stored);
  const { keyStore, context: name = '', baseUrl } = service;
  if (keyStore !== 'keychain' || options.preview) return service;
  const { readKeychain } = await import('./lib/config/keychain.ts');
  return { ...service, apiKey: await readKeychain({ name, baseUrl }, { io, options }) };
}

export async function httpTransport({ transport, now, system, env }: Io): Promise<Transport> {
  return transport ?? (await import('./client/network.ts')).createNetwork({ now, node: system.node, env });
}

function once<T>(make: () => Promise<T>): (() => Promise<T>) & { started: () => boolean } {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make();
    return made;
  };
  return Object.assign(get, { started: () => made !== undefined });
}

function keyMissing({ baseUrl, context, isElsewhere, keyProblem }: Service): SotraError {
  const { origin } = new URL(baseUrl);
  const why = keyProblem === undefined ? '' : `; ${keyProblem}`;
  const where = isElsewhere
    ? command` --context <name> --base-url ${baseUrl}`
    : command` --context ${context ?? '<name>'}`;
  return new SotraError('key-missing', `no API key for ${origin}${why}`, {
    hint: `Set SOTRA_API_KEY, or store one with sotra auth login${where}.`,
  });
}

/** Also finds values that the document does not list where it lists them. */
async function loadStrictCheck(): Promise<typeof findMisfit> {
  const { findUnknownValue } = await import('./api/known-values.ts');
  return (schema, value) => findUnknownValue(schema, value) ?? findMisfit(schema, value);
}
