import type { WireNames } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { describeCall, maxLoggedBytes, type SeenCall } from '../../calls/describe-call.ts';
import type { LogEntry } from '../../calls/entry.ts';
import { explainEntry } from '../../calls/explain.ts';
import { checkSent, showExchange } from '../../calls/show-exchange.ts';
import { NetworkFailure } from '../../client/failures.ts';
import { secretHider } from '../../client/secrets.ts';
import { type Transport, usualLimits } from '../../client/transport.ts';
import { usageError } from '../../errors.ts';
import {
  type ActivityDetail,
  type ActivityRow,
  type ActivitySource,
  type Edited,
  listKept,
  maxListed,
  type SendOutcome,
  sentOutcome,
} from '../../pages/activity.ts';
import type { LiveLog } from '../../pages/serve.ts';
import { sandboxPartners } from '../../sandbox/db/world.ts';
import type { FaultyAnswer } from '../../sandbox/serve/fault.ts';
import { type LoggedRequest, sayWhose } from '../../sandbox/serve/request-log.ts';
import type { ReceivedRequest } from '../../sandbox/serve/serve.ts';
import { readBearer } from '../../sandbox/service/handler.ts';

/** The latest requests of a served sandbox with their answers; they can be sent again. */
export interface RequestActivity {
  /** Of the sandbox. */
  url: string;
  wire: WireNames;
  transport: Transport;
  timeoutMs: number;
  signal: AbortSignal;
  commandStart: string;
  live: LiveLog;
  /** What followed from a request, by the text of its answer. */
  listCaused: (answer: string) => readonly ActivityRow[];
  /** The oldest first. */
  kept: KeptRequest[];
  /** How many there were, and the bytes of those that are kept. */
  counts: { requests: number; bytes: number };
}

interface KeptRequest {
  row: ActivityRow;
  logged: LoggedRequest;
  entry: LogEntry;
  /** As it came, with its secrets: it stays in this process. */
  sent: { method: string; target: string; authorization: string | undefined; text: string | undefined };
  bytes: number;
}

/** Limit of all kept bodies together. */
const maxKeptBytes = 32 * 1024 * 1024;

export type ExchangeParts = readonly [logged: LoggedRequest, heard: ReceivedRequest, answer: FaultyAnswer];

export function addRequest(activity: RequestActivity, ...[logged, heard, answer]: ExchangeParts): void {
  const { url, wire, kept, counts, live } = activity;
  counts.requests += 1;
  const { method, target, authorization, text } = heard;
  const row = makeRow(`${idStart}${counts.requests}`, logged);
  const entry = describeExchange({ logged, heard, answer }, url, wire);
  const bytes = (text?.length ?? 0) + Math.min(answer.text.length, maxLoggedBytes);
  kept.push({ row, logged, entry, sent: { method, target, authorization, text }, bytes });
  counts.bytes += bytes;
  while (kept.length > maxListed || counts.bytes > maxKeptBytes) counts.bytes -= kept.shift()?.bytes ?? 0;
  live.add('row', row);
}

/** The newest request whose answer contains a text. */
export function findByAnswer({ kept }: RequestActivity, text: string): ActivityRow | undefined {
  const holds = ({ entry: { request, response } }: KeptRequest) =>
    request.method !== 'GET' && response.content.text?.includes(text);
  return kept.findLast(holds)?.row;
}

export function requestSource(activity: RequestActivity): ActivitySource {
  return {
    owns: (id) => id.startsWith(idStart),
    list: async (_, untilMs) => {
      const rows = activity.kept.map(({ row }) => row);
      return listKept(rows, untilMs);
    },
    show: (id) => showRequest(activity, id),
    send: (id, edited) => sendAgain(activity, id, edited),
  };
}

function findRequest({ kept }: RequestActivity, id: string): KeptRequest {
  const found = kept.find(({ row }) => row.id === id);
  if (found === undefined) throw usageError(`request ${id.slice(0, 40)}: is no longer kept`);
  return found;
}

async function showRequest(activity: RequestActivity, id: string): Promise<ActivityDetail> {
  const { url, wire, commandStart, listCaused } = activity;
  const { row, logged, entry } = findRequest(activity, id);
  const { key, fault } = logged;
  const by = sayWhose(logged);
  return showExchange({
    row,
    entry,
    commandStart,
    baseUrl: url,
    wire,
    keys: [['', `unchanged: ${by}`], ...sentKeys],
    why: await explainEntry(entry, { endpoints, wire, typedBaseUrl: url, ...(key !== null && { keyName: key }) }),
    facts: [['By', by], ...(fault === undefined ? [] : [['Fault', fault] as const])],
    chain: { before: [], after: listCaused(entry.response.content.text ?? '') },
  });
}

