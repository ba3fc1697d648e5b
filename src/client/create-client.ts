import type { AnswerOf, Endpoint, InputOf, WireNames } from '../api/endpoint.ts';
import type { AnyEndpoint } from '../api/endpoints.ts';
import { checkBaseUrl, requireSendableKey } from '../api/http-address.ts';
import { defined } from '../api/json.ts';
import { signedText, type TextFields, type TextForm } from '../api/signed-text.ts';
import { SotraError, usageError, withoutHint, withoutHints } from '../errors.ts';
import { type ClientConfig, requestEndpoint } from './client.ts';
import { endpointTable, type TableRow } from './endpoint-table.ts';
import { cutFailure, NetworkFailure, readFailure } from './failures.ts';
import { identifyItem, walkPages } from './paginate.ts';
import { callPolicy } from './retry.ts';
import { keyHider } from './secrets.ts';
import { type HttpResponse, maxTimerMs, type Transport, usualLimits } from './transport.ts';

export type { TextFields, TextForm } from '../api/signed-text.ts';
export type { ErrorCode } from '../errors.ts';
export { SotraError } from '../errors.ts';

/** Options of a client. */
export interface ClientOptions {
  /** Address of the service, such as `https://api.example.com`; plain http only to loopback addresses. */
  baseUrl: string;
  /** Partner API key. It does not belong in a page that others can open. */
  apiKey?: string | undefined;
  /** First word of the texts that comments are signed over, for `client.comment.text`. */
  serviceName?: string | undefined;
  /** Layout of those texts; default `five-line`. */
  layout?: TextForm['layout'] | undefined;
  /** Other names that this deployment gives to parameters: `{ 'leaderboard.list.limit': 'count' }`. */
  wire?: Readonly<Record<string, string>> | undefined;
  /** Attempts after the first; default 2. */
  retries?: number | undefined;
  /** How long to wait for the connection, the first byte or the next one; default 30,000. */
  timeoutMs?: number | undefined;
  /** How long a call may take with all its attempts and waits; default 600,000. */
  maxTimeMs?: number | undefined;
  /** The longest `Retry-After` that is obeyed; default 60,000. */
  maxWaitMs?: number | undefined;
  /** The largest answer; default 64 MB. */
  maxBodyBytes?: number | undefined;
  /** Replaces the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call, its waits and its further attempts: it rejects with `interrupted`. */
  signal?: AbortSignal | undefined;
}

/** `leaderboard.list`: the name of an endpoint. */
export type EndpointId = AnyEndpoint['id'];

type EndpointOf<Id extends EndpointId> = Extract<AnyEndpoint, { id: Id }>;
type ReadonlyLists<Fields> = {
  [K in keyof Fields]: Fields[K] extends readonly (infer Item)[] | undefined
    ? readonly Item[] | Extract<Fields[K], undefined>
    : Fields[K];
};

/** The input of a method, by the id of its endpoint: `Input<'leaderboard.list'>`. */
export type Input<Id extends EndpointId> = ReadonlyLists<InputOf<EndpointOf<Id>['params']>>;

/** The answer of a method: `Answer<'leaderboard.list'>`. */
export type Answer<Id extends EndpointId> = AnswerOf<EndpointOf<Id>>;

type KnownKey<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };
type ListItem<T> = T extends readonly (infer Item)[] ? Item : never;

/** An item of the pages of a list: of the answer itself, or of the list that it holds. */
export type Item<Id extends EndpointId> =
  Answer<Id> extends readonly unknown[]
    ? ListItem<Answer<Id>>
    : { [K in KnownKey<Answer<Id>>]-?: ListItem<Answer<Id>[K]> }[KnownKey<Answer<Id>>];

type Arguments<Id extends EndpointId> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, options?: CallOptions]
    : [input: Input<Id>, options?: CallOptions];

type Method<Id extends EndpointId> = (...given: Arguments<Id>) => Promise<Answer<Id>>;

interface PagedMethod<Id extends EndpointId> extends Method<Id> {
  /** Each item of all pages, once, in the order of the service. */
  all: (...given: Arguments<Id>) => AsyncGenerator<Item<Id>, void, undefined>;
}

type CamelCase<Verb extends string> = Verb extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Verb;
type Noun = EndpointId extends infer Id ? (Id extends `${infer Name}.${string}` ? Name : never) : never;
type Methods<Name extends Noun> = {
  readonly [Id in Extract<EndpointId, `${Name}.${string}`> as Id extends `${Name}.${infer Verb}`
    ? CamelCase<Verb>
    : never]: EndpointOf<Id> extends { paging: object } ? PagedMethod<Id> : Method<Id>;
};

