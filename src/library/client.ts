import { post as postComment } from '../api/comment.ts';
import { checkWireNames, type Endpoint, type Paging } from '../api/endpoint.ts';
import { endpoints } from '../api/endpoints.ts';
import { checkBaseUrl, checkKey } from '../api/http-address.ts';
import { findMisfit } from '../api/misfit.ts';
import { checkInput } from '../api/request.ts';
import { commentProblem, signedText, type TextFields, type TextForm } from '../api/signed-text.ts';
import { type Caller, callEndpoint } from '../client/client.ts';
import { maxTimerMs } from '../client/deadline.ts';
import { identifyItem, walkPages } from '../client/paginate.ts';
import { hidingKey } from '../client/secrets.ts';
import { SotraError, usageError, withoutHint } from '../errors.ts';
import { methodName } from './endpoints.ts';
import { createFetchTransport, readFetchBody, sleep } from './fetch-transport.ts';
import type { AnyMethod, CallOptions, Client } from './methods.ts';

export type { TextFields, TextForm } from '../api/signed-text.ts';
export type { ErrorCode } from '../errors.ts';
export { SotraError } from '../errors.ts';
export type * from './methods.ts';

/** What a client is made of. */
export interface ClientOptions {
  /** Address of the service, such as `https://api.example.com`; plain http only to this machine. */
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
  /** Called with what in an answer does not fit the interface; the answer is given back all the same. */
  onWarning?: ((text: string) => void) | undefined;
  /** An answer that does not fit the interface is an error (`contract`). */
  strict?: boolean | undefined;
  /** In place of the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/**
 * A client of the service: one method an endpoint. Calls share nothing but these options. Errors: SotraError `usage` for an option that
 * is wrong, `no-service`, `insecure-url`, `config` for a key that no header can hold.
 */
export function createClient(options: ClientOptions): Client {
  const { serviceName, layout = 'five-line' } = options;
  const caller = checked(options);
  const client: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const [noun, verb] = methodName(endpoint);
    client[noun] = { ...client[noun], [verb]: createMethod(endpoint, caller) };
  }
  const buildText = (fields: TextFields): string => {
    if (serviceName === undefined) throw usageError('serviceName is required: it is an option of createClient');
    return signedText(fields, { serviceName, layout });
  };
  return { ...client, comment: { ...client['comment'], text: buildText } } as unknown as Client;
}

function createMethod(endpoint: Endpoint, base: Caller): AnyMethod {
  const { paging, keyless } = endpoint;
  const callerFor = ({ signal = base.signal }: CallOptions): Caller => {
    if (base.apiKey === null && !keyless)
      throw new SotraError('key-missing', `no API key for ${new URL(base.baseUrl).origin}`);
    if (signal.aborted) throw new SotraError('interrupted', 'interrupted', { cause: signal.reason, outcome: 'unsent' });
    return { ...base, signal };
  };
  const call = async (input: object = {}, options: CallOptions = {}): Promise<unknown> => {
    try {
      const checked = checkInput(endpoint, { ...input });
      const problem = endpoint.id === postComment.id ? commentProblem(input as TextFields) : undefined;
      if (problem !== undefined) throw usageError(problem);
      return (await callEndpoint(endpoint, checked, callerFor(options))).data;
    } catch (thrown) {
      throw withoutHint(thrown);
    }
  };
  if (paging === undefined) return call;
  return Object.assign(call, {
    all: async function* (input: object = {}, options: CallOptions = {}) {
      try {
        const checked = checkInput(endpoint, { ...input });
        yield* itemsOnce(endpoint, { paging, input: checked, caller: callerFor(options) });
      } catch (thrown) {
        throw withoutHint(thrown);
      }
    },
  });
}

interface Walk {
  paging: Paging;
  input: Readonly<Record<string, unknown>>;
  caller: Caller;
}

/** The items of all pages. One that moved to a later page while they were read is not given again. */
async function* itemsOnce(endpoint: Endpoint, { paging, input, caller }: Walk): AsyncGenerator<unknown> {
  const ask = (asked: Walk['input'], link?: string) => callEndpoint(endpoint, asked, caller, link);
  const seen = new Set<string>();
  for await (const batch of walkPages({ paging, input, ask, max: undefined, onCut: () => undefined }))
    for (const item of batch) {
      const name = identifyItem(item);
      if (paging.kind !== 'limit' && seen.has(name)) continue;
      seen.add(name);
      yield item;
    }
}

function checked(options: ClientOptions): Caller {
  try {
    return createCaller(options);
  } catch (thrown) {
    throw withoutHint(thrown);
  }
}

const optionNames: readonly (keyof ClientOptions)[] = [
  ...(['baseUrl', 'apiKey', 'serviceName', 'layout', 'wire', 'retries', 'timeoutMs', 'maxTimeMs'] as const),
  ...(['maxWaitMs', 'maxBodyBytes', 'onWarning', 'strict', 'fetch'] as const),
];

function createCaller(options: ClientOptions): Caller {
  const unknown = Object.keys(options).find((name) => !(optionNames as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw usageError(`createClient has no option ${unknown}: it takes ${optionNames.join(', ')}`);
  const { baseUrl, apiKey, wire = {}, onWarning, strict = false, fetch = globalThis.fetch } = options;
  if (baseUrl === undefined) throw new SotraError('no-service', 'no service is configured: baseUrl is required');
  checkWireNames(wire, endpoints, 'wire');
  const key = apiKey === undefined ? null : checkKey(apiKey);
  const hideKey = hidingKey(key);
  return {
    baseUrl: checkBaseUrl(baseUrl),
    apiKey: key,
    // The service's own data stay as they are; what it refuses is quoted in errors.
    hideKey: (answer) => (answer.status < 300 ? answer : hideKey(answer)),
    wire,
    transport: createFetchTransport((url, init) => fetch(url, init)),
    userAgent: null,
    retries: checkNumber('retries', options.retries, { default: 2, min: 0, max: 20 }),
    timeoutMs: checkNumber('timeoutMs', options.timeoutMs, { default: 30_000, min: 1, max: maxTimerMs }),
    maxTimeMs: checkNumber('maxTimeMs', options.maxTimeMs, { default: 600_000, min: 1, max: maxTimerMs }),
    maxWaitMs: checkNumber('maxWaitMs', options.maxWaitMs, { default: 60_000, min: 0, max: maxTimerMs }),
    maxBodyBytes: checkNumber('maxBodyBytes', options.maxBodyBytes, {
      default: 64 * 1024 ** 2,
      min: 1,
      max: maxTimerMs,
    }),
    readBody: readFetchBody,
    // Nobody would hear of a misfit.
    findMisfit: strict || onWarning !== undefined ? findMisfit : undefined,
    strict,
    signal: new AbortController().signal,
    now: Date.now,
    random: Math.random,
    sleep,
    warn: (text) => onWarning?.(text),
    observe: () => undefined,
  };
}

function checkNumber(
  name: string,
  value: number | undefined,
  range: { default: number; min: number; max: number },
): number {
  if (value === undefined) return range.default;
  if (Number.isInteger(value) && value >= range.min && value <= range.max) return value;
  throw usageError(`${name} ${JSON.stringify(value)}: must be a whole number from ${range.min} to ${range.max}`);
}
