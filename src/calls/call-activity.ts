import { tryParseJson } from '../api/json.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import {
  type ActivityDetail,
  type ActivityRow,
  type ActivitySource,
  dropOldest,
  type Edited,
  listKept,
  maxListed,
  type SendOutcome,
  sentOutcome,
} from '../pages/activity.ts';
import type { LiveLog } from '../pages/serve.ts';
import { findHistory } from './log.ts';
import {
  findCall,
  type NumberedEntry,
  readCalls,
  readLogVersion,
  readPath,
  refuseLost,
  summarizeCall,
} from './read-log.ts';
import { checkSent, showExchange } from './show-exchange.ts';
import { describeCallFailure } from './why.ts';

/** The calls of the history to the service in use, which may be sent again. */
export interface CallActivity {
  context: Context;
  /** How command lines for the service begin. */
  commandStart: string;
  /** Makes what sends one request, as a command does. */
  openSender: () => Context;
  live: LiveLog;
  /** By the id of their rows, the oldest first. */
  kept: Map<string, KeptCall>;
  /** Of the log, when it was last read. */
  version: string;
  /** The id of the newest call that was read. */
  newest: string | undefined;
  /** Looks for new calls, from the first list to `close`. */
  watching: Promise<void> | undefined;
  stop: AbortController;
}

interface KeptCall {
  row: ActivityRow;
  command: string;
  pid: number;
}

const lookEveryMs = 1000;
const idStart = 'req-';

export function openCallActivity(
  options: Pick<CallActivity, 'context' | 'commandStart' | 'openSender' | 'live'>,
): CallActivity {
  const [kept, stop] = [new Map<string, KeptCall>(), new AbortController()];
  return { ...options, kept, version: '', newest: undefined, watching: undefined, stop };
}

export async function closeCallActivity({ stop, watching }: CallActivity): Promise<void> {
  stop.abort();
  await watching;
}

export function callSource(activity: CallActivity): ActivitySource {
  const { context, kept } = activity;
  return {
    owns: (id) => id.startsWith(idStart),
    list: async (_, untilMs) => {
      await readNewCalls(activity);
      activity.watching ??= watch(activity).catch((thrown: Error) =>
        context.warn(`the requests are not kept up to date: ${thrown.message}`),
      );
      return listKept(
        [...kept.values()].map(({ row }) => row),
        untilMs,
      );
    },
    show: (id) => showCall(activity, id),
    send: (id, edited) => sendAgain(activity, id, edited),
  };
}

async function watch(activity: CallActivity): Promise<void> {
  const { context, stop } = activity;
  while (!stop.signal.aborted) {
    await context.io.sleep(lookEveryMs, stop.signal).catch(() => undefined);
    if (!stop.signal.aborted) await readNewCalls(activity);
  }
}

/** Reads the calls since the last look, and shows them. */
async function readNewCalls(activity: CallActivity): Promise<void> {
  const { context, kept, live, watching } = activity;
  const folder = findHistory(context.io);
  const { baseUrl } = await context.config.service();
  const before = activity.version;
  activity.version = readLogVersion(folder);
  if (activity.version === before) return;
  const { calls, isAll } = readCallsAfter(folder, activity.newest);
  activity.newest = calls.at(-1)?._sotra.id ?? (isAll ? undefined : activity.newest);
  if (isAll) {
    if (watching !== undefined && kept.size > 0) live.add('load', null);
    kept.clear();
  }
  for (const call of calls) {
    if (call._sotra.baseUrl !== baseUrl) continue;
    const { command, pid } = call._sotra;
    const row = makeCallRow(call);
    kept.set(row.id, { row, command, pid });
    dropOldest(kept, maxListed);
    if (watching !== undefined) live.add('row', row);
  }
}

async function find({ kept, context }: CallActivity, id: string) {
  const found = kept.get(id);
  if (found === undefined) throw new SotraError('not-found', `request ${id.slice(0, 40)}: is not in the history`);
  return { ...found, entry: await findCall(id.slice(idStart.length), context) };
}

async function showCall(activity: CallActivity, id: string): Promise<ActivityDetail> {
  const { context, commandStart, kept } = activity;
  const { row, entry, command, pid } = await find(activity, id);
  const { baseUrl, wire } = await context.config.service();
  const calls = [...kept.values()].filter((each) => each.command === command && each.pid === pid);
  const rows = calls.map((each) => each.row);
  const at = rows.findIndex((each) => each.id === id);
  return showExchange({
    row,
    entry,
    commandStart,
    baseUrl,
    wire,
    keys: [],
    why: await describeCallFailure(entry, context),
    facts: [['Command', command]],
    // Other requests of the same command.
    chain: { before: rows.slice(0, at), after: rows.slice(at + 1) },
  });
}

async function sendAgain(activity: CallActivity, id: string, edited: Edited): Promise<SendOutcome> {
  const { kept, openSender } = activity;
  const { entry } = await find(activity, id);
  const { request, _sotra } = entry;
  const { method = request.method, target = readPath(request.url, _sotra.baseUrl) } = edited;
  const path = checkSent(method, target);
  const body = method === 'GET' ? '' : String(edited.body ?? request.postData?.text ?? '');
  refuseLost(entry, { path, body });
  const known = new Set(kept.keys());
  const sender = openSender();
  const sent = body === '' ? {} : { body: tryParseJson(body) ?? body, bodyText: body };
  const problem = await sender.client.request({ method, path, ...sent }).catch((thrown: unknown) => thrown);
  await sender.client.close();
  await readNewCalls(activity);
  const [bare = ''] = path.split('?');
  const isMade = ({ row }: KeptCall) => !known.has(row.id) && row.title.startsWith(`${method} ${bare}`);
  const made = [...kept.values()].findLast(isMade)?.row;
  if (made === undefined && problem instanceof Error) throw problem;
  return sentOutcome(made);
}

/** The calls after the one with this id, the oldest first; all that a list has room for if the log does not have it (any more). */
function readCallsAfter(folder: string, id: string | undefined): { calls: NumberedEntry[]; isAll: boolean } {
  const calls: NumberedEntry[] = [];
  for (const call of readCalls(folder)) {
    if (call._sotra.id === id) return { calls: calls.reverse(), isAll: false };
    if (calls.push(call) === maxListed) break;
  }
  return { calls: calls.reverse(), isAll: true };
}

function makeCallRow(call: NumberedEntry): ActivityRow {
  const { id, atMs, ms, method, path, status, attempt, error, command } = summarizeCall(call);
  return {
    id: `${idStart}${id}`,
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
