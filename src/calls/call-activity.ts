import { tryParseJson } from '../api/json.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { type ActivityRow, type ActivitySource, type Edited, maxListed } from '../pages/activity.ts';
import type { LiveLog } from '../pages/live-log.ts';
import { findCall, refuseLost, summarizeCall } from './calls.ts';
import { findHistory } from './log.ts';
import { type NumberedEntry, readCalls } from './read-log.ts';
import { listCallReasons } from './reasons.ts';
import { checkSent, showExchange } from './show-exchange.ts';

interface CallActivityOptions {
  context: Context;
  /** How command lines for the service begin. */
  commandStart: string;
  /** Makes what sends one request, as a command does. */
  openSender: () => Context;
  live: LiveLog;
}

const lookEveryMs = 1000;
const idStart = 'req-';

/** The calls of the history to the service in use, which may be sent again. The history is watched from the first list to `close`. */
export function openCallActivity({ context, commandStart, openSender, live }: CallActivityOptions) {
  const { io, warn } = context;
  /** By id, the oldest first. */
  const rows = new Map<string, ActivityRow>();
  const stop = new AbortController();
  let newest = '';
  let watching: Promise<void> | undefined;
  /** Reads the calls since the last look. */
  const look = async (): Promise<void> => {
    const { baseUrl } = await context.config.service();
    const added: NumberedEntry[] = [];
    let hasKnown = newest === '';
    for (const call of readCalls(findHistory(context.io))) {
      hasKnown ||= call._sotra.id === newest;
      if (call._sotra.id === newest || added.length === maxListed) break;
      added.push(call);
    }
    if (!hasKnown) {
      rows.clear();
      newest = '';
      if (watching !== undefined) live.add('load', null);
    }
    for (const call of added.reverse()) {
      newest = call._sotra.id;
      if (call._sotra.baseUrl !== baseUrl) continue;
      const row = makeRow(call);
      rows.set(row.id, row);
      if (rows.size > maxListed) rows.delete([...rows.keys()][0] ?? '');
      if (watching !== undefined) live.add('row', row);
    }
  };
  const listRows = () => [...rows.values()].reverse();
  const watch = async () => {
    while (!stop.signal.aborted) {
      await io.sleep(lookEveryMs, stop.signal).catch(() => undefined);
      if (!stop.signal.aborted) await look();
    }
  };
  const find = async (id: string) => {
    const row = rows.get(id);
    if (row === undefined) throw new SotraError('not-found', `request ${id.slice(0, 40)}: is not in the history`);
    return { row, call: await findCall(id.slice(idStart.length), context) };
  };
  const source: ActivitySource = {
    owns: (id) => id.startsWith(idStart),
    list: async (beforeMs) => {
      if (beforeMs !== undefined) return { rows: [], hasMore: false };
      await look();
      watching ??= watch().catch((thrown: Error) => warn(`the requests are not kept up to date: ${thrown.message}`));
      return { rows: listRows(), hasMore: false };
    },
    show: async (id) => {
      const { row, call } = await find(id);
      const { baseUrl, wire } = await context.config.service();
      const { command, ignored = [] } = call._sotra;
      return showExchange({
        row,
        entry: call,
        commandStart,
        baseUrl,
        wire,
        keys: [],
        why: await listCallReasons(call, context),
        facts: [['Command', command], ...ignored.map((name) => ['Ignored', name] as const)],
        chain: { before: [], after: [] },
      });
    },
    send: async (id, edited) => sendCall(await find(id), edited),
  };
  const sendCall = async ({ call }: { call: NumberedEntry }, edited: Edited) => {
    const before = summarizeCall(call);
    const { method = before.method, target = before.path } = edited;
    const path = checkSent(method, target);
    const body = method === 'GET' ? undefined : String(edited.body ?? call.request.postData?.text ?? '');
    refuseLost(call, { path, body });
    const known = new Set(rows.keys());
    const sender = openSender();
    const sent = body === undefined || body === '' ? {} : { body: tryParseJson(body) ?? body, bodyText: body };
    const problem = await sender.client.request({ method, path, ...sent }).catch((thrown: unknown) => thrown);
    await sender.client.close();
    await look();
    const [bare = ''] = path.split('?');
    const made = listRows().find((row) => !known.has(row.id) && row.title.startsWith(`${method} ${bare}`));
    if (made === undefined && problem instanceof Error) throw problem;
    return { id: made?.id ?? null, text: `Sent: ${made?.status ?? 'done'}`, failed: made?.failed ?? false };
  };
  return {
    source,
    close: async () => {
      stop.abort();
      await watching;
    },
  };
}

function makeRow(call: NumberedEntry): ActivityRow {
  const { id, atMs, ms, method, path, status, error, command } = summarizeCall(call);
  return {
    id: `${idStart}${id}`,
    kind: 'request',
    atMs: atMs + ms,
    title: `${method} ${path}`,
    about: error ?? command,
    status: String(status ?? 'no answer'),
    failed: error !== undefined || status === null || status >= 400,
    durationMs: ms,
  };
}
