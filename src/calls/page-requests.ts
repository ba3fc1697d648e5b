import { isObject, tryParseJson } from '../api/json.ts';
import { command } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { dataDirectory } from '../lib/config/directories.ts';
import type { RequestRow } from '../pages/requests.ts';
import { findCall, refuseLost, summarizeCall } from './calls.ts';
import { findHistory } from './log.ts';
import { type NumberedEntry, readCalls } from './read-log.ts';
import { listCallReasons } from './reasons.ts';
import { checkSent, showExchange } from './show-exchange.ts';

interface PageRequestsOptions {
  context: Context;
  /** What sends one request, as a command does. */
  openSender: () => Context;
  /** Called with each new call; with `undefined` if the history was cleared. */
  tell: (row: RequestRow | undefined) => void;
}

const [maxListed, lookEveryMs] = [1000, 1000];

/** The calls of the history to the service in use, for its page, which may send them again. The history is watched from the first list to `close`. */
export function openPageRequests({ context, openSender, tell }: PageRequestsOptions) {
  const { io, warn } = context;
  /** By the number of the row, which counts them as they are found, the oldest first. */
  const known = new Map<number, { id: string; row: RequestRow }>();
  const stop = new AbortController();
  let newest: { id: string; number: number } = { id: '', number: 0 };
  /** Reads the calls since the last look. */
  const look = async (): Promise<void> => {
    const { baseUrl } = await context.config.service();
    const added: NumberedEntry[] = [];
    let hasKnown = newest.id === '';
    for (const call of readCalls(findHistory(dataDirectory(context.io)))) {
      hasKnown ||= call._sotra.id === newest.id;
      if (call._sotra.id === newest.id || added.length === maxListed) break;
      added.push(call);
    }
    if (!hasKnown) {
      known.clear();
      if (watching !== undefined) tell(undefined);
    }
    for (const call of added.reverse()) {
      newest = { id: call._sotra.id, number: newest.number + 1 };
      if (call._sotra.baseUrl !== baseUrl) continue;
      const row = makeRow(call, newest.number);
      known.set(newest.number, { id: newest.id, row });
      known.delete(newest.number - maxListed);
      if (watching !== undefined) tell(row);
    }
    if (added.length === 0 && !hasKnown) newest = { ...newest, id: '' };
  };
  const listRows = () => [...known.values()].map(({ row }) => row).reverse();
  let watching: Promise<void> | undefined;
  const watch = async () => {
    while (!stop.signal.aborted) {
      await io.sleep(lookEveryMs, stop.signal).catch(() => undefined);
      if (!stop.signal.aborted) await look();
    }
  };
  const find = async (number: unknown) => {
    const found = known.get(Number(number));
    if (found === undefined) throw new SotraError('not-found', `request ${number}: is not in the history`);
    return { row: found.row, call: await findCall(found.id, context) };
  };
  return {
    /** The newest first. */
    list: async (): Promise<RequestRow[]> => {
      await look();
      watching ??= watch().catch((thrown: Error) => warn(`the requests are not kept up to date: ${thrown.message}`));
      return listRows();
    },
    show: async (number: unknown) => {
      const { row, call } = await find(number);
      const { baseUrl, wire } = await context.config.service();
      const commands = [{ name: 'Command', line: command`sotra why ${call._sotra.id}` }];
      const why = await listCallReasons(call, context);
      return showExchange({ row, entry: call, why, commands, baseUrl, wire, keys: [], asksFirst: true });
    },
    /** Sends a call again with what is changed, to the same service with its key. Errors: `usage`, `config`; those of a call that was not sent. */
    send: async (given: unknown): Promise<{ row: RequestRow | null }> => {
      const asked = isObject(given) ? given : {};
      const { call } = await find(asked['number']);
      const before = summarizeCall(call);
      const { method = before.method, target = before.path } = asked;
      const path = checkSent(method, target);
      const body = method === 'GET' ? undefined : String(asked['body'] ?? call.request.postData?.text ?? '');
      refuseLost(call, { path, body });
      const last = newest.number;
      const sender = openSender();
      const sent = body === undefined || body === '' ? {} : { body: tryParseJson(body) ?? body, bodyText: body };
      const problem = await sender.client
        .request({ method: String(method), path, ...sent })
        .catch((thrown: unknown) => thrown);
      await sender.client.close();
      await look();
      const [bare = ''] = path.split('?');
      const made = listRows().find((row) => row.number > last && row.method === method && row.path.startsWith(bare));
      if (made === undefined && problem instanceof Error) throw problem;
      return { row: made ?? null };
    },
    close: async () => {
      stop.abort();
      await watching;
    },
  };
}

function makeRow(call: NumberedEntry, number: number): RequestRow {
  const { atMs, ms, method, path, status, error, ignored = [], command: by } = summarizeCall(call);
  const time = new Date(atMs + ms).toISOString();
  return { ...{ number, time, method, path, ms, by, ignored }, status: status ?? 0, error: error ?? null };
}
