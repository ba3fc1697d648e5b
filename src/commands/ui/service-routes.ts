import type { z } from 'zod';
import type { Endpoint } from '../../api/endpoint.ts';
import { flagName } from '../../api/endpoint.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { findMismatch } from '../../api/mismatch.ts';
import { checkInput } from '../../api/request.ts';
import { hideUrlSecrets, maskSecrets } from '../../client/secrets.ts';
import { argumentWord, flagWords, shellLine } from '../../client/shell.ts';
import { type Context, createContext } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import type { Service } from '../../lib/config/settings.ts';
import type { AnyView } from '../../lib/output/view.ts';
import type { CallOutcome } from '../../pages/activity.ts';
import type { WebApp } from '../../pages/serve.ts';
import { makeTables } from './make-tables.ts';

interface ServiceRoutesOptions {
  endpoints: readonly Endpoint[];
  /** By id, how their answers become tables. */
  views: Readonly<Record<string, AnyView>>;
  /** How command lines for it begin, such as `sotra --sandbox`. */
  commandStart: string;
  /** Instead of the context's own. */
  service?: Service;
  context: Context;
}

/** Asks a service for the page: endpoints that read, and the webhooks of its key. The key stays here; `close` ends the connections. */
export function openServiceRoutes({ endpoints, views, commandStart, ...options }: ServiceRoutesOptions) {
  // Calls that a page repeats by itself would push the user's calls out of the history.
  const { io } = options.context;
  const unkept = { ...options.context, io: { ...io, env: { ...io.env, SOTRA_HISTORY: '0' } } };
  const calling = makePageContext(options);
  const repeating = makePageContext({ ...options, context: unkept });
  const asked = new Set<string>();
  const asking = keepAway(io.now);
  const find = (id: string) => endpoints.find((each) => each.id === id);
  const call = async (query: URLSearchParams): Promise<CallOutcome<unknown>> => {
    const id = query.get('endpoint') ?? '';
    const endpoint = find(id);
    if (endpoint?.method !== 'GET') throw usageError(`endpoint ${id.slice(0, 80)}: must be one that reads`);
    const given = tryParseJson(query.get('input') ?? '{}');
    const input = checkInput(endpoint, isObject(given) ? given : {});
    const question = `${id} ${JSON.stringify(input)}`;
    const asker = asked.has(question) ? repeating : calling;
    asked.add(question);
    const { data } = await asking(() => asker.client.call(endpoint, input as never));
    const command = `${commandStart} ${writeCommand(endpoint, input)}`;
    const mismatch = findMismatch((await endpoint.answer()) as z.ZodType, data);
    if (mismatch !== undefined) {
      const message = `the service answered with ${mismatch}`;
      throw new SotraError('contract', message, { hint: `See the answer: ${command} --json` });
    }
    const shown = hideDestinations(maskSecrets(data));
    return {
      data: shown,
      tables: makeTables(views[id], shown, input),
      command,
    };
  };
  const write = async (id: string, given: unknown): Promise<unknown> => {
    const endpoint = find(id);
    if (endpoint === undefined) throw usageError(`endpoint ${id}: does not exist`);
    const input = checkInput(endpoint, isObject(given) ? given : {});
    return maskSecrets((await calling.client.call(endpoint, input as never)).data);
  };
  const readSecret = async (given: unknown): Promise<{ secret: string }> => {
    const { uid } = isObject(given) ? given : {};
    const endpoint = find('webhook.list');
    const data = endpoint && (await asking(() => repeating.client.call(endpoint, {} as never))).data;
    const found = Array.isArray(data) ? data.find((each) => isObject(each) && each['uid'] === uid) : undefined;
    if (found === undefined) throw usageError(`webhook ${String(uid).slice(0, 80)}: does not exist`);
    return { secret: String(found.secret) };
  };
  const routes: WebApp['routes'] = {
    'GET call': call,
    'POST webhook-secret': (_, body) => readSecret(body),
    'POST webhook-register': (_, body) => write('webhook.register', body),
    'POST webhook-delete': async (_, body) => ({ deleted: await write('webhook.delete', body) }),
  };
  return { routes, close: async () => void (await Promise.all([calling.client.close(), repeating.client.close()])) };
}

/** Makes calls, but none from any tab while a rate limit lasts. Errors: those of the call; until then, the error of the limit. */
function keepAway(now: () => number) {
  let refusal: { error: SotraError; untilMs: number } | undefined;
  const refuse = ({ error: { code, message, hint }, untilMs }: NonNullable<typeof refusal>) =>
    new SotraError(code, message, { hint, retryAfterSec: Math.ceil((untilMs - now()) / 1000) });
  return async <T>(act: () => Promise<T>): Promise<T> => {
    if (refusal !== undefined && now() < refusal.untilMs) throw refuse(refusal);
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof SotraError) || (error.code !== 'rate-limited' && error.retryAfterSec === undefined))
        throw error;
      refusal = { error, untilMs: now() + (error.retryAfterSec ?? defaultWaitSec) * 1000 };
      throw refuse(refusal);
    }
  };
}

const defaultWaitSec = 30;

/** A context that never retries or prompts, and marks its calls as made by a page. */
export function makePageContext({ context, service }: Pick<ServiceRoutesOptions, 'context' | 'service'>): Context {
  return createContext({
    ...context,
    options: { ...context.options, retries: 0 },
    say: context.note,
    isPage: true,
    ...(service && { knownService: service }),
  });
}

/** The address of a webhook may hold a secret. */
function hideDestinations(data: unknown): unknown {
  if (!Array.isArray(data)) return data;
  return data.map((each) =>
    isObject(each) && typeof each['destinationUrl'] === 'string'
      ? { ...each, destinationUrl: hideUrlSecrets(each['destinationUrl']) }
      : each,
  );
}

type Input = Readonly<Record<string, unknown>>;

/** The command line of a call. */
function writeCommand({ id, params }: Endpoint, input: Input): string {
  const words = Object.entries(params).flatMap(([key, param]) => {
    const [value, flag] = [input[key], `--${flagName(key, param)}`];
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    const texts = [value].flat().map(String);
    return param.positional ? texts.map(argumentWord) : [shellLine(flagWords(flag, texts.join(',')))];
  });
  return [...id.split('.'), ...words].join(' ');
}
