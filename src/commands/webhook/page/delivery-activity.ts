import { setImmediate } from 'node:timers/promises';
import { isHttpAddress, suggestScheme } from '../../../api/http-address.ts';
import { curlLine, deliveryRequest } from '../../../client/preview.ts';
import { hideUrlSecrets } from '../../../client/secrets.ts';
import { argumentWord, flagWords, shellLine } from '../../../client/shell.ts';
import type { Context } from '../../../context.ts';
import { readMessage, usageError } from '../../../errors.ts';
import type { Forward, Retry } from '../../../lib/forward.ts';
import { formatTime } from '../../../lib/output/format.ts';
import {
  type ActivityDetail,
  type ActivityList,
  type ActivityRow,
  type ActivitySource,
  type Edited,
  maxListed,
  type SendOutcome,
  targetError,
} from '../../../pages/activity.ts';
import type { LiveLog } from '../../../pages/live-log.ts';
import { forward, forwardedHeaders, headerPairs, signatureIn } from '../../../webhooks/forward.ts';
import { type Inbox, type StoredEvent, secretDigits, type Target } from '../../../webhooks/inbox.ts';
import type { RefusedRequest } from '../../../webhooks/listener.ts';
import { makeEventRow } from '../event-view.ts';
import { type InboxPlace, inboxFlags } from '../open-inbox.ts';
import { explainRefusal, type NamedSecret, verificationSteps } from './verification.ts';

export interface DeliveryActivityOptions {
  inbox: Inbox;
  place: InboxPlace;
  secrets: readonly NamedSecret[];
  toleranceMs: number | undefined;
  targets: readonly Target[];
  context: Context;
  live: LiveLog;
}

/** The latest refused requests are kept, and no more: anybody may send them, and many. */
const maxRefused = 200;
/** How much of a body is shown. */
const shownBytes = 256 * 1024;

