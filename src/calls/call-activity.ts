import { tryParseJson } from '../api/json.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { counted } from '../lib/output/format.ts';
import {
  type ActivityDetail,
  type ActivityRow,
  type ActivitySource,
  dropOldest,
  type Edited,
  listKept,
  maxListed,
  type SendOutcome,
} from '../pages/activity.ts';
import type { LiveLog } from '../pages/live-log.ts';
import type { LogEntry } from './entry.ts';
import { findHistory } from './log.ts';
import { findCall, readCalls, readLogVersion, readPath, refuseLost, summarizeEntry } from './read-log.ts';
import { checkSent, showExchange } from './show-exchange.ts';
import { listCallReasons } from './why.ts';

interface CallActivityOptions {
  context: Context;
  /** How command lines for the service begin. */
  commandStart: string;
  /** Makes what sends one request, as a command does. */
  openSender: () => Context;
  live: LiveLog;
}

interface KeptCall {
  row: ActivityRow;
  command: string;
  pid: number;
  attempt: number;
}

const lookEveryMs = 1000;
const [callIdStart, commandIdStart] = ['req-', 'cmd-'];

/** The calls of the history to the service in use, which may be sent again. The history is watched from the first list to `close`. */
export function openCallActivity({ context, commandStart, openSender, live }: CallActivityOptions) {
  const { io, warn } = context;
  const folder = findHistory(io);
  /** By the id of their rows, the oldest first. */
  const kept = new Map<string, KeptCall>();
  const stop = new AbortController();
  let [version, newest]: [string, string | undefined] = ['', undefined];
  let watching: Promise<void> | undefined;
  /** Reads the calls since the last look. */
  const look = async (): Promise<void> => {
    const { baseUrl } = await context.config.service();
    const before = version;
    version = readLogVersion(folder);
    if (version === before) return;
    const { calls, isAll } = readCallsAfter(folder, newest);
    newest = calls.at(-1)?._sotra.id ?? (isAll ? undefined : newest);
    if (isAll) {
      if (watching !== undefined && kept.size > 0) live.add('load', null);
      kept.clear();
    }
    for (const call of calls) {
      if (call._sotra.baseUrl !== baseUrl) continue;
      const { command, pid, attempt } = call._sotra;
      const row = makeRow(call);
      kept.set(row.id, { row, command, pid, attempt });
      dropOldest(kept, maxListed);
      if (watching !== undefined) live.add('row', row);
    }
  };
  const watch = async () => {
    while (!stop.signal.aborted) {
      await io.sleep(lookEveryMs, stop.signal).catch(() => undefined);
      if (!stop.signal.aborted) await look();
    }
  };
  const find = (id: string): KeptCall => {
    const found = kept.get(id.replace(commandIdStart, callIdStart));
    if (found === undefined) throw new SotraError('not-found', `request ${id.slice(0, 40)}: is not in the history`);
    return found;
  };
  const findEntry = (id: string) => findCall(id.slice(callIdStart.length), context);
  /** The calls of the same command, the oldest first. */
  const listCalls = ({ command, pid }: KeptCall) =>
    [...kept.values()].filter((each) => each.command === command && each.pid === pid);
  const showCall = async (call: KeptCall): Promise<ActivityDetail> => {
    const { row, command } = call;
    const entry = await findEntry(row.id);
    const { baseUrl, wire } = await context.config.service();
    const calls = listCalls(call);
    const attempts = findAttempts(calls, call);
    const at = attempts.indexOf(call);
    return showExchange({
      row,
      entry,
      commandStart,
      baseUrl,
      wire,
      keys: [],
      why: await listCallReasons(entry, context),
      facts: [['Command', command], ...(entry._sotra.ignored ?? []).map((name) => ['Ignored', name] as const)],
      chain: {
        before: [commandRow(calls), ...attempts.slice(0, at).map((each) => each.row)],
        after: attempts.slice(at + 1).map((each) => each.row),
      },
    });
  };
  const showCommand = (call: KeptCall): ActivityDetail => {
    const calls = listCalls(call);
    const row = commandRow(calls);
    return {
      row,
      ...(row.failed && { error: { message: calls.at(-1)?.row.about ?? '', hints: [] } }),
      facts: [['Process', String(call.pid)]],
      command: call.command,
      chain: { before: [], after: calls.map((each) => each.row) },
    };
  };
  const send = async (id: string, edited: Edited): Promise<SendOutcome> => {
    const call = await findEntry(find(id).row.id);
    const { method = call.request.method, target = readPath(call.request.url, call._sotra.baseUrl) } = edited;
    const path = checkSent(method, target);
    const body = method === 'GET' ? undefined : String(edited.body ?? call.request.postData?.text ?? '');
    refuseLost(call, { path, body });
    const known = new Set(kept.keys());
    const sender = openSender();
    const sent = body === undefined || body === '' ? {} : { body: tryParseJson(body) ?? body, bodyText: body };
    const problem = await sender.client.request({ method, path, ...sent }).catch((thrown: unknown) => thrown);
    await sender.client.close();
    await look();
    const [bare = ''] = path.split('?');
    const isMade = ({ row }: KeptCall) => !known.has(row.id) && row.title.startsWith(`${method} ${bare}`);
    const made = [...kept.values()].findLast(isMade)?.row;
    if (made === undefined && problem instanceof Error) throw problem;
    return { id: made?.id ?? null, text: `Sent: ${made?.status ?? 'done'}`, failed: made?.failed ?? false };
  };
  const source: ActivitySource = {
    owns: (id) => id.startsWith(callIdStart) || id.startsWith(commandIdStart),
    list: async (_, untilMs) => {
      await look();
      watching ??= watch().catch((thrown: Error) => warn(`the requests are not kept up to date: ${thrown.message}`));
      return listKept(
        [...kept.values()].map(({ row }) => row),
        untilMs,
      );
    },
    show: async (id) => (id.startsWith(callIdStart) ? showCall(find(id)) : showCommand(find(id))),
    send,
  };
  return {
    source,
    close: async () => {
      stop.abort();
      await watching;
    },
  };
}

