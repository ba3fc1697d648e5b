import type { Rate } from '../api/duration.ts';
import type { Endpoint, InputOf, Params } from '../api/endpoint.ts';
import { encodeRequest, type WireRequest } from '../api/request.ts';
import {
  buildRequest,
  type CallAnswer,
  type CallEvent,
  type ClientConfig,
  callAndCheck,
  type RequestChange,
  sendRequest,
} from '../client/client.ts';
import { callPolicy } from '../client/retry.ts';
import { hideKeyInAnswers, secretHider } from '../client/secrets.ts';
import { type HttpRequest, type Transport, usualLimits } from '../client/transport.ts';
import { isExplained, SotraError } from '../errors.ts';
import {
  type Config,
  describeKey,
  missingKeyError,
  type Service,
  sandboxFile,
  servedSandboxUrl,
} from '../lib/config/config.ts';
import { type Io, lazy } from '../lib/io.ts';
import { type CallLog, logCall, logFailure, openCallLog } from './log.ts';

type WaitEvent = Extract<CallEvent, { kind: 'wait' }>;

/** Calls of the service in use; each is written to the history. */
export interface ServiceClient {
  /**
   * The answer of an endpoint. `retries` overrides `--retries`. Errors: as in `callAndCheck`; `key-missing` before
   * anything is sent.
   */
  call: <P extends Params, Answer>(
    endpoint: Endpoint<string, P, Answer>,
    input: InputOf<P>,
    change?: RequestChange & { retries?: number | undefined },
  ) => Promise<CallAnswer<Answer>>;
  /** The answer of any request. Errors: as in `sendRequest`; `key-missing`. */
  request: (wire: WireRequest, more?: Pick<ClientConfig, 'includeBodyInError'>) => Promise<CallAnswer>;
  /** What `call` would send. */
  previewCall: <P extends Params>(endpoint: Endpoint<string, P>, input: InputOf<P>) => Promise<HttpRequest>;
  /** What `request` would send. */
  previewRequest: (wire: WireRequest) => Promise<HttpRequest>;
  /** Errors: `key-missing`, and those of the settings. */
  requireKey: () => Promise<void>;
  /** Counts of the calls so far. */
  readonly seen: { calls: number; mismatches: Set<string> };
  /** Called before the wait for another attempt. */
  onWait: (wait: WaitEvent) => void;
  /** Removes the spinner for good. */
  stopSpinner: () => void;
  /** Ends the connections and writes to the history how the command failed, if it did; returns whether `sotra why` has a call to explain. */
  close: (failed?: SotraError) => Promise<boolean>;
}

/** The options of a command line on which its calls depend. */
interface CallOptions {
  timeoutMs: number;
  maxTimeMs: number;
  maxWaitMs: number;
  retries: number | undefined;
  rate: Rate | undefined;
  strict: boolean;
  preview: boolean;
  curl: boolean;
  quiet: boolean;
  verbose: boolean;
}

interface ServiceClientOptions {
  argv: readonly string[];
  io: Io;
  options: CallOptions;
  config: Config;
  note: (text: string) => void;
  warn: (text: string) => void;
  /** Prints the requests and answers of `--verbose`. */
  trace: (line: string) => void;
}