/** A method for each endpoint, by noun and verb. Errors: each call that fails rejects with a SotraError. */
export type Client = { readonly [Name in Exclude<Noun, 'comment'>]: Methods<Name> } & {
  readonly comment: Methods<'comment'> & {
    /** The text that the author of a comment signs, in the layout of this client. */
    text: (fields: TextFields) => string;
  };
};

/**
 * A client of the service. Clients share nothing. Names of inputs are checked, their values by the service. Errors: SotraError `usage` for
 * an option that is wrong, `no-service`, `insecure-url`, `config` for a key that no header can hold.
 */
export function createClient(options: ClientOptions): Client {
  const { serviceName, layout = 'five-line' } = options;
  const config = withoutHints(() => createConfig(options));
  const client: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpointTable) {
    const [noun, verb] = methodName(endpoint);
    client[noun] = { ...client[noun], [verb]: createMethod(endpoint, config) };
  }
  const text = (fields: TextFields): string => {
    if (serviceName === undefined) throw usageError('serviceName is required');
    return signedText(fields, { serviceName, layout });
  };
  return { ...client, comment: { ...client['comment'], text } } as unknown as Client;
}

/** `webhook.add-addresses` is `client.webhook.addAddresses`. */
export function methodName({ id }: Pick<Endpoint, 'id'>): [noun: string, verb: string] {
  const [noun = '', verb = ''] = id.split('.');
  return [noun, verb.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
}

type Values = Readonly<Record<string, unknown>>;

function createMethod(endpoint: TableRow, base: ClientConfig) {
  const { paging, keyless } = endpoint;
  const configFor = ({ signal = base.signal }: CallOptions): ClientConfig => {
    if (base.apiKey === null && !keyless)
      throw new SotraError('key-missing', `no API key for ${new URL(base.baseUrl).origin}`);
    if (signal.aborted) throw new SotraError('interrupted', 'interrupted', { cause: signal.reason, outcome: 'unsent' });
    return { ...base, signal };
  };
  const request = async (input: Values, config: ClientConfig, link?: string) => {
    try {
      return await requestEndpoint(endpoint, input, config, { link });
    } catch (thrown) {
      throw withoutHint(thrown);
    }
  };
  const call = async (input: Values = {}, options: CallOptions = {}): Promise<unknown> => {
    checkNames(endpoint, input);
    return (await request(input, configFor(options))).data;
  };
  if (paging === undefined) return call;
  /** An item that moved to a later page while they were read is not given again. */
  const all = async function* (input: Values = {}, options: CallOptions = {}) {
    checkNames(endpoint, input);
    const config = configFor(options);
    const fetchPage = (asked: Values, link?: string) => request(asked, config, link);
    const seen = new Set<string>();
    for await (const items of walkPages({ paging, input, fetchPage, max: undefined, onMaxReached: () => undefined }))
      for (const item of items) {
        const name = identifyItem(item);
        if (paging.kind !== 'limit' && seen.has(name)) continue;
        seen.add(name);
        yield item;
      }
  };
  return Object.assign(call, { all });
}

function checkNames({ id, params }: TableRow, input: Values): void {
  const names = Object.keys(params);
  const unknown = Object.keys(input).find((name) => !names.includes(name));
  if (unknown !== undefined) throw usageError(`${id} has no input ${unknown}: it takes ${names.join(', ') || 'none'}`);
  const missing = names.filter((name) => input[name] === undefined && !params[name]?.kind.optional);
  if (missing.length > 0) throw usageError(`${id} requires ${missing.join(', ')}`);
}

const ownOptions = ['baseUrl', 'apiKey', 'serviceName', 'layout', 'wire', 'retries', 'fetch'];
const optionNames = [...ownOptions, ...Object.keys(usualLimits)];

function createConfig(options: ClientOptions): ClientConfig {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined) throw usageError(`createClient has no option ${unknown}`);
  const { baseUrl, apiKey, wire = {}, fetch = globalThis.fetch } = options;
  if (baseUrl === undefined) throw new SotraError('no-service', 'baseUrl is required');
  checkWire(wire);
  const key = apiKey === undefined ? null : requireSendableKey(apiKey);
  const limits = { ...usualLimits, retries: callPolicy.retries, ...defined(options) };
  const number = (name: 'retries' | keyof typeof usualLimits) => checkNumber(name, limits[name]);
  return {
    baseUrl: checkBaseUrl(baseUrl),
    apiKey: key,
    hide: keyHider(apiKey),
    // The service's own data stay as they are; errors quote it.
    hideKey: (answer) => answer,
    wire,
    transport: createFetchTransport((url, init) => fetch(url, init)),
    userAgent: null,
    retries: number('retries'),
    timeoutMs: number('timeoutMs'),
    maxTimeMs: number('maxTimeMs'),
    maxWaitMs: number('maxWaitMs'),
    maxBodyBytes: number('maxBodyBytes'),
    signal: new AbortController().signal,
    now: Date.now,
    random: Math.random,
    sleep,
    observe: () => undefined,
  };
}

