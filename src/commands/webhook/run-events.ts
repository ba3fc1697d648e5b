import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, usageError } from '../../errors.ts';
import { type Input, readWhole } from '../../files/source.ts';
import type { PostOutcome } from '../../http/post-delivery.ts';
import { deliveryRequest, maskHeader } from '../../http/preview.ts';
import { computeBackoff, policies } from '../../http/retry.ts';
import {
  type EventRow,
  events as eventsView,
  makeEventRow,
  type ReplayRow,
  replayed,
  type ShownEvent,
  shown,
} from '../../inbox/event-view.ts';
import { forward, forwardedHeaders, headerPairs, signatureIn } from '../../inbox/forward.ts';
import type { Delivery, EventQuery, Inbox, StoredDelivery, StoredEvent } from '../../inbox/inbox.ts';
import { openInbox, withInbox } from '../../inbox/open-inbox.ts';
import { makeEventQuery, readTimes } from '../../inbox/query.ts';
import { verifyDelivery } from '../../inbox/verify.ts';
import { parseDuration } from '../../model/duration.ts';
import { readHeader } from '../../model/signature-header.ts';
import { signBody } from '../../model/webhook-signature.ts';
import { counted, formatTime } from '../../output/format.ts';
import { readOwnSecrets } from '../../upload/secrets.ts';
import type { EventsInput, ReplayInput, ShowInput, VerifyInput } from './params.ts';
import { describeAge, verdict as verdictView } from './view.ts';

const defaultLimit = 50;

/** The stored events, newest first. Errors: `not-found` for a store that does not exist. */
export async function showEvents(input: EventsInput, context: Context): Promise<Result> {
  const query = { ...makeEventQuery(input), ...readTimes(input, context.io.now()) };
  const limit = input.limit ?? defaultLimit;
  const none = (): Result => ({ kind: 'answer', answer: [], view: eventsView });
  return withInbox<Result>(input, context, none, async (inbox) => {
    const rows: EventRow[] = [];
    let hasMore = false;
    for await (const event of inbox.events(query)) {
      hasMore = rows.length === limit;
      if (hasMore) break;
      rows.push(makeEventRow(event));
    }
    const notes = hasMore ? ['Older ones are stored too: --limit or --since shows more.'] : [];
    if (input.status === 'waiting') notes.push(...(await retryNotes(inbox)));
    return { kind: 'answer', answer: rows, view: eventsView, notes };
  });
}

/** What is sent again just now, a line each. */
async function retryNotes(inbox: Inbox): Promise<string[]> {
  return (await inbox.retries()).map(
    ({ url, webhook, error, tries, nextMs }) =>
      `${url} does not take ${webhook}: ${error}; ${tries === 1 ? '1 try' : `${tries} tries`}, the next at ${formatTime(Math.floor(nextMs / 1000))}`,
  );
}

/** New events as they are stored. Errors: `interrupted` at Ctrl-C or a signal; `usage` for what only stored events have. */
export async function followEvents(input: EventsInput, context: Context): Promise<Result> {
  for (const key of ['since', 'until', 'status', 'limit'] as const)
    if (input[key] !== undefined)
      throw usageError(`--follow and --${key} exclude each other`, '--follow prints what comes from now on.');
  const { signal } = context.io;
  const batches = async function* () {
    const inbox = await openInbox(input, context);
    let count = 0;
    context.stream();
    try {
      for await (const event of inbox.follow(makeEventQuery(input), signal)) {
        count += 1;
        yield [makeEventRow(event)];
      }
    } finally {
      await inbox.close();
    }
    if (signal.aborted) throw new SotraError('interrupted', `interrupted after ${counted(count, 'event')}`);
  };
  return { kind: 'items', batches: batches(), view: eventsView, live: true };
}

const waitPollMs = 200;

/** The first event that fits, as soon as it is stored. Errors: `wait-timeout`, `interrupted`; `usage` for what --wait does not go with. */
export async function waitForEvent(input: EventsInput, context: Context): Promise<Result> {
  for (const key of ['follow', 'until', 'limit'] as const)
    if (input[key] !== undefined) throw usageError(`--wait and --${key} exclude each other`, `Omit --${key}.`);
  const { io } = context;
  const startMs = io.now();
  const endMs = startMs + (parseDuration(input.wait ?? '') ?? 0);
  const { sinceMs = startMs } = readTimes(input, startMs);
  const inbox = await openInbox(input, context);
  try {
    for (;;) {
      const event = await findOldest(inbox, { ...makeEventQuery(input), sinceMs });
      if (event !== undefined) return { kind: 'answer', answer: [makeEventRow(event)], view: eventsView };
      const leftMs = endMs - io.now();
      if (leftMs <= 0)
        throw new SotraError('wait-timeout', `no such event came within ${input.wait}`, {
          hint: 'Wait longer, or see sotra webhook events for what came before.',
        });
      await io.sleep(Math.min(waitPollMs, leftMs), io.signal).catch(() => undefined);
      if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted: no such event came yet');
    }
  } finally {
    await inbox.close();
  }
}

