import type { WireNames } from '../../api/endpoint.ts';
import { createNetwork } from '../../client/network.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage } from '../../errors.ts';
import { resolveService, sandboxFile } from '../../lib/config/config.ts';
import { createActivityApp } from '../../pages/activity.ts';
import { createLiveLog, type ServedPage, servePage } from '../../pages/serve.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { openInside } from '../../sandbox/serve/answer.ts';
import { firstCurl, openServiceRoutes } from '../ui/service-routes.ts';
import { dataSource, listCaused, openDataActivity, readNew, sendTestEvents } from './data-activity.ts';
import {
  addRequest,
  type ExchangeParts,
  findByAnswer,
  type RequestActivity,
  requestSource,
} from './request-activity.ts';
import type { Ready } from './served.ts';

export interface SandboxPage extends ServedPage {
  addRequest: (...exchange: ExchangeParts) => void;
}

interface SandboxPageOptions {
  ready: Ready;
  wire: WireNames;
  db: Db;
}

const lookEveryMs = 500;

/** Serves the page of a served sandbox. Errors: `config`. */
export async function startSandboxPage(
  { ready, wire, db }: SandboxPageOptions,
  context: Context,
): Promise<SandboxPage> {
  const { url, keys } = ready;
  const { io, warn } = context;
  const live = createLiveLog();
  const stop = new AbortController();
  const http = await createNetwork({ ...io, env: {} });
  // Not by HTTP: the page shows only the requests of users.
  const transport = openInside({ db, now: io.now, wire });
  const { timeoutMs } = context.options;
  const isBuiltIn = ready.db === sandboxFile(context.io);
  const commandStart = isBuiltIn ? 'sotra --sandbox' : command`sotra --base-url ${url}`;
  const requests: RequestActivity = {
    url,
    wire,
    transport: http,
    timeoutMs,
    signal: io.signal,
    commandStart,
    live,
    listCaused: (answer) => listCaused(data, answer),
    kept: [],
    counts: { requests: 0, bytes: 0 },
  };
  const data = openDataActivity({
    db,
    io,
    live,
    commandStart,
    signal: stop.signal,
    findRequest: (text) => findByAnswer(requests, text),
  });
  const choice = { context: undefined, sandbox: false, baseUrl: url };
  const own = resolveService(choice, { SOTRA_API_KEY: keys[0] }, { contexts: {} });
  const service = openServiceRoutes({
    views: await context.views(),
    commandStart,
    service: { ...own, wire },
    context: { ...context, io: { ...io, transport, env: { ...io.env, SOTRA_HISTORY: '0' } } },
  });
  const watch = async (): Promise<void> => {
    for (let seen = db.version(); !stop.signal.aborted; ) {
      await io.sleep(lookEveryMs, stop.signal).catch(() => undefined);
      if (stop.signal.aborted || db.version() === seen) continue;
      seen = db.version();
      readNew(data);
      live.add('changed', null);
    }
  };
  const watching = watch().catch((error: unknown) => warn(`the page is not kept up to date: ${readMessage(error)}`));
  const curl = firstCurl(url, keys[0]);
  const app = createActivityApp(
    {
      facts: {
        title: 'sandbox',
        address: url,
        key: keys[0] ?? '',
        empty: 'No requests yet.',
        curl,
        line: curl,
      },
      sources: [requestSource(requests), dataSource(data)],
      live,
      sendTest: async () => {
        const text = sendTestEvents(db, io.now());
        readNew(data);
        return { id: null, text, failed: false };
      },
    },
    service.routes,
  );
  const page = await servePage(app, warn);
  return {
    ...page,
    addRequest: (...exchange) => addRequest(requests, ...exchange),
    close: async () => {
      stop.abort();
      await Promise.all([page.close(), watching, service.close()]);
      if (io.transport === undefined) await http.close();
    },
  };
}
