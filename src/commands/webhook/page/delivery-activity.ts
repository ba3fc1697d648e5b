import { setImmediate } from 'node:timers/promises';
import { isHttpAddress, suggestScheme } from '../../../api/http-address.ts';
import { curlLine, deliveryRequest } from '../../../client/preview.ts';
import { hideUrlSecrets } from '../../../client/secrets.ts';
import { argumentWord, flagWords, shellLine } from '../../../client/shell.ts';
import type { Context } from '../../../context.ts';
import { readMessage, usageError } from '../../../errors.ts';
import { untilAborted } from '../../../lib/io.ts';
import { formatTime } from '../../../lib/output/format.ts';
import {
  type ActivityDetail,
  type ActivityList,
  type ActivityRow,
  type ActivitySource,
  dropOldest,
  type Edited,
  listKept,
  type SendOutcome,
  sentOutcome,
  targetError,
} from '../../../pages/activity.ts';
import type { LiveLog } from '../../../pages/serve.ts';
import { forward, forwardedHeaders, headerPairs, signatureIn } from '../../../webhooks/forward.ts';
import {
  type Forward,
  type ForwardTry,
  type Inbox,
  type Retry,
  type StoredDelivery,
  type StoredEvent,
  secretDigits,
  type Target,
} from '../../../webhooks/inbox.ts';
import type { RefusedRequest } from '../../../webhooks/listener.ts';
import { type InboxLocation, inboxFlags } from '../open-inbox.ts';
import { explainRefusal, type NamedSecret, verificationSteps } from '../verification.ts';
import { makeEventRow } from '../view.ts';

export interface DeliveryActivityOptions {
  inbox: Inbox;
  location: InboxLocation;
  secrets: readonly NamedSecret[];
  toleranceMs: number;
  targets: readonly Target[];
  context: Context;
  live: LiveLog;
}

/** Only the latest refused requests are kept: anyone may send many. */
const maxRefused = 200;
/** Events whose tries are kept. */
const maxTried = 500;
/** How much of a body is shown. */
const shownBytes = 256 * 1024;

/** The deliveries of an inbox: events, attempts at targets, and requests that were refused. */
export interface DeliveryActivity extends DeliveryActivityOptions {
  refused: NumberedRequest[];
  tried: Tries;
  /** How many requests were refused, and deliveries sent again on the page, so far. */
  counts: { refused: number; sent: number };
  stop: AbortController;
  /** Resolves when the inbox is no longer followed. Rejects if it cannot be read. */
  following: Promise<void>;
}

type NumberedRequest = RefusedRequest & { number: number };

/** Follows an inbox on a cluster, to which other listeners add too. */
export function openDeliveryActivity(options: DeliveryActivityOptions): DeliveryActivity {
  const { inbox, live } = options;
  const stop = new AbortController();
  const follow = async () => {
    for await (const event of inbox.follow({}, stop.signal)) live.add('row', makeRow(event));
  };
  const following = inbox.isStream ? follow() : untilAborted(stop.signal);
  following.catch(() => undefined);
  return { ...options, refused: [], tried: new Map(), counts: { refused: 0, sent: 0 }, stop, following };
}

export async function closeDeliveryActivity({ stop, following, context }: DeliveryActivity): Promise<void> {
  stop.abort();
  await following.catch((error: unknown) => context.warn(readMessage(error)));
}

/** Adds a delivery of this listener; from a cluster those of all listeners come. */
export function addStored({ inbox, live }: DeliveryActivity, delivery: StoredDelivery): void {
  if (inbox.isStream) return;
  const status = delivery.isWaiting ? 'waiting' : null;
  for (const event of delivery.events) live.add('row', makeRow({ ...event, delivery, status, forwards: [] }));
}

export function addRefused({ refused, counts, live }: DeliveryActivity, request: RefusedRequest): void {
  counts.refused += 1;
  const kept = { ...request, number: counts.refused };
  refused.push(kept);
  if (refused.length > maxRefused) refused.shift();
  live.add('row', refusedRow(kept));
}

