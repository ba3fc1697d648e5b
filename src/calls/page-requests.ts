import { isObject, tryParseJson } from '../api/json.ts';
import { command } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import type { RequestRow } from '../pages/requests.ts';
import { findCall, refuseLost, summarizeCall } from './calls.ts';
import { formatCallId, type NumberedEntry, readCalls } from './read-calls.ts';
import { listCallReasons } from './reasons.ts';
import { checkSent, showExchange } from './show-exchange.ts';
import { findLog } from './store.ts';

interface PageRequestsOptions {
  context: Context;
  /** What sends one request, as a command does. */
  openSender: () => Context;
  /** Told of each call that was made or answered since; `undefined` where some are gone. */
  tell: (row: RequestRow | undefined) => void;
}

const [maxListed, lookEveryMs] = [1000, 1000];

/** The calls of the log to the service in use, for its page, which may send them again. The log is looked at from the first list to `close`. */
export function openPageRequests({ context, openSender, tell }: PageRequestsOptions) {
  const { io, warn } = context;
  /** By number; `null` where it was to another service. */
  const rows = new Map<number, RequestRow | null>();
  const stop = new AbortController();
  const warned = new Set<string>();
  const warnOnce = (text: string) => {
    if (!warned.has(text)) warn(text);
    warned.add(text);
  };
  /** Reads what is new, or has its answer since. */
  const look = async (): Promise<void> => {
    const { baseUrl } = await context.service();
    const present = new Set<number>();
    const isWanted = ({ number }: { number: number }) => {
      if (present.size === maxListed) return false;
      present.add(number);
      const known = rows.get(number);
      return known === undefined || (known !== null && isOpen(known));
    };
    const changed = [...readCalls(findLog(await context.dataDirectory()), warnOnce, isWanted)].flatMap((call) => {
      const [row, before] = [makeRow(call), rows.get(call.number)];
      const isOurs = call._sotra.baseUrl === baseUrl;
      rows.set(call.number, isOurs ? row : null);
      return isOurs && !(before && isOpen(row)) ? [row] : [];
    });
    const gone = [...rows.keys()].filter((n) => !present.has(n));
    for (const n of gone) rows.delete(n);
    if (watching === undefined) return;
    if (gone.length > 0 && present.size < maxListed) tell(undefined);
    for (const row of changed.reverse()) tell(row);
  };
  const listRows = () => [...rows.values()].flatMap((row) => row ?? []).sort((a, b) => b.number - a.number);
  let watching: Promise<void> | undefined;
  const watch = async () => {
    while (!stop.signal.aborted) {
      await io.sleep(lookEveryMs, stop.signal).catch(() => undefined);
      if (!stop.signal.aborted) await look();
    }
  };
  const find = async (number: unknown) => {
    const call = await findCall(`c${Number(number)}`, context);
    const { baseUrl, wire } = await context.service();
    if (call._sotra.baseUrl !== baseUrl)
      throw new SotraError('not-found', `call ${formatCallId(call)}: was to another service`);
    return { call, baseUrl, wire };
  };
  return {
    /** The newest first. */
    list: async (): Promise<RequestRow[]> => {
      await look();
      watching ??= watch().catch((thrown: Error) => warn(`the requests are not kept up to date: ${thrown.message}`));
      return listRows();
    },
    show: async (number: unknown) => {
      const { call, ...service } = await find(number);
      const commands = [{ name: 'Command', line: command`sotra why ${formatCallId(call)}` }];
      const why = await listCallReasons(call, context);
      const asked = { row: makeRow(call), entry: call, why, commands };
      return showExchange({ ...asked, ...service, keys: [], asksFirst: true });
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
      const newest = Math.max(...rows.keys());
      const sender = openSender();
      const sent = body === undefined || body === '' ? {} : { body: tryParseJson(body) ?? body, bodyText: body };
      const problem = await sender
        .request({ method: String(method), path, ...sent })
        .catch((thrown: unknown) => thrown);
      await sender.close();
      await look();
      const [bare = ''] = path.split('?');
      const made = listRows().find((row) => row.number > newest && row.method === method && row.path.startsWith(bare));
      if (made === undefined && problem instanceof Error) throw problem;
      return { row: made ?? null };
    },
    close: async () => {
      stop.abort();
      await watching;
    },
  };
}

const isOpen = ({ status, error }: RequestRow) => status === 0 && error === null;

function makeRow(call: NumberedEntry): RequestRow {
  const { atMs, ms, method, path, status, error, ignored = [], command: by } = summarizeCall(call);
  const time = new Date(atMs + ms).toISOString();
  return { ...{ number: call.number, time, method, path, ms, by, ignored }, status: status ?? 0, error: error ?? null };
}
