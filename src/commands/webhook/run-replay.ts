import { deliveryRequest } from '../../client/preview.ts';
import { computeBackoff, policies } from '../../client/retry.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import type { Result } from '../../lib/output/view.ts';
import type { PostOutcome } from '../../lib/post-delivery.ts';
import { forward, forwardedHeaders } from '../../webhooks/forward.ts';
import { type Delivery, type DeliveryQuery, type Inbox, readTimes } from '../../webhooks/inbox.ts';
import { withInbox } from './open-inbox.ts';
import type { ReplayInput } from './params.ts';
import { findEvents, notFound } from './run-events.ts';
import type { ReplayRow } from './view.ts';

/** Sends stored deliveries again, oldest first, until one is not answered in time; exit 10 if one was not accepted. Errors: `not-found`. */
export async function replayEvents(input: ReplayInput, context: Context): Promise<Result> {
  const { io } = context;
  const given = [(input.ids ?? []).length > 0, input.since !== undefined, input.failed === true];
  if (given.filter(Boolean).length !== 1)
    throw usageError('exactly one of event ids, --since and --failed is required', 'sotra webhook events lists them.');
  const { sinceMs } = readTimes({ since: input.since }, io.now());
  const ids = input.ids ?? [];
  const none = (): Result => {
    if (ids.length > 0) throw notFound(`no stored event ${ids.join(', ')}`);
    return { kind: 'answer', answer: [] };
  };
  return withInbox(input, context, none, async (inbox) => {
    const query = await makeQuery(input, sinceMs, inbox);
    if (context.options.preview) return previewReplay(inbox, query, input.to, context);
    const rows: ReplayRow[] = [];
    let unanswered: string | undefined;
    for await (const stored of inbox.deliveries(query)) {
      const outcome = unanswered === undefined ? await sendAgain(stored, input.to, context) : notSent(unanswered);
      const { ok: taken, status, error } = outcome;
      if (outcome.late) unanswered ??= stored.events[0]?.eventId;
      if (taken && input.failed) await inbox.markAccepted(stored);
      rows.push(...stored.events.map(({ eventId, eventType }) => ({ eventId, eventType, taken, status, error })));
    }
    return { kind: 'answer', answer: rows, exitCode: rows.every((row) => row.taken) ? 0 : 10 };
  });
}

/** The first request that would be sent. */
async function previewReplay(inbox: Inbox, query: DeliveryQuery, to: string, { note }: Context): Promise<Result> {
  let first: Delivery | undefined;
  let count = 0;
  for await (const stored of inbox.deliveries(query)) {
    first ??= stored;
    count += 1;
  }
  if (first === undefined) return { kind: 'answer', answer: [] };
  if (count > 1) note(`${count} deliveries would be sent; this is the first.`);
  return { kind: 'request', request: deliveryRequest(to, forwardedHeaders(first.headers), first.body.toString()) };
}

async function makeQuery(
  { ids = [], failed }: ReplayInput,
  sinceMs: number | undefined,
  inbox: Inbox,
): Promise<DeliveryQuery> {
  if (failed) return { failed };
  return sinceMs === undefined ? { ids: (await findEvents(ids, inbox)).map(({ eventId }) => eventId) } : { sinceMs };
}

/** Sends a delivery with `--retries` and `--timeout`. */
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
