import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { messageOf, SotraError, usageError } from '../../../errors.ts';
import { type Input, readWhole } from '../../../files/source.ts';
import { deliveryPreview } from '../../../http/preview.ts';
import { parseMoment } from '../../../model/duration.ts';
import { readOwnSecrets } from '../secrets.ts';
import { type EventRow, events as eventsView, type ReplayRow, replayed, verdict as verdictView } from '../view.ts';
import { describeEvent } from './events.ts';
import { forward, forwardedHeaders, type Outcome } from './forward.ts';
import { type Delivery, inboxFolder, readEntries, readStored } from './inbox.ts';
import { verifyDelivery } from './verify.ts';

interface EventsInput {
  name?: string | undefined;
  type?: string | undefined;
  since?: string | undefined;
  limit?: number | undefined;
}

const defaultLimit = 50;

/** The stored events, newest first. Errors: `not-found` for a store that does not exist. */
export async function showEvents(input: EventsInput, context: Context): Promise<Result> {
  const from = input.since === undefined ? 0 : (parseMoment(input.since, context.world.now(), 'ago') ?? 0);
  const limit = input.limit ?? defaultLimit;
  let [rows, count]: [EventRow[], number] = [[], 0];
  for (const { atMs, path, newEvents } of readStored(await knownInbox(context, input.name)))
    for (const summary of newEvents) {
      if (atMs < from || (input.type !== undefined && summary.eventType !== input.type)) continue;
      const { eventId, eventType, event } = summary;
      const about = describeEvent(summary);
      rows.push({ eventId, eventType, receivedAt: Math.floor(atMs / 1000), path, about, event });
      count += 1;
      // Keeps memory small with a large store.
      if (rows.length >= 2 * limit) rows = rows.slice(-limit);
    }
  const shown = rows.slice(-limit).reverse();
  const notes = count > limit ? [`${count - limit} older ones are stored: --limit or --since shows more.`] : [];
  return { kind: 'answer', answer: shown, view: eventsView, notes };
}

interface ReplayInput {
  ids?: readonly string[] | undefined;
  since?: string | undefined;
  to: string;
  name?: string | undefined;
}

/**
 * Sends stored deliveries once more, oldest first, until one is not answered in time; exit 10 where one was not accepted. Errors:
 * `not-found`.
 */
export async function replayEvents(input: ReplayInput, context: Context): Promise<Result> {
  const { world } = context;
  if (((input.ids ?? []).length === 0) === (input.since === undefined))
    throw usageError('say which events: their ids, or --since', 'sotra webhook events lists them.');
  const from = input.since === undefined ? undefined : parseMoment(input.since, world.now(), 'ago');
  const folder = await knownInbox(context, input.name);
  const ids = from === undefined ? findEvents(input.ids ?? [], folder) : new Set<string>();
  const { preview } = context.options;
  let first: Delivery | undefined;
  let count = 0;
  const rows: ReplayRow[] = [];
  let unanswered: string | undefined;
  for (const stored of readStored(folder)) {
    if (from === undefined ? !stored.newEvents.some(({ eventId }) => ids.has(eventId)) : stored.atMs < from) continue;
    first ??= stored;
    count += 1;
    if (preview) continue;
    const outcome = unanswered === undefined ? await sendAgain(stored, input.to, context) : notSent(unanswered);
    if (outcome.late) unanswered ??= stored.newEvents[0]?.eventId;
    for (const { eventId, eventType } of stored.newEvents)
      rows.push({
        eventId,
        eventType,
        taken: outcome.ok,
        status: outcome.status || null,
        error: outcome.ok ? null : outcome.error,
      });
  }
  if (preview && first !== undefined) {
    if (count > 1) context.note(`${count} deliveries would be sent; this is the first.`);
    throw deliveryPreview(input.to, forwardedHeaders(first.headers), first.body.toString());
  }
  return { kind: 'answer', answer: rows, view: replayed, exitCode: rows.every((row) => row.taken) ? 0 : 10 };
}

/** The stored events of ids, each whole or the start of one, as a narrow table shows it. Errors: `not-found`. */
function findEvents(given: readonly string[], folder: string): Set<string> {
  const starts = given.map((text) => ({ text, start: text.replace(/(?:…|\.{3})$/, ''), found: new Set<string>() }));
  for (const { eventIds } of readEntries(folder))
    for (const id of eventIds)
      for (const { text, start, found } of starts) {
        if (id === text) found.clear();
        if (id === text || (!found.has(text) && found.size < 2 && start !== '' && id.startsWith(start))) found.add(id);
      }
  const missing = starts.filter(({ found }) => found.size === 0).map(({ text }) => text);
  const several = starts.find(({ found }) => found.size > 1);
  if (missing.length > 0 || several !== undefined)
    throw new SotraError(
      'not-found',
      missing.length > 0
        ? `no stored event ${missing.join(', ')}`
        : `several stored events begin with ${several?.text}`,
      { hint: 'sotra webhook events lists them.' },
    );
  return new Set(starts.flatMap(({ found }) => [...found]));
}

/** Sent again twice or as `--retries` says; each may take `--timeout`. */
async function sendAgain(stored: Delivery, to: string, { world, options }: Context): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await forward(to, stored, { answerMs: options.timeoutMs, signal: world.signal });
    if (world.signal.aborted) throw new SotraError('interrupted', `interrupted while waiting for the answer of ${to}`);
    if (outcome.ok || outcome.unsendable || tries > (options.retries ?? 2)) return outcome;
    await world.sleep(200 * tries, world.signal);
  }
}

function notSent(unanswered: string): Outcome {
  return { ok: false, status: 0, error: `not sent: ${unanswered} was not answered`, late: false };
}

async function knownInbox(context: Context, name = 'default'): Promise<string> {
  const folder = await inboxFolder(context, name);
  if (existsSync(join(folder, 'deliveries.ndjson')) || name === 'default') return folder;
  const known = readdirSync(join(folder, '..')).filter((each) =>
    existsSync(join(folder, '..', each, 'deliveries.ndjson')),
  );
  throw new SotraError('not-found', `--name ${name}: no listener stored anything under this name`, {
    hint: known.length === 0 ? 'sotra webhook listen stores deliveries.' : `Known: ${known.join(', ')}.`,
  });
}

interface VerifyInput {
  secretFile: readonly string[];
  header?: string | undefined;
  file?: string | undefined;
  toleranceMs: number | undefined;
}

/** Verifies one saved delivery, its body from stdin or a file; exit 12 when it is not valid. */
export async function verifySaved(input: VerifyInput, context: Context): Promise<Result> {
  const { world } = context;
  const secrets = readOwnSecrets(input.secretFile, context);
  const delivery = { header: input.header, body: await readBody(input.file, world.io) };
  const answer = verifyDelivery(delivery, secrets, { nowMs: world.now(), toleranceMs: input.toleranceMs });
  return { kind: 'answer', answer, view: verdictView, exitCode: answer.valid ? 0 : 12 };
}

/** The largest delivery that `webhook listen` takes. */
const maxBodyBytes = 64 * 1024 * 1024;

async function readBody(file: string | undefined, input: Input): Promise<Buffer> {
  try {
    return await readWhole(file ?? '-', input, maxBodyBytes);
  } catch (cause) {
    throw usageError(messageOf(cause), 'The body is read from stdin, or from --file.');
  }
}