function checkWire(wire: WireNames): void {
  const known = endpointTable.flatMap(({ id, params }) =>
    Object.keys(params).flatMap((key) => (params[key]?.source === 'spec' ? [] : [`${id}.${key}`, `*.${key}`])),
  );
  const unknown = Object.keys(wire).find((name) => !known.includes(name));
  if (unknown !== undefined) throw usageError(`wire ${unknown} cannot be renamed`);
}

function checkNumber(name: string, value: number): number {
  const [min, max] = name === 'retries' ? [0, 20] : [name === 'maxWaitMs' ? 0 : 1, maxTimerMs];
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw usageError(`${name} ${JSON.stringify(value)}: must be from ${min} to ${max}`);
}

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A transport over `fetch`. Errors: also SotraError `redirect` if a browser hides the target of a redirect. */
export function createFetchTransport(fetch: Fetch): Transport {
  return {
    send: async ({ method, url, headers, body }, limits) => {
      const stop = new AbortController();
      const stopAfter = (ms: number, kind: 'late' | 'timeout') => {
        const end = () => stop.abort(new NetworkFailure(kind, 'no answer in time', undefined));
        return setTimeout(end, Math.min(ms, maxTimerMs));
      };
      const late = stopAfter(limits.totalMs, 'late');
      let silence = stopAfter(limits.timeoutMs, 'timeout');
      const restart = () => {
        clearTimeout(silence);
        silence = stopAfter(limits.timeoutMs, 'timeout');
      };
      const nameFailure = (thrown: unknown, read: (error: unknown) => NetworkFailure): Error => {
        if (thrown instanceof SotraError) return thrown;
        if (stop.signal.aborted) return stop.signal.reason;
        // `fetch` wraps what happened to the connection.
        return read((thrown as Error | null)?.cause ?? thrown);
      };
      try {
        const signal = AbortSignal.any([limits.signal, stop.signal]);
        const sent = { method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) } as const;
        const response = await fetch(url.href, sent);
        if (response.type === 'opaqueredirect')
          throw new SotraError('redirect', `${url.origin} redirects, but a browser does not say where`);
        const read = await readText(response.body, limits.maxBytes, restart).catch((thrown: unknown) => ({
          text: '',
          bytes: 0,
          bodyError: nameFailure(thrown, cutFailure),
        }));
        return { status: response.status, headers: Object.fromEntries(response.headers), ...read };
      } catch (thrown) {
        throw nameFailure(thrown, readFailure);
      } finally {
        clearTimeout(late);
        clearTimeout(silence);
      }
    },
    close: async () => undefined,
  };
}

/** The body, which `fetch` has decoded already. By a reader: not every browser iterates over a stream. */
async function readText(
  body: Response['body'],
  maxBytes: number,
  onChunk: () => void,
): Promise<Pick<HttpResponse, 'text' | 'bytes'>> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      onChunk();
      bytes += part.value.length;
      if (bytes > maxBytes)
        throw new SotraError('bad-answer', `the answer is larger than ${maxBytes} bytes (maxBodyBytes)`, {
          outcome: 'unknown',
        });
      text += decoder.decode(part.value, { stream: true });
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
  return { text: text + decoder.decode(), bytes };
}

/** Resolves after `ms` milliseconds. Errors: `interrupted` when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // A signal of its own: Node warns of many listeners on one.
  const stop = AbortSignal.any([signal]);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      reject(new SotraError('interrupted', 'interrupted', { cause: signal.reason }));
    };
    if (stop.aborted) end();
    else stop.addEventListener('abort', end);
  });
}
