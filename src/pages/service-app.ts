import { type Endpoint, flagName } from '../api/endpoint.ts';
import { isObject, tryParseJson } from '../api/json.ts';
import { checkInput, encodeRequest } from '../api/request.ts';
import { isHistoryOff } from '../calls/log.ts';
import { openPageRequests } from '../calls/page-requests.ts';
import { buildRequest } from '../client/client.ts';
import { curlLine } from '../client/preview.ts';
import { maskSecrets } from '../client/secrets.ts';
import { argumentWord, flagWords, shellLine, shellWord } from '../client/shell.ts';
import { type Context, createContext } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { type Service, servedSandboxUrl } from '../lib/config/settings.ts';
import type { AnyView } from '../lib/output/view.ts';
import { createLiveLog, type LiveLog } from './live-log.ts';
import type { WebApp } from './serve.ts';
import type { CallOutcome, ServiceFacts } from './service.ts';
import { makeTables } from './table.ts';

/** The endpoints of the service, and by id how their answers become tables. */
export interface ServiceEndpoints {
  endpoints: readonly Endpoint[];
  views: Readonly<Record<string, AnyView>>;
}

interface ServiceAppOptions extends ServiceEndpoints {
  title: string;
  facts: Omit<ServiceFacts, 'examples'>;
  live: LiveLog;
  /** What it is asked beside the service. */
  routes: WebApp['routes'];
  /** In place of that of the context. */
  service?: Service;
  context: Context;
}

/**
 * The page of a service: it shows the answers of endpoints that read. They are asked here, where the key is; `close` ends the connections.
 */
export function createServiceApp({ title, facts, live, routes, endpoints, views, ...options }: ServiceAppOptions) {
  // What a page asks again by itself would push out of the history what somebody asked.
  const { io } = options.context;
  const unkept = { ...options.context, io: { ...io, env: { ...io.env, SOTRA_HISTORY: '0' } } };
  const calling = makePageContext(options);
  const repeating = makePageContext({ ...options, context: unkept });
  const asked = new Set<string>();
  const asking = keepAway(io.now);
  const call = async (query: URLSearchParams): Promise<CallOutcome<unknown>> => {
    const id = query.get('endpoint') ?? '';
    const endpoint = endpoints.find((each) => each.id === id);
    if (endpoint?.method !== 'GET') throw usageError(`endpoint ${id.slice(0, 80)}: must be one that reads`);
    const given = tryParseJson(query.get('input') ?? '{}');
    const input = checkInput(endpoint, isObject(given) ? given : {});
    const question = `${id} ${JSON.stringify(input)}`;
    const asker = asked.has(question) ? repeating : calling;
    asked.add(question);
    const { data } = await asking(() => asker.client.call(endpoint, input as never));
    const shown = maskSecrets(data);
    return {
      data: shown,
      tables: makeTables(views[id], shown, input),
      commands: [
        { name: 'Command', line: `${facts.commandStart} ${writeCommand(endpoint, input)}` },
        { name: 'As curl', line: writeCurl(endpoint, input, await calling.config.service(), io.version) },
      ],
    };
  };
  const examples = listExamples(endpoints, facts.commandStart);
  const app: WebApp = {
    name: 'service',
    title,
    live,
    routes: { 'GET facts': async () => ({ ...facts, examples }), 'GET call': call, ...routes },
  };
  return { app, close: async () => void (await Promise.all([calling.client.close(), repeating.client.close()])) };
}

/** The same for the service of a context, whose world it does not change but by requests that are sent again; they are those of the history. */
export function createOwnServiceApp({ kind, baseUrl }: Service, context: Context, shown: ServiceEndpoints) {
  const named = context.options.context === undefined ? '' : ` --context ${shellWord(context.options.context)}`;
  const facts =
    kind === 'sandbox'
      ? { service: 'the built-in sandbox', commandStart: 'sotra --sandbox' }
      : { service: baseUrl, commandStart: `sotra${named}` };
  const requests = isHistoryOff(context.io)
    ? { empty: 'SOTRA_HISTORY=0: no call is kept.', command: 'sotra history' }
    : { empty: 'No call to this service is in the history.', command: 'sotra history' };
  const live = createLiveLog();
  const log = openPageRequests({
    context,
    openSender: () => makePageContext({ context }),
    tell: (row) => live.add(row === undefined ? 'load' : 'request', row),
  });
  const { app, close } = createServiceApp({
    title: 'Service · sotra',
    facts: { ...facts, isSandbox: false, requests },
    live,
    routes: {
      'GET requests': log.list,
      'GET request': (query) => log.show(query.get('number')),
      'POST request': (_, body) => log.send(body),
    },
    context,
    ...shown,
  });
  return { app, close: async () => void (await Promise.all([log.close(), close()])) };
}

/** Asks a service, and not again before the time that it named, whichever view or tab asks. Errors: those of the call, the same meanwhile. */
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

function makePageContext({ context, service }: Pick<ServiceAppOptions, 'context' | 'service'>): Context {
  return createContext({
    ...context,
    options: { ...context.options, retries: 0 },
    say: context.note,
    isPage: true,
    ...(service && { knownService: service }),
  });
}

/** The first example of each endpoint, as it is typed for this service. */
function listExamples(endpoints: readonly Endpoint[], start: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    endpoints.flatMap(({ id, examples: [first] }) => (first === undefined ? [] : [[id, `${start} ${first.argv}`]])),
  );
}

type Input = Readonly<Record<string, unknown>>;

/** The command of an endpoint with what is given. */
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

/** The curl line of a call; that of the sandbox inside this process is for `sotra sandbox start`. */
function writeCurl(endpoint: Endpoint, input: Input, service: Service, version: string): string {
  const { kind, baseUrl, apiKey, wire } = service;
  const request = buildRequest(encodeRequest(endpoint, input, wire), {
    baseUrl: kind === 'sandbox' ? servedSandboxUrl : baseUrl,
    apiKey,
    userAgent: `sotra/${version}`,
  });
  return curlLine(request).trim();
}