/** Sends a request with changes. Errors: `usage`; those of the transport. */
async function sendAgain(activity: RequestActivity, id: string, edited: Edited): Promise<SendOutcome> {
  const { url, kept, counts, transport, timeoutMs, signal } = activity;
  const { sent } = findRequest(activity, id);
  const { method = sent.method, target = sent.target, body = sent.text, key } = edited;
  const address = new URL(url).origin + checkSent(method, target);
  const partner = sandboxPartners.find((each) => each.id === key);
  const authorization = partner === undefined ? sent.authorization : `Bearer ${partner.key}`;
  const hasBody = method !== 'GET' && typeof body === 'string' && body !== '';
  const request = {
    method,
    url: new URL(address),
    headers: {
      ...(authorization !== undefined && key !== 'none' && { authorization }),
      ...(hasBody && { 'content-type': 'application/json' }),
    },
    ...(hasBody && { body }),
  };
  const last = counts.requests;
  const limits = { timeoutMs, totalMs: timeoutMs, maxBytes: usualLimits.maxBodyBytes, signal };
  await transport.send(request, limits).catch(readBroken);
  const isSame = ({ row, logged, entry }: KeptRequest) =>
    Number(row.id.slice(idStart.length)) > last &&
    logged.method === method &&
    entry.request.url.includes(request.url.pathname);
  return sentOutcome(kept.findLast(isSame)?.row);
}

const idStart = 'req-';

function makeRow(id: string, logged: LoggedRequest): ActivityRow {
  const { time, method, path, ms, error, status, ignored, fault } = logged;
  const about = [
    ...(error === null ? [sayWhose(logged)] : [error]),
    ...(ignored.length > 0 ? [`ignored: ${ignored.join(', ')}`] : []),
    ...(fault === undefined ? [] : [`fault: ${fault}`]),
  ];
  return {
    id,
    kind: 'request',
    atMs: Date.parse(time),
    title: `${method} ${path}`,
    about: about.join('; '),
    status: status === 0 ? 'no answer' : String(status),
    failed: status >= 400 || error !== null,
    durationMs: ms,
  };
}

/** What a request can be sent with instead of its own key. */
const sentKeys = [
  ...sandboxPartners.map(({ id }) => [id, `key of partner ${id}`] as const),
  ['none', 'no key'],
] as const;

/** An injected fault that closes the connection is no error here. */
function readBroken(thrown: unknown): undefined {
  if (!(thrown instanceof NetworkFailure) || thrown.kind !== 'broken') throw thrown;
}

interface Exchange {
  logged: LoggedRequest;
  heard: ReceivedRequest;
  answer: FaultyAnswer;
}

/** A request and its answer as an entry of the log of calls, with secrets hidden. */
function describeExchange({ logged, heard, answer }: Exchange, baseUrl: string, wire: WireNames): LogEntry {
  const { method, target, headers, authorization, text: body } = heard;
  const address = `${new URL(baseUrl).origin}${target}`;
  const request = {
    method,
    url: new URL(URL.canParse(address) ? address : baseUrl),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')])),
    ...(body !== undefined && body !== '' && { body }),
  };
  const startedMs = Date.parse(logged.time) - logged.ms;
  const facts = { command: '', pid: 0, baseUrl, wire };
  const ended = describeEnd(answer, logged.ms);
  const error = ended.kind === 'failure' ? { errorCode: 'network', error: ended.message } : {};
  return describeCall(
    { request, startedMs, attempt: 1, ended },
    { ...facts, ...error },
    secretHider(readBearer(authorization)),
  );
}

function describeEnd({ status, headers, text: whole, cut }: FaultyAnswer, ms: number): NonNullable<SeenCall['ended']> {
  if (cut === 'all')
    return { kind: 'failure', message: 'the connection was closed before the answer', ms, cause: undefined };
  const text = cut === 'half' ? whole.slice(0, whole.length / 2) : whole;
  return { kind: 'answer', status, headers, text, bytes: Buffer.byteLength(text), ms };
}
