import { setImmediate } from 'node:timers/promises';
import { isHttpAddress, suggestScheme } from '../../../api/http-address.ts';
import { curlLine, deliveryRequest } from '../../../client/preview.ts';
import { hideUrlSecrets } from '../../../client/secrets.ts';
import { argumentWord, flagWords, shellLine } from '../../../client/shell.ts';
import type { Context } from '../../../context.ts';
import { readMessage, usageError } from '../../../errors.ts';
import type { Forward, Retry } from '../../../lib/outbox.ts';
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
import type { LiveLog } from '../../../pages/live-log.ts';
import { forward, forwardedHeaders, headerPairs, signatureIn } from '../../../webhooks/forward.ts';
import {
  type ForwardTry,
  type Inbox,
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
  toleranceMs: number | undefined;
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

/** The deliveries of an inbox: events, attempts at targets, and requests that were refused. `broken` rejects if the inbox cannot be read. */
export function openDeliveryActivity(options: DeliveryActivityOptions) {
  const { inbox, context, targets, live } = options;
  const refused: (RefusedRequest & { number: number })[] = [];
  let refusedCount = 0;
  const tried: Tries = new Map();
  let sentCount = 0;
  const keepTry = (eventId: string, attempt: Attempt) => {
    tried.set(eventId, [...(tried.get(eventId) ?? []), attempt]);
    dropOldest(tried, maxTried);
  };
  const stop = new AbortController();
  const follow = async () => {
    for await (const event of inbox.follow({}, stop.signal)) live.add('row', makeRow(event));
  };
  const following = inbox.isStream ? follow() : Promise.resolve();
  const broken = following.then(() => new Promise<never>(() => undefined));
  broken.catch(() => undefined);

  const find = async (id: string): Promise<StoredEvent> => {
    for await (const event of inbox.events({ idStart: id })) if (event.eventId === id) return event;
    throw usageError(`event ${id.slice(0, 80)}: is no longer stored`);
  };
  const list = async (limit: number, untilMs?: number): Promise<ActivityList> => {
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
  };
  const look = async (ids: readonly string[]): Promise<ActivityRow[]> => {
    const retries = await inbox.retries();
    const wanted = [...new Set(ids.map((each) => readId(each).eventId))];
    const events = await Promise.all(wanted.map((id) => find(id).catch(() => undefined)));
    return events.flatMap((event) => (event === undefined ? [] : listRows(event, retries, tried)));
  };
  const show = async (id: string): Promise<ActivityDetail> => {
    if (id.startsWith('refused-')) return showRefused(findRefused(id), options);
    const event = await find(readId(id).eventId);
    const attempts = listAttempts(event, await inbox.retries(), tried);
    if (id.startsWith('event-')) return showEvent(event, attempts, options);
    const attempt = attempts.find(({ row }) => row.id === id);
    if (attempt === undefined) throw usageError(`${id.slice(0, 200)}: is no longer kept`);
    return showAttempt(event, { attempt, attempts }, options);
  };
  const findRefused = (id: string) => {
    const found = refused.find(({ number }) => id === `refused-${number}`);
    if (found === undefined) throw usageError('this request is no longer kept', `The latest ${maxRefused} are.`);
    return found;
  };
  const send = async (id: string, edited: Edited): Promise<SendOutcome> => {
    const { eventId, url } = readId(id);
    const event = await find(eventId);
    const known = [
      ...targets.map((each) => each.url),
      ...listAttempts(event, await inbox.retries(), tried).map((each) => each.url),
    ];
    const shown = edited.url ?? url ?? known[0];
    if (shown === undefined) throw usageError('no target is known', 'Press Edit and type an address.');
    // The secret in a known address is not on the page.
    const to = known.find((each) => hideUrlSecrets(each) === shown) ?? shown;
    if (!isHttpAddress(to))
      throw usageError(`target ${to.slice(0, 200)}: must be an http or https address${suggestScheme(to)}`);
    const { io } = context;
    const startedMs = io.now();
    const signal = AbortSignal.any([io.signal, stop.signal]);
    const outcome = await forward(to, event.delivery, { answerMs: context.options.timeoutMs, signal });
    const atMs = io.now();
    sentCount += 1;
    const made = { ...outcome, url: to, tries: `sent${sentCount}`, atMs };
    const attempt = makeAttempt(event, made, { failed: !outcome.ok, durationMs: atMs - startedMs });
    keepTry(eventId, attempt);
    live.add('row', attempt.row);
    return sentOutcome(attempt.row);
  };
  const source: ActivitySource = { owns: (id) => /^(?:event|attempt|refused)-/.test(id), list, look, show, send };
  return {
    source,
    broken,
    /** A delivery of this listener; from a cluster those of all listeners come. */
    addStored: (delivery: StoredDelivery) => {
      if (inbox.isStream) return;
      const status = delivery.isWaiting ? 'waiting' : null;
      for (const event of delivery.events) live.add('row', makeRow({ ...event, delivery, status, forwards: [] }));
    },
    addRefused: (request: RefusedRequest) => {
      refusedCount += 1;
      const kept = { ...request, number: refusedCount };
      refused.push(kept);
      if (refused.length > maxRefused) refused.shift();
      live.add('row', refusedRow(kept));
    },
    addTry: ({ delivery, target, outcome, tries, ms, atMs }: ForwardTry, waitMs: number | undefined) => {
      const made = { ...outcome, url: target.url, tries, atMs };
      for (const event of delivery.events) {
        const attempt = makeAttempt(event, made, {
          failed: !outcome.ok,
          waiting: waitMs !== undefined,
          durationMs: ms,
        });
        const last = tried.get(event.eventId)?.findLast(({ key }) => key === attempt.key);
        if (last?.row.waiting) {
          last.row = { ...last.row, waiting: false };
          live.add('row', last.row);
        }
        live.add('row', attempt.row);
        if (!outcome.ok) keepTry(event.eventId, attempt);
      }
    },
    stop: async () => {
      stop.abort();
      await following.catch((error: unknown) => context.warn(readMessage(error)));
    },
  };
}

export type DeliveryActivity = ReturnType<typeof openDeliveryActivity>;

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

function showRefused(kept: RefusedRequest & { number: number }, options: DeliveryActivityOptions): ActivityDetail {
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

function refusedRow({ number, atMs, method, path, status, reason }: RefusedRequest & { number: number }): ActivityRow {
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