/** The calls after the one with this id, the oldest first; all that a list has room for if the log does not have it (any more). */
function readCallsAfter(folder: string, id: string | undefined): { calls: LogEntry[]; isAll: boolean } {
  const calls: LogEntry[] = [];
  for (const call of readCalls(folder)) {
    if (call._sotra.id === id) return { calls: calls.reverse(), isAll: false };
    if (calls.push(call) === maxListed) break;
  }
  return { calls: calls.reverse(), isAll: true };
}

/** All attempts of a call among the calls of its command: those with its method and path, numbered from 1 on. */
function findAttempts(calls: readonly KeptCall[], call: KeptCall): KeptCall[] {
  const same = calls.filter(({ row }) => row.title === call.row.title);
  const at = same.indexOf(call);
  const first = same.findLastIndex(({ attempt }, index) => index <= at && attempt === 1);
  const next = same.findIndex(({ attempt }, index) => index > at && attempt === 1);
  return same.slice(Math.max(0, first), next === -1 ? undefined : next);
}

function makeRow(call: LogEntry): ActivityRow {
  const { id, atMs, ms, method, path, status, attempt, error, command } = summarizeEntry(call);
  return {
    id: `${callIdStart}${id}`,
    kind: 'request',
    atMs: atMs + ms,
    title: `${method} ${path}`,
    ...(attempt > 1 && { number: attempt }),
    about: error ?? command,
    status: String(status ?? 'no answer'),
    failed: error !== undefined || status === null || status >= 400,
    durationMs: ms,
  };
}

/** The command that made these calls; it ends with the last one. */
function commandRow(calls: readonly KeptCall[]): ActivityRow {
  const [first, last] = [calls[0], calls.at(-1)];
  const { id = '', atMs = 0, durationMs = 0 } = first?.row ?? {};
  return {
    id: id.replace(callIdStart, commandIdStart),
    kind: 'command',
    atMs: atMs - durationMs,
    title: first?.command ?? '',
    about: counted(calls.length, 'request'),
    status: last?.row.failed ? 'failed' : 'done',
    failed: last?.row.failed ?? false,
  };
}