/** Adds a try to forward a delivery; `waitMs`: until the next one. */
export function addTry(activity: DeliveryActivity, made: ForwardTry, waitMs: number | undefined): void {
  const { tried, live } = activity;
  const { delivery, target, outcome, tries, ms, atMs } = made;
  const more = { failed: !outcome.ok, waiting: waitMs !== undefined, durationMs: ms };
  for (const event of delivery.events) {
    const attempt = makeAttempt(event, { ...outcome, url: target.url, tries, atMs }, more);
    const last = tried.get(event.eventId)?.findLast(({ key }) => key === attempt.key);
    if (last?.row.waiting) {
      last.row = { ...last.row, waiting: false };
      live.add('row', last.row);
    }
    live.add('row', attempt.row);
    if (!outcome.ok) keepTry(activity, event.eventId, attempt);
  }
}

function keepTry({ tried }: DeliveryActivity, eventId: string, attempt: Attempt): void {
  tried.set(eventId, [...(tried.get(eventId) ?? []), attempt]);
  dropOldest(tried, maxTried);
}

export function deliverySource(activity: DeliveryActivity): ActivitySource {
  return {
    owns: (id) => /^(?:event|attempt|refused)-/.test(id),
    list: (limit, untilMs) => listActivity(activity, limit, untilMs),
    look: (ids) => readAgain(activity, ids),
    show: (id) => show(activity, id),
    send: (id, edited) => send(activity, id, edited),
  };
}

async function findEvent({ inbox }: DeliveryActivity, id: string): Promise<StoredEvent> {
  for await (const event of inbox.events({ idStart: id })) if (event.eventId === id) return event;
  throw usageError(`event ${id.slice(0, 80)}: is no longer stored`);
}

async function listActivity(activity: DeliveryActivity, limit: number, untilMs?: number): Promise<ActivityList> {
  const { inbox, refused, tried } = activity;
  const { rows: others } = listKept(refused.map(refusedRow), untilMs);
  const rows = [...others];
  const retries = await inbox.retries();
  for await (const event of inbox.events({ untilMs })) {
    if (rows.length >= limit + others.length) return { rows, hasMore: true };
    rows.push(...listRows(event, retries, tried));
    // Lets the listener answer.
    if (rows.length % 100 < 2) await setImmediate();
  }
  return { rows, hasMore: false };
}

async function readAgain(activity: DeliveryActivity, ids: readonly string[]): Promise<ActivityRow[]> {
  const { inbox, tried } = activity;
  const retries = await inbox.retries();
  const wanted = [...new Set(ids.map((each) => readId(each).eventId))];
  const events = await Promise.all(wanted.map((id) => findEvent(activity, id).catch(() => undefined)));
  return events.flatMap((event) => (event === undefined ? [] : listRows(event, retries, tried)));
}

async function show(activity: DeliveryActivity, id: string): Promise<ActivityDetail> {
  const { inbox, refused, tried } = activity;
  if (id.startsWith('refused-')) {
    const found = refused.find(({ number }) => id === `refused-${number}`);
    if (found === undefined) throw usageError('this request is no longer kept', `The latest ${maxRefused} are.`);
    return showRefused(found, activity);
  }
  const event = await findEvent(activity, readId(id).eventId);
  const attempts = listAttempts(event, await inbox.retries(), tried);
  if (id.startsWith('event-')) return showEvent(event, attempts, activity);
  const attempt = attempts.find(({ row }) => row.id === id);
  if (attempt === undefined) throw usageError(`${id.slice(0, 200)}: is no longer kept`);
  return showAttempt(event, { attempt, attempts }, activity);
}

