import type { Context } from '../context.ts';
import { type Endpoint, type WireNames, wireName } from '../contract/endpoint.ts';
import { encodeRequest, type WireRequest } from '../contract/request.ts';
import { SotraError } from '../errors.ts';

export type Pairs = readonly (readonly [name: string, value: string])[];

/** Reads from the service: the answer, or `undefined` where it refused the request (4xx other than key and rate). */
export interface Asker {
  ask: (endpoint: Endpoint, input: Readonly<Record<string, unknown>>, extra?: Pairs) => Promise<unknown>;
  /** The same for what nothing can be probed without. Errors: also the refusals. */
  need: (endpoint: Endpoint, input: Readonly<Record<string, unknown>>) => Promise<unknown>;
  follow: (link: string) => Promise<unknown>;
  /** Requests sent so far; the same one is sent once. */
  calls: () => number;
  /** Names found so far; requests use them. */
  known: Map<string, string>;
}

const refusals = ['bad-request', 'not-found', 'conflict', 'request-refused'];

/** An asker that remembers what it asked; `fresh` asks again. Errors: those of the call that are no refusal. */
export function createAsker(context: Context, overrides: WireNames): Asker & { fresh: Asker['ask'] } {
  const answers = new Map<string, Promise<unknown>>();
  const known = new Map(Object.entries(overrides));
  const count = { calls: 0 };
  const send = async (wire: WireRequest): Promise<unknown> => {
    count.calls += 1;
    try {
      return (await context.request(wire)).data;
    } catch (error) {
      if (error instanceof SotraError && refusals.includes(error.code)) return undefined;
      throw error;
    }
  };
  const requestFor: (...asked: Parameters<Asker['ask']>) => WireRequest = (endpoint, input, extra = []) => {
    const wire = encodeRequest(endpoint, input, Object.fromEntries(known));
    const pairs = new URLSearchParams();
    for (const [name, value] of extra) pairs.append(name, value);
    const query = pairs.toString();
    return query === '' ? wire : { ...wire, path: `${wire.path}${wire.path.includes('?') ? '&' : '?'}${query}` };
  };
  const ask: Asker['ask'] = (...asked) => {
    const wire = requestFor(...asked);
    const answer = answers.get(wire.path) ?? send(wire);
    answers.set(wire.path, answer);
    return answer;
  };
  return {
    ask,
    need: async (...asked) => {
      const wire = requestFor(...asked);
      count.calls += 1;
      const { data } = await context.request(wire);
      answers.set(wire.path, Promise.resolve(data));
      return data;
    },
    fresh: (...asked) => send(requestFor(...asked)),
    follow: async (link) => {
      const url = new URL(link, (await context.service()).baseUrl);
      const { origin } = new URL((await context.service()).baseUrl);
      return url.origin === origin
        ? send({ method: 'GET', path: url.pathname + url.search, href: url.href })
        : undefined;
    },
    calls: () => count.calls,
    known,
  };
}

/** The name a parameter has now: found, overridden or assumed. */
export function nameOf(endpoint: Endpoint, key: string, known: ReadonlyMap<string, string>): string {
  const param = endpoint.params[key];
  return param === undefined ? key : wireName(endpoint, key, param, Object.fromEntries(known));
}
