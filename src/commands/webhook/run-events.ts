import { writeDuration } from '../../api/duration.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { counted, formatTime } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/result.ts';
import type { EventQuery, Inbox, StoredEvent } from '../../webhooks/inbox.ts';
import { makeEventQuery, readTimes } from '../../webhooks/query.ts';
import { warnOfEventType } from '../../webhooks/route.ts';
import { type EventRow, events as eventsView, makeEventRow } from './event-view.ts';
import { openInbox, withInbox } from './open-inbox.ts';
import type { EventsInput } from './params.ts';

const defaultLimit = 50;

/** The stored events, newest first. Errors: `not-found` for a store that does not exist. */
export async function showEvents(input: EventsInput, context: Context): Promise<Result> {
  const query = { ...readQuery(input, context), ...readTimes(input, context.io.now()) };
  const limit = input.limit ?? defaultLimit;
  const none = (): Result => ({ kind: 'answer', answer: [], view: eventsView });
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
    if (input.status === 'failed' && rows.length > 0)
      notes.push('To send them again: sotra webhook replay --failed --to <url>');
    return { kind: 'answer', answer: rows, view: eventsView, notes };
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
  for (const key of ['since', 'until', 'status', 'limit'] as const)
    if (input[key] !== undefined)
      throw usageError(`--follow cannot be used with --${key}`, '--follow prints the events that come from now on.');
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
  for (const key of ['follow', 'until', 'limit'] as const)
    if (input[key] !== undefined) throw usageError(`--wait cannot be used with --${key}`, `Omit --${key}.`);
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
      if (event !== undefined) return { kind: 'answer', answer: [makeEventRow(event)], view: eventsView };
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