async function send(activity: DeliveryActivity, id: string, edited: Edited): Promise<SendOutcome> {
  const { inbox, targets, tried, counts, stop, live } = activity;
  const { io, options } = activity.context;
  const { eventId, url } = readId(id);
  const event = await findEvent(activity, eventId);
  const attempts = listAttempts(event, await inbox.retries(), tried);
  const known = [...targets, ...attempts].map((each) => each.url);
  const shown = edited.url ?? url ?? known[0];
  if (shown === undefined) throw usageError('no target is known', 'Press Edit and type an address.');
  // The secret in a known address is not on the page.
  const to = known.find((each) => hideUrlSecrets(each) === shown) ?? shown;
  if (!isHttpAddress(to))
    throw usageError(`target ${to.slice(0, 200)}: must be an http or https address${suggestScheme(to)}`);
  const startedMs = io.now();
  const signal = AbortSignal.any([io.signal, stop.signal]);
  const outcome = await forward(to, event.delivery, { answerMs: options.timeoutMs, signal });
  const atMs = io.now();
  counts.sent += 1;
  const made = { ...outcome, url: to, tries: `sent${counts.sent}`, atMs };
  const attempt = makeAttempt(event, made, { failed: !outcome.ok, durationMs: atMs - startedMs });
  keepTry(activity, eventId, attempt);
  live.add('row', attempt.row);
  return sentOutcome(attempt.row);
}

interface Attempt {
  /** The event and its target. */
  key: string;
  row: ActivityRow;
  url: string;
  facts: ActivityDetail['facts'];
}

/** By event, the tries of which the inbox keeps only the last one, and those of this page. */
type Tries = Map<string, Attempt[]>;

/** Ids are `event-<id>` and `attempt-<id> <number of the try, or of this page> <address of the target, without secrets>`. */
function readId(id: string): { eventId: string; url: string | undefined } {
  const [, eventId = '', url] = /^(?:event|attempt)-(\S*)(?: (?:sent)?\d+ (.*))?$/.exec(id) ?? [];
  return { eventId, url };
}

function makeRow(event: StoredEvent): ActivityRow {
  const { eventId, eventType, about, status, webhook } = makeEventRow(event);
  return {
    id: `event-${eventId}`,
    kind: 'event',
    atMs: event.delivery.atMs,
    title: eventType,
    about: about === '' ? webhook : about,
    status: status ?? 'received',
    failed: status === 'failed',
    waiting: status === 'waiting',
  };
}

/** A try to send an event to a target. */
function makeAttempt(
  { eventId, eventType }: Pick<StoredEvent, 'eventId' | 'eventType'>,
  made: Pick<Forward, 'url' | 'status' | 'atMs' | 'error'> & { tries: number | string },
  more: Pick<ActivityRow, 'failed' | 'waiting' | 'durationMs'>,
): Attempt {
  const url = hideUrlSecrets(made.url);
  const { tries, atMs, error, status } = made;
  const row: ActivityRow = {
    id: `attempt-${eventId} ${tries} ${url}`,
    kind: 'attempt',
    atMs,
    title: `${eventType} → ${url}`,
    ...(typeof tries === 'number' && { number: tries }),
    about: error ?? (typeof tries === 'number' ? '' : 'sent again on this page'),
    status: String(status ?? 'no answer'),
    causeId: `event-${eventId}`,
    ...more,
  };
  return { key: `${eventId} ${url}`, row, url: made.url, facts: [] };
}

/** All known tries of an event, the oldest first. */
function listAttempts(event: StoredEvent, retries: readonly Retry[], tried: Tries): Attempt[] {
  const { delivery, forwards } = event;
  const ended = forwards.map((made) =>
    makeAttempt(event, made, { failed: made.outcome === 'failed', durationMs: made.ms }),
  );
  const open = retries.filter((each) => each.webhook === delivery.webhook && each.seq === delivery.seq);
  const waiting = open.map((made): Attempt => {
    const attempt = makeAttempt(event, made, { failed: true, waiting: true });
    return { ...attempt, facts: [['Next try', formatTime(Math.floor(made.nextMs / 1000))]] };
  });
  const stored = [...ended, ...waiting];
  const others = (tried.get(event.eventId) ?? []).filter(({ row }) => !stored.some((each) => each.row.id === row.id));
  return [...others, ...stored].sort((a, b) => a.row.atMs - b.row.atMs);
}