/** The deliveries of an inbox: events, attempts at targets, and requests that were refused. `broken` rejects if the inbox cannot be read. */
export function openDeliveryActivity(options: DeliveryActivityOptions) {
  const { inbox, context, targets, live } = options;
  const refused: (RefusedRequest & { number: number })[] = [];
  let refusedCount = 0;
  const stop = new AbortController();
  const follow = async () => {
    for await (const event of inbox.follow({}, stop.signal)) live.add('row', makeRow(event));
  };
  const following = follow();
  const broken = following.then(() => new Promise<never>(() => undefined));
  broken.catch(() => undefined);

  const find = async (id: string): Promise<StoredEvent> => {
    for await (const event of inbox.events({ idStart: id })) if (event.eventId === id) return event;
    throw usageError(`event ${id.slice(0, 80)}: is not stored any more`);
  };
  const list = async (beforeMs?: number): Promise<ActivityList> => {
    const rows = beforeMs === undefined ? refused.map(refusedRow) : [];
    const retries = await inbox.retries();
    const query = beforeMs === undefined ? {} : { untilMs: beforeMs - 1 };
    for await (const event of inbox.events(query)) {
      if (rows.length >= maxListed) return { rows, hasMore: true };
      rows.push(makeRow(event), ...listAttempts(event, retries).map(({ row }) => row));
      // Lets the listener answer.
      if (rows.length % 100 < 2) await setImmediate();
    }
    return { rows, hasMore: false };
  };
  const look = async (ids: readonly string[]): Promise<ActivityRow[]> => {
    const rows: ActivityRow[] = [];
    const retries = await inbox.retries();
    for (const id of new Set(ids.map((each) => readId(each).eventId))) {
      const event = await find(id).catch(() => undefined);
      if (event !== undefined) rows.push(makeRow(event), ...listAttempts(event, retries).map(({ row }) => row));
    }
    return rows;
  };
  const show = async (id: string): Promise<ActivityDetail> => {
    if (id.startsWith('refused-')) return showRefused(findRefused(id), options);
    const { eventId, url } = readId(id);
    const event = await find(eventId);
    const attempts = listAttempts(event, await inbox.retries());
    if (url === undefined) return showEvent(event, attempts, options);
    const attempt = attempts.find((each) => hideUrlSecrets(each.url) === url);
    if (attempt === undefined) throw usageError(`target ${url.slice(0, 200)}: did not get this event`);
    return showAttempt(event, attempt, options);
  };
  const findRefused = (id: string) => {
    const found = refused.find(({ number }) => id === `refused-${number}`);
    if (found === undefined) throw usageError('this request is not kept any more', `The latest ${maxRefused} are.`);
    return found;
  };
  const send = async (id: string, edited: Edited): Promise<SendOutcome> => {
    const { eventId, url } = readId(id);
    const event = await find(eventId);
    const known = [
      ...targets.map((each) => each.url),
      ...listAttempts(event, await inbox.retries()).map((each) => each.url),
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
    const { ok, status, error } = await forward(to, event.delivery, { answerMs: context.options.timeoutMs, signal });
    const ms = io.now() - startedMs;
    const text = `${ok ? 'Accepted' : 'Not accepted'} by ${hideUrlSecrets(to)}: ${status ?? error} in ${ms} ms`;
    return { id: null, text, failed: !ok };
  };
  const source: ActivitySource = { owns: (id) => /^(?:event|attempt|refused)-/.test(id), list, look, show, send };
  return {
    source,
    broken,
    addRefused: (request: RefusedRequest) => {
      refusedCount += 1;
      const kept = { ...request, number: refusedCount };
      refused.push(kept);
      if (refused.length > maxRefused) refused.shift();
      live.add('row', refusedRow(kept));
    },
    stop: async () => {
      stop.abort();
      await following.catch((error: unknown) => context.warn(readMessage(error)));
    },
  };
}

interface Attempt {
  row: ActivityRow;
  url: string;
  facts: ActivityDetail['facts'];
}

/** Ids are `event-<id>` and `attempt-<id> <address of the target, without secrets>`. */
function readId(id: string): { eventId: string; url: string | undefined } {
  const [, eventId = '', url] = /^(?:event|attempt)-(\S*)(?: (.*))?$/.exec(id) ?? [];
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

/** What targets answered, and the retries of those that have not accepted it yet. */
function listAttempts({ eventId, eventType, delivery, forwards }: StoredEvent, retries: readonly Retry[]): Attempt[] {
  const describe = (made: Pick<Forward, 'url' | 'status' | 'tries' | 'atMs' | 'error'>, more: Partial<ActivityRow>) => {
    const url = hideUrlSecrets(made.url);
    return {
      id: `attempt-${eventId} ${url}`,
      kind: 'attempt' as const,
      atMs: made.atMs,
      title: `${eventType} → ${url}`,
      about: made.error ?? '',
      status: String(made.status ?? 'no answer'),
      failed: false,
      causeId: `event-${eventId}`,
      ...more,
    };
  };
  const ended = forwards.map((made): Attempt => {
    const { url, outcome, ms, tries } = made;
    const row = describe(made, { failed: outcome === 'failed', durationMs: ms });
    return { url, row, facts: [['Tries', String(tries)]] };
  });
  const open = retries.filter((each) => each.webhook === delivery.webhook && each.seq === delivery.seq);
  const waiting = open.map((made): Attempt => {
    const { url, tries, nextMs } = made;
    const row = describe(made, { failed: true, waiting: true });
    return {
      url,
      row,
      facts: [
        ['Tries', String(tries)],
        ['Next try', formatTime(Math.floor(nextMs / 1000))],
      ],
    };
  });
  return [...ended, ...waiting];
}

function showEvent(event: StoredEvent, attempts: readonly Attempt[], options: DeliveryActivityOptions): ActivityDetail {
  const { delivery, eventId } = event;
  const to = attempts[0]?.url ?? options.targets[0]?.url;
  const failed = attempts.find(({ row }) => row.failed);
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

function showAttempt(event: StoredEvent, attempt: Attempt, options: DeliveryActivityOptions): ActivityDetail {
  const { row, url, facts } = attempt;
  return {
    row,
    ...(row.failed && { error: describeFailure(attempt) }),
    facts: [['Target', hideUrlSecrets(url)], ...facts],
    ...showDelivery(event, url, options),
    chain: { before: [makeRow(event)], after: [] },
  };
}

function describeFailure({ row, url }: Attempt) {
  return targetError(hideUrlSecrets(url), row.about || row.status);
}

/** The received request, and the commands that send it again. */
function showDelivery({ delivery, eventId }: StoredEvent, url: string | undefined, options: DeliveryActivityOptions) {
  const { body, headers, webhook } = delivery;
  const to = hideUrlSecrets(url ?? 'http://127.0.0.1:3000/hook');
  const flags = shellLine([...flagWords('--to', to), ...inboxFlags(options.place)]);
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