async function findOldest(inbox: Inbox, query: EventQuery): Promise<StoredEvent | undefined> {
  let oldest: StoredEvent | undefined;
  for await (const event of inbox.events(query)) oldest = event;
  return oldest;
}

/** One stored event with its delivery. Errors: `not-found`. */
export async function showEvent(input: ShowInput, context: Context): Promise<Result> {
  const secrets = input.secretFile === undefined ? undefined : readOwnSecrets(input.secretFile, context);
  const none = (): Result => {
    throw notFound(`no stored event ${input.id}`);
  };
  return withInbox<Result>(input, context, none, async (inbox) => {
    const [stored] = await findEvents([input.id], inbox);
    if (stored === undefined) return none();
    const { headers, body, webhook } = stored.delivery;
    const pairs = headerPairs(headers).map(({ name, value }) => ({ name, value: maskHeader(name, value) }));
    const signed = { header: signatureIn(headers), body };
    // Without secrets nothing fits, and the time is read all the same.
    const verdict = verifyDelivery(signed, secrets ?? [], { nowMs: context.io.now(), toleranceMs: undefined });
    const { valid, reason, timestamp: signedAt } = verdict;
    const verification = {
      signedAt,
      secret: webhook.slice(webhook.lastIndexOf('#') + 1),
      ...(secrets === undefined ? {} : { valid, ...(reason === undefined ? {} : { reason }) }),
    };
    const { event, ...row } = makeEventRow(stored);
    const { forwards, status } = stored;
    const failing = status === 'waiting' ? await inbox.retries() : [];
    const retries = failing.filter((each) => each.webhook === webhook);
    const shownBody = body.toString();
    const answer: ShownEvent = { ...row, verification, headers: pairs, body: shownBody, event, forwards, retries };
    return { kind: 'answer', answer, view: shown };
  });
}

/** So many deliveries before one that is not answered yet are the last that is read. */
const maxSending = 100;

/**
 * Sends stored deliveries once more, those of a webhook oldest first and several webhooks at once, until one is not answered in time; exit 10
 * where one was not accepted. Errors: `not-found`.
 */
export async function replayEvents(input: ReplayInput, context: Context): Promise<Result> {
  const { io } = context;
  if (((input.ids ?? []).length === 0) === (input.since === undefined))
    throw usageError('say which events: their ids, or --since', 'sotra webhook events lists them.');
  const { sinceMs } = readTimes({ since: input.since }, io.now());
  const ids = input.ids ?? [];
  const none = (): Result => {
    if (ids.length > 0) throw notFound(`no stored event ${ids.join(', ')}`);
    return { kind: 'answer', answer: [], view: replayed };
  };
  return withInbox<Result>(input, context, none, async (inbox) => {
    const query =
      sinceMs === undefined ? { ids: (await findEvents(ids, inbox)).map(({ eventId }) => eventId) } : { sinceMs };
    const { preview } = context.options;
    let [first, count]: [Delivery | undefined, number] = [undefined, 0];
    const sent: Promise<ReplayRow[]>[] = [];
    const queues = new Map<string, Promise<unknown>>();
    let unanswered: string | undefined;
    const send = async (stored: StoredDelivery): Promise<ReplayRow[]> => {
      const outcome = unanswered === undefined ? await sendAgain(stored, input.to, context) : notSent(unanswered);
      const { ok: taken, status, error } = outcome;
      if (outcome.late) unanswered ??= stored.events[0]?.eventId;
      return stored.events.map(({ eventId, eventType }) => ({ eventId, eventType, taken, status, error }));
    };
    for await (const stored of inbox.deliveries(query)) {
      first ??= stored;
      count += 1;
      if (preview) continue;
      const made = Promise.resolve(queues.get(stored.webhook)).then(() => send(stored));
      queues.set(stored.webhook, made);
      // The first one that fails ends the command.
      made.catch(() => undefined);
      sent.push(made);
      await sent.at(-maxSending);
    }
    const rows = (await Promise.all(sent)).flat();
    if (preview && first !== undefined) {
      if (count > 1) context.note(`${count} deliveries would be sent; this is the first.`);
      return {
        kind: 'request',
        request: deliveryRequest(input.to, forwardedHeaders(first.headers), first.body.toString()),
      };
    }
    return { kind: 'answer', answer: rows, view: replayed, exitCode: rows.every((row) => row.taken) ? 0 : 10 };
  });
}

