import { writeDuration } from '../../api/duration.ts';
import { maskHeader } from '../../client/secrets.ts';
import { shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { readOwnSecrets } from '../../lib/files/source.ts';
import { counted, formatTime } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/view.ts';
import { headerPairs, signatureIn } from '../../webhooks/forward.ts';
import {
  type EventQuery,
  type Inbox,
  makeEventQuery,
  readTimes,
  type StoredEvent,
  secretDigits,
} from '../../webhooks/inbox.ts';
import { warnOfEventType } from '../../webhooks/route.ts';
import { verifyDelivery } from '../../webhooks/verify.ts';
import { inboxFlags, openInbox, withInbox } from './open-inbox.ts';
import type { EventsInput, ShowInput } from './params.ts';
import { type EventRow, events as eventsView, makeEventRow, type ShownEvent } from './view.ts';

const defaultLimit = 50;

/** The stored events, newest first. Errors: `not-found` for a store that does not exist. */
export async function showEvents(input: EventsInput, context: Context): Promise<Result> {
  const query = { ...readQuery(input, context), ...readTimes(input, context.io.now()) };
  const limit = input.limit ?? defaultLimit;
  const none = (): Result => ({ kind: 'answer', answer: [] });
  return withInbox(input, context, none, async (inbox) => {
    requireStatus(input, inbox);
    const rows: EventRow[] = [];
    let hasMore = false;
    for await (const event of inbox.events(query)) {
      hasMore = rows.length === limit;
      if (hasMore) break;
      rows.push(makeEventRow(event));
    }
    const notes = hasMore ? ['Older events are stored too: use --limit or --since to see them.'] : [];
    if (input.status === 'waiting') notes.push(...(await retryNotes(inbox)));
    const replay = shellLine(['sotra', 'webhook', 'replay', ...inboxFlags(input), '--failed', '--to']);
    if (input.status === 'failed' && rows.length > 0) notes.push(`To send them again: ${replay} <url>`);
    return { kind: 'answer', answer: rows, notes };
  });
}

/** The deliveries that are retried, one line each. */
async function retryNotes(inbox: Inbox): Promise<string[]> {
  return (await inbox.retries()).map(
    ({ url, webhook, error, tries, nextMs }) =>
      `${url} does not accept ${webhook}: ${error}; ${tries === 1 ? '1 try' : `${tries} tries`}, next at ${formatTime(Math.floor(nextMs / 1000))}`,
  );
}

/** New events as they are stored. Errors: `interrupted` at Ctrl-C or a signal; `usage` for options that only stored events have. */
export async function followEvents(input: EventsInput, context: Context): Promise<Result> {
  const { signal } = context.io;
  const query = readQuery(input, context);
  const batches = async function* () {
    const inbox = await openInbox(input, context);
    let count = 0;
    context.stream();
    try {
      for await (const event of inbox.follow(query, signal)) {
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

/** The first event that matches, as soon as it is stored. Errors: `wait-timeout`, `interrupted`; `usage` for options that --wait excludes. */
export async function waitForEvent(input: EventsInput, context: Context): Promise<Result> {
  const { io } = context;
  const startMs = io.now();
  const { wait: waitMs = 0 } = input;
  const { sinceMs = startMs } = readTimes(input, startMs);
  const query = { ...readQuery(input, context), sinceMs };
  const inbox = await openInbox(input, context);
  try {
    requireStatus(input, inbox);
    for (;;) {
      const event = await findOldest(inbox, query);
      if (event !== undefined) return { kind: 'answer', answer: [makeEventRow(event)] };
      const leftMs = startMs + waitMs - io.now();
      if (leftMs <= 0)
        throw new SotraError('wait-timeout', `no event matched within ${writeDuration(waitMs)}`, {
          hint: 'Wait longer, or list the stored events: sotra webhook events',
        });
      await io.sleep(Math.min(waitPollMs, leftMs), io.signal).catch(() => undefined);
      if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted before an event matched');
    }
  } finally {
    await inbox.close();
  }
}

/** Warns of a kind of event that no document names. */
function readQuery(input: EventsInput, { warn }: Context): EventQuery {
  if (input.type !== undefined) warnOfEventType('--type', input.type, warn);
  return makeEventQuery(input);
}

/** Errors: `usage` for a status that a NATS stream does not know. */
function requireStatus({ status }: EventsInput, { name, isStream }: Inbox): void {
  if (isStream && status !== undefined && status !== 'failed')
    throw usageError(
      `--status ${status} is for a local store: a NATS stream knows only failed events`,
      `To see how many wait: nats consumer report ${name}`,
    );
}

async function findOldest(inbox: Inbox, query: EventQuery): Promise<StoredEvent | undefined> {
  let oldest: StoredEvent | undefined;
  for await (const event of inbox.events(query)) oldest = event;
  return oldest;
}

/** One stored event with its delivery. Errors: `not-found`. */
export async function showEvent(input: ShowInput, context: Context): Promise<Result> {
  const secrets = input.secretFile === undefined ? undefined : await readOwnSecrets(input.secretFile, context);
  const none = (): Result => {
    throw notFound(`no stored event ${input.id}`);
  };
  return withInbox(input, context, none, async (inbox) => {
    const [stored] = await findEvents([input.id], inbox);
    if (stored === undefined) return none();
    const { headers, body, webhook } = stored.delivery;
    const pairs = headerPairs(headers).map(({ name, value }) => ({ name, value: maskHeader(name, value) }));
    const signed = { header: signatureIn(headers), body };
    // Without secrets only its time is read.
    const verdict = verifyDelivery(signed, secrets ?? [], { nowMs: context.io.now(), toleranceMs: undefined });
    const { valid, reason, timestamp: signedAt } = verdict;
    const verification = {
      signedAt,
      secret: secretDigits(webhook),
      ...(secrets === undefined ? {} : { valid, ...(reason === undefined ? {} : { reason }) }),
    };
    const { event, ...row } = makeEventRow(stored);
    const { forwards, status } = stored;
    const failing = status === 'waiting' ? await inbox.retries() : [];
    const retries = failing.filter((each) => each.webhook === webhook);
    const shown = { verification, headers: pairs, body: body.toString(), event, forwards, retries };
    return { kind: 'answer', answer: { ...row, ...shown } satisfies ShownEvent };
  });
}

/** Stored events, by their whole ids or by how these start, as a narrow table shows them. Errors: `not-found`. */
export async function findEvents(given: readonly string[], inbox: Inbox): Promise<StoredEvent[]> {
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

export function notFound(message: string): SotraError {
  return new SotraError('not-found', message, { hint: 'sotra webhook events lists them.' });
}