export function createServiceClient(given: ServiceClientOptions): ServiceClient {
  const { io, options, config, note, warn, trace } = given;
  const transport = lazy(async () => openTransport(io, await config.service()));
  const hiders = lazy(async () => makeHiders(await config.service()));
  const log = lazy(() => openLog(given));
  const spinner = lazy(() => openSpinner(given));
  const takeTurn = options.rate === undefined ? undefined : createRate(options.rate, io);
  const noteHowToPaste = lazy(async () =>
    note('The line works while sotra sandbox start runs, with SOTRA_API_KEY=sandbox-key-a exported.'),
  );
  let showsSpinner = io.err.isTTY && !options.quiet && !options.verbose;

  const observeCall = async (kind: Service['kind']): Promise<ClientConfig['observe']> => {
    const print = options.verbose ? (await import('../client/preview.ts')).watchCall(trace) : undefined;
    const shown = showsSpinner && kind !== 'sandbox' ? await spinner() : undefined;
    return (event) => {
      print?.(event);
      if (event.kind === 'wait') client.onWait(event);
      shown?.observe(event);
    };
  };

  const warnOfMismatch = (text: string) => {
    // Pages and rounds mostly miss the contract alike, in other rows.
    const place = text.replaceAll(/\.\d+\./g, '.');
    if (!client.seen.mismatches.has(place)) warn(text);
    client.seen.mismatches.add(place);
  };

  const createConfig = async (keyless: boolean, retries?: number): Promise<ClientConfig> => {
    const service = await config.service();
    const { kind, baseUrl, apiKey, wire } = service;
    const { preview, timeoutMs, maxTimeMs, maxWaitMs } = options;
    // Nothing listens at the address of the in-process sandbox, and a curl line must work when pasted.
    const isPasted = kind === 'sandbox' && options.curl;
    if (isPasted) await noteHowToPaste();
    if (apiKey === null && !preview && !keyless) throw missingKeyError(service);
    return {
      baseUrl: isPasted ? servedSandboxUrl : baseUrl,
      apiKey: apiKey ?? (preview ? 'missing' : null),
      explain: async (error, failed) => {
        const { explainRequestError } = await import('../client/hints.ts');
        return explainRequestError(error, failed, {
          timeoutMs,
          maxTimeMs,
          maxWaitMs,
          baseUrl,
          keyName: describeKey(service),
        });
      },
      ...(await hiders()),
      wire,
      transport: preview ? previewTransport : await transport(),
      userAgent: `sotra/${io.version}`,
      takeTurn,
      retries: retries ?? options.retries ?? callPolicy.retries,
      timeoutMs,
      maxTimeMs,
      maxWaitMs,
      maxBodyBytes: io.maxAnswerBytes ?? usualLimits.maxBodyBytes,
      signal: io.signal,
      now: io.now,
      random: io.random,
      sleep: io.sleep,
      observe: preview ? () => undefined : await observeCall(kind),
      warn: warnOfMismatch,
    };
  };

  const client: ServiceClient = {
    call: async (endpoint, input, change) => {
      const clientConfig = await createConfig(endpoint.keyless === true, change?.retries);
      client.seen.calls += 1;
      return logCall(await log(), clientConfig, (logged) =>
        callAndCheck(endpoint, input, { ...logged, strict: options.strict }, change),
      );
    },
    request: async (wire, more) => {
      const clientConfig = await createConfig(false);
      client.seen.calls += 1;
      return logCall(await log(), { ...clientConfig, ...more }, (logged) => sendRequest(wire, logged));
    },
    previewCall: async (endpoint, input) => {
      const clientConfig = await createConfig(endpoint.keyless === true);
      return buildRequest(encodeRequest(endpoint, input as never, clientConfig.wire), clientConfig);
    },
    previewRequest: async (wire) => buildRequest(wire, await createConfig(false)),
    requireKey: async () => void (await createConfig(false)),
    seen: { calls: 0, mismatches: new Set() },
    onWait: () => undefined,
    stopSpinner: () => {
      showsSpinner = false;
      if (spinner.started()) void spinner().then(({ stop }) => stop());
    },
    close: async (failed) => {
      client.stopSpinner();
      const isOfCall = failed !== undefined && isExplained(failed.exitCode) && logFailure(await log(), failed);
      if (transport.started()) await (await transport()).close();
      return isOfCall;
    },
  };
  return client;
}

/** Waits for the turn of each request that shares a rate, evenly spaced, and returns for how many milliseconds. Rejects with the signal. */
export function createRate(
  { count, perMs }: Pick<Rate, 'count' | 'perMs'>,
  { now, sleep, signal }: Pick<Io, 'now' | 'sleep' | 'signal'>,
): () => Promise<number> {
  let nextMs = 0;
  return async () => {
    const waitMs = Math.max(0, nextMs - now());
    nextMs = now() + waitMs + perMs / count;
    if (waitMs > 0) await sleep(Math.ceil(waitMs), signal);
    return waitMs;
  };
}

/** The network, or the sandbox inside this process. */
async function openTransport(io: Io, { kind, wire, serviceName, layout }: Service): Promise<Transport> {
  if (io.transport !== undefined || kind !== 'sandbox') return (await import('../client/network.ts')).createNetwork(io);
  return io.openSandbox({ file: sandboxFile(io), now: io.now, wire, serviceName, layout });
}

/** Made once per command: each compiles a pattern of the key. */
function makeHiders({ apiKey, kind }: Service): Pick<ClientConfig, 'hide' | 'hideKey'> {
  return {
    hide: secretHider(apiKey ?? undefined),
    // The keys of the sandbox are no secret: its documentation names them.
    hideKey: hideKeyInAnswers(kind === 'sandbox' ? null : apiKey),
  };
}

async function openLog({ argv, io, config, warn }: ServiceClientOptions): Promise<CallLog> {
  // A command that failed before it needed the service must not ask the keychain for its key now.
  const service = config.service.started() ? await config.service().catch(() => undefined) : undefined;
  return openCallLog({ argv, io, service, warn });
}

async function openSpinner({ io }: ServiceClientOptions) {
  const { showWaiting } = await import('../lib/output/progress.ts');
  return showWaiting({ err: io.err, now: io.now, shownMs: io.shownWaitMs });
}

const previewTransport: Transport = {
  send: () => Promise.reject(new SotraError('internal', 'a previewed request was about to be sent')),
  close: async () => undefined,
};
