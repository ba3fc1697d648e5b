import { sameDestination } from '../../api/http-address.ts';
import { signedHeader } from '../../api/webhook-signature.ts';
import { deliveryRequest } from '../../client/preview.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { readOwnSecrets } from '../../lib/files/source.ts';
import type { Result } from '../../lib/output/view.ts';
import { storedNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { deliveryHeaders, sendDelivery } from '../../sandbox/deliver/deliver.ts';
import { type EventSource, findEventSource, makeWebhookEvent, storeEvent } from '../../sandbox/deliver/events.ts';
import { allWebhooks, type WebhookRow } from '../../sandbox/service/webhook.ts';
import { withSandbox } from '../sandbox/open-sandbox.ts';
import { withDeliverer } from '../sandbox/simulate.ts';
import type { TriggerInput } from './params.ts';
import type { SentEvent } from './view.ts';

interface Trigger {
  db: Db;
  source: EventSource;
  input: TriggerInput;
  context: Context;
}

/** Sends one event of the sandbox to an address or to the sandbox's webhooks. */
export async function triggerEvent(input: TriggerInput, context: Context): Promise<Result> {
  return withSandbox(context, { db: input.db }, async (db) => {
    const trigger: Trigger = { db, source: readEventSource(db, input), input, context };
    if (context.options.preview) return previewTrigger(trigger);
    const answer = input.to === undefined ? await viaSandbox(trigger) : await directly(trigger, input.to);
    return { kind: 'answer', answer, exitCode: answer.every(({ delivered }) => delivered) ? 0 : 9 };
  });
}

/** The first delivery that would be sent. */
async function previewTrigger(trigger: Trigger): Promise<Result> {
  const { input, context } = trigger;
  if (input.to !== undefined) {
    const { body, signed } = await signFor(trigger, input.to);
    return { kind: 'request', request: deliveryRequest(input.to, deliveryHeaders(signed), body) };
  }
  const [first, ...others] = findWebhooks(trigger);
  if (others.length > 0) context.note(`It would go to ${others.length + 1} webhooks; this is the first.`);
  const { body, signed } = signEvent(trigger, first, first.secret);
  return { kind: 'request', request: deliveryRequest(first.destinationUrl, deliveryHeaders(signed), body) };
}

/** An event for an address, signed with the secret of its webhook or the one that was given. Errors: `usage` without either. */
async function signFor(trigger: Trigger, to: string) {
  const { db, input, context } = trigger;
  const known = allWebhooks(db).find(({ destinationUrl }) => sameDestination(destinationUrl, to));
  const secret =
    input.secretFile === undefined ? known?.secret : (await readOwnSecrets([input.secretFile], context))[0];
  if (secret === undefined)
    throw usageError(
      `no webhook of the sandbox sends to ${to}, so there is no secret to sign with`,
      'Give one with --secret-file.',
    );
  return signEvent(trigger, known, secret);
}

/** The webhooks that are meant. Errors: `not-found` without one. */
function findWebhooks({ db, input }: Trigger): [WebhookRow, ...WebhookRow[]] {
  const [first, ...others] = allWebhooks(db).filter(({ uid }) => input.uid === undefined || uid === input.uid);
  if (first !== undefined) return [first, ...others];
  throw new SotraError('not-found', `the sandbox has no webhook${input.uid === undefined ? '' : ` ${input.uid}`}`, {
    hint: 'Register one with sotra --sandbox webhook register, or use --to <url>.',
  });
}

async function directly(trigger: Trigger, to: string): Promise<SentEvent[]> {
  const { io, options } = trigger.context;
  const { event, body, signed } = await signFor(trigger, to);
  const { ok, status, error } = await sendDelivery(to, body, signed, {
    answerMs: options.timeoutMs,
    signal: io.signal,
  });
  if (io.signal.aborted) throw new SotraError('interrupted', `interrupted while waiting for the answer of ${to}`);
  return [{ ...pickIds(event), uid: null, destinationUrl: to, delivered: ok, status, error }];
}

/** How long a destination that does not answer is tried again: a listener may still be starting. */
const startMs = 5000;
const napMs = 10;

async function viaSandbox(trigger: Trigger): Promise<SentEvent[]> {
  const { db, context } = trigger;
  const { io } = context;
  const webhooks = findWebhooks(trigger);
  const nowMs = storedNow(db, io.now());
  const stored = webhooks.map((webhook) => {
    const event = eventFor(trigger, webhook);
    return { webhook, event, seq: storeEvent(db, webhook.id, event, nowMs) };
  });
  const { now, sleep, signal } = io;
  const untilMs = now() + startMs;
  const isUnanswered = () =>
    stored.some(({ seq }) => {
      const row = readDelivery(db, seq);
      return row?.state === 'waiting' && row.status === null;
    });
  // The answer lists the events that were not accepted.
  await withDeliverer(db, { ...context, warn: () => undefined }, async () => {
    while (isUnanswered() && now() < untilMs && !signal.aborted) await sleep(napMs, signal).catch(() => undefined);
  });
  if (io.signal.aborted)
    throw new SotraError('interrupted', 'interrupted while waiting for the answers of the webhooks', {
      hint: 'sotra sandbox start, or the next command that delivers, sends undelivered events again.',
    });
  return stored.map(({ webhook, event, seq }) => {
    const row = readDelivery(db, seq);
    const delivered = row?.state === 'delivered';
    const error = delivered ? null : (row?.error ?? 'queued behind earlier deliveries of this webhook');
    const { uid, destinationUrl } = webhook;
    if (!delivered)
      context.note(
        command`Not accepted by ${destinationUrl}. To delete that webhook: sotra --sandbox webhook delete ${uid}`,
      );
    return { ...pickIds(event), uid, destinationUrl, delivered, status: row?.status ?? null, error };
  });
}

function readDelivery(db: Db, seq: number) {
  return db.get<{ state: string; status: number | null; error: string | null }>(
    'SELECT state, status, error FROM outbox WHERE item = ?',
    [seq],
  );
}

function pickIds(event: Record<string, unknown>): { eventId: string; eventType: string } {
  return { eventId: String(event['eventId']), eventType: String(event['eventType']) };
}

function signEvent(trigger: Trigger, webhook: WebhookRow | undefined, secret: string) {
  const event = eventFor(trigger, webhook);
  const body = JSON.stringify({ events: [event] });
  return { event, body, signed: signedHeader(secret, body, trigger.context.io.now()) };
}

function eventFor({ db, source, context }: Trigger, webhook: WebhookRow | undefined) {
  return makeWebhookEvent(db, source, webhook, storedNow(db, context.io.now()));
}

/** The newest event of a type, of a position if one is named, or one of those before it. Errors: `not-found`. */
export function readEventSource(
  db: Db,
  { type, position }: Pick<TriggerInput, 'type' | 'position'>,
  before = 0,
): EventSource {
  const source = findEventSource(db, type, { position, before });
  if (source !== undefined) return source;
  const what = { 'new-feed-item': 'buy', 'comment-created': 'comment', copyswap: 'copied trade' }[type];
  const place = position === undefined ? 'in the sandbox' : `in position ${position}`;
  throw new SotraError('not-found', `no ${before > 0 ? 'second ' : ''}${what} ${place}`, {
    hint: 'The built-in data has one: sotra sandbox reset',
  });
}