/** Stored events, the id of each given whole or by its start, as a narrow table shows it. Errors: `not-found`. */
async function findEvents(given: readonly string[], inbox: Inbox): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  const missing: string[] = [];
  for (const text of given) {
    const start = text.replace(/(?:…|\.{3})$/, '');
    const found: StoredEvent[] = [];
    // An event of exactly this id comes first.
    if (start !== '')
      for await (const event of inbox.events({ idStart: start })) {
        found.push(event);
        if (event.eventId === text || found.length > 1) break;
      }
    const [event] = found;
    if (event === undefined) missing.push(text);
    else if (event.eventId === text || found.length === 1) events.push(event);
    else throw notFound(`several stored events begin with ${text}`);
  }
  if (missing.length > 0) throw notFound(`no stored event ${missing.join(', ')}`);
  return events;
}

function notFound(message: string): SotraError {
  return new SotraError('not-found', message, { hint: 'sotra webhook events lists them.' });
}

/** Sent again as often as `--retries` says; each may take `--timeout`. */
async function sendAgain(stored: Delivery, to: string, { io, options }: Context): Promise<PostOutcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await forward(to, stored, { answerMs: options.timeoutMs, signal: io.signal });
    if (io.signal.aborted) throw new SotraError('interrupted', `interrupted while waiting for the answer of ${to}`);
    if (outcome.ok || outcome.unsendable || tries > (options.retries ?? policies.replay.retries)) return outcome;
    await io.sleep(computeBackoff(policies.replay, tries), io.signal);
  }
}

function notSent(unanswered: string): PostOutcome {
  const error = `not sent: ${unanswered} was not answered`;
  return { ok: false, status: null, error, late: false, unsendable: false };
}

/** What receivers mostly allow. */
const usualToleranceSec = 300;
const maxBodyBytes = 64 * 1024 ** 2;

/** Verifies one saved delivery, its body from stdin or a file; exit 12 when it is not valid. */
export async function verifySaved(input: VerifyInput, context: Context): Promise<Result> {
  const { io } = context;
  const secrets = readOwnSecrets(input.secretFile, context);
  const delivery = { header: input.header, body: await readBody(input.file, io) };
  const toleranceMs = parseDuration(input.tolerance ?? '');
  const answer = verifyDelivery(delivery, secrets, { nowMs: io.now(), toleranceMs });
  const nowSec = Math.floor(io.now() / 1000);
  const ageSec = answer.timestamp === null ? null : nowSec - answer.timestamp;
  if (answer.valid && toleranceMs === undefined && Math.abs(ageSec ?? 0) > usualToleranceSec)
    context.warn(
      `${describeAge(ageSec ?? 0)}: anybody who has seen this delivery can send it again. --tolerance 5m refuses what is older`,
    );
  const expected = input.explain ? expectedSignatures(delivery, secrets) : undefined;
  return {
    kind: 'answer',
    answer: { ...answer, ageSec, ...(expected && { expected }) },
    view: verdictView,
    exitCode: answer.valid ? 0 : 12,
  };
}

/** The headers that would have been right, by each secret. Errors: `usage` for a header without a time. */
function expectedSignatures(
  { header, body }: { header: string | undefined; body: Uint8Array },
  secrets: readonly string[],
): string[] {
  const parsed = readHeader(header);
  if (typeof parsed === 'string') throw usageError(`--explain: ${parsed}`, 'Its t=<seconds> is signed with the body.');
  return secrets.map((secret) => `t=${parsed.timestamp},v1=${signBody(secret, parsed.timestamp, body)}`);
}

async function readBody(file: string | undefined, input: Input): Promise<Buffer> {
  try {
    return await readWhole(file ?? '-', input, maxBodyBytes);
  } catch (cause) {
    throw usageError(readMessage(cause), 'The body is read from stdin, or from --file.');
  }
}
