import type { WireNames } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage, usageError } from '../../errors.ts';
import { sandboxFile } from '../../lib/config/directories.ts';
import type { Service } from '../../lib/config/settings.ts';
import type { LoggedRequest } from '../../lib/logged-request.ts';
import { openNetwork } from '../../lib/transport.ts';
import { createLiveLog } from '../../pages/live-log.ts';
import { type ServedPages, serveWeb } from '../../pages/serve.ts';
import { createServiceApp } from '../../pages/service-app.ts';
import type { FaultyAnswer } from '../../sandbox/serve/fault.ts';
import type { HeardRequest } from '../../sandbox/serve/listen.ts';
import { controlHeader } from '../../sandbox/service/handler.ts';
import { createRequestStore } from './requests.ts';
import { askServed, type Ready } from './served.ts';

export interface SandboxPage extends ServedPages {
  addRequest: (logged: LoggedRequest, heard: HeardRequest, answer: FaultyAnswer) => void;
}

interface SandboxPageOptions extends Ready {
  wire: WireNames;
  /** Changes with whatever is written to the world. */
  version: () => string;
}

const lookEveryMs = 500;
const readable = ['world', 'deliveries', 'delivery', 'webhook'];
const doable = ['redeliver', 'secret'];

/** Serves the page of a served sandbox, which calls it over HTTP with a key and the control token. Errors: `config`. */
export async function startSandboxPage(options: SandboxPageOptions, context: Context): Promise<SandboxPage> {
  const { url, db, keys, controlToken, version } = options;
  const { io, warn } = context;
  const live = createLiveLog();
  const stop = new AbortController();
  const http = await openNetwork({ ...io, env: {} });
  // Requests with the token are neither logged nor faulted: the page shows those of users.
  const transport: typeof http = {
    send: ({ headers, ...request }, limits) =>
      http.send({ ...request, headers: { ...headers, [controlHeader]: controlToken } }, limits),
    close: async () => undefined,
  };
  const { timeoutMs } = context.options;
  const requests = createRequestStore({ ...options, transport: http, timeoutMs, signal: io.signal });
  const isBuiltIn = db === sandboxFile(context.io);
  const commandStart = isBuiltIn ? 'sotra --sandbox' : command`sotra --base-url ${url}`;
  const { app, close } = createServiceApp({
    title: 'Sandbox · sotra',
    facts: {
      service: db,
      commandStart,
      requests: {
        empty: 'None since it was started; those of this page are not counted.',
        line: command`SOTRA_API_KEY=${keys[0] ?? ''} sotra --base-url ${url} leaderboard list`,
        command: `${commandStart} sandbox log`,
      },
      isSandbox: true,
    },
    live,
    routes: {
      'GET control': (query) => askServed(context, options, 'GET', `${known(readable, query.get('name'))}?${query}`),
      'POST control': (query, body) => askServed(context, options, 'POST', known(doable, query.get('name')), body),
      'GET requests': async () => requests.list(),
      'GET request': async (query) => requests.show(query.get('number')),
      'POST request': (_, body) => requests.send(body),
    },
    service: makeService(options),
    endpoints,
    views: await context.views(),
    context: { ...context, io: { ...io, transport, env: { ...io.env, SOTRA_HISTORY: '0' } } },
  });
  const watch = async (): Promise<void> => {
    for (let seen = version(); !stop.signal.aborted; ) {
      await io.sleep(lookEveryMs, stop.signal).catch(() => undefined);
      if (stop.signal.aborted || version() === seen) continue;
      seen = version();
      live.add('changed', null);
    }
  };
  const watching = watch().catch((error: unknown) => warn(`the page is not kept up to date: ${readMessage(error)}`));
  const page = await serveWeb({ apps: [app], warn });
  return {
    ...page,
    addRequest: (...answered) => live.add('request', requests.add(...answered)),
    close: async () => {
      stop.abort();
      await Promise.all([page.close(), watching, close()]);
      if (io.transport === undefined) await http.close();
    },
  };
}

function known(names: readonly string[], given: string | null): string {
  const found = names.find((name) => name === given);
  if (found === undefined) throw usageError(`name ${given}: must be one of ${names.join(', ')}`);
  return found;
}

function makeService({ url, keys, wire }: SandboxPageOptions): Service {
  return {
    context: undefined,
    kind: 'http',
    baseUrl: url,
    baseUrlSource: 'sandbox',
    apiKey: keys[0] ?? null,
    keySource: 'sandbox',
    keySuffix: keys[0]?.slice(-4) ?? null,
    keyStore: null,
    isElsewhere: false,
    keyProblem: undefined,
    serviceName: undefined,
    layout: 'five-line',
    wire,
  };
}