/** The row of an event and those of its tries. */
function listRows(event: StoredEvent, retries: readonly Retry[], tried: Tries): ActivityRow[] {
  return [makeRow(event), ...listAttempts(event, retries, tried).map(({ row }) => row)];
}

function showEvent(event: StoredEvent, attempts: readonly Attempt[], options: DeliveryActivityOptions): ActivityDetail {
  const { delivery, eventId } = event;
  const to = attempts[0]?.url ?? options.targets[0]?.url;
  const lasts = new Map(attempts.map((each) => [each.key, each]));
  const failed = [...lasts.values()].find(({ row }) => row.failed);
  return {
    row: makeRow(event),
    ...(failed && { error: describeFailure(failed) }),
    facts: [
      ['Event id', eventId],
      ['Webhook', delivery.webhook],
    ],
    ...showDelivery(event, to, options),
    chain: { before: [], after: attempts.map(({ row }) => row) },
  };
}

function showAttempt(
  event: StoredEvent,
  { attempt, attempts }: { attempt: Attempt; attempts: readonly Attempt[] },
  options: DeliveryActivityOptions,
): ActivityDetail {
  const { row, url, facts, key } = attempt;
  const tries = attempts.filter((each) => each.key === key).map((each) => each.row);
  const at = tries.indexOf(row);
  return {
    row,
    ...(row.failed && { error: describeFailure(attempt) }),
    facts,
    ...showDelivery(event, url, options),
    chain: { before: [makeRow(event), ...tries.slice(0, at)], after: tries.slice(at + 1) },
  };
}

function describeFailure({ row, url }: Attempt) {
  return targetError(hideUrlSecrets(url), row.about || row.status);
}

/** The received request, and the commands that send it again. */
function showDelivery({ delivery, eventId }: StoredEvent, url: string | undefined, options: DeliveryActivityOptions) {
  const { body, headers, webhook } = delivery;
  const to = hideUrlSecrets(url ?? 'http://127.0.0.1:3000/hook');
  const flags = shellLine([...flagWords('--to', to), ...inboxFlags(options.location)]);
  const request = deliveryRequest(to, forwardedHeaders(headers), body.toString());
  return {
    ...showReceived(delivery, secretDigits(webhook), options),
    command: `sotra webhook replay ${argumentWord(eventId)} ${flags}`,
    curl: body.length <= shownBytes ? curlLine(request).trim() : undefined,
    form: { kind: 'target' as const, url: to },
  };
}

function showRefused(kept: NumberedRequest, options: DeliveryActivityOptions): ActivityDetail {
  return {
    row: refusedRow(kept),
    error: { message: `Answered ${kept.status}: ${explainRefusal(kept, options.secrets)}.`, hints: [] },
    facts: [],
    ...showReceived(kept, undefined, options),
    chain: { before: [], after: [] },
  };
}

function showReceived(
  { headers, body, atMs }: Pick<RefusedRequest, 'atMs' | 'headers' | 'body'>,
  storedSecret: string | undefined,
  options: DeliveryActivityOptions,
) {
  return {
    request: {
      headers: headerPairs(headers),
      body: body?.subarray(0, shownBytes).toString('base64') ?? null,
      bodyBytes: body?.length ?? null,
    },
    verification: verificationSteps(
      { header: signatureIn(headers), body, atMs, ...(storedSecret !== undefined && { storedSecret }) },
      options,
    ),
  };
}

function refusedRow({ number, atMs, method, path, status, reason }: NumberedRequest): ActivityRow {
  return {
    id: `refused-${number}`,
    kind: 'refused',
    atMs,
    title: `${method} ${path.slice(0, 500)}`,
    about: reason,
    status: String(status),
    failed: true,
  };
}
