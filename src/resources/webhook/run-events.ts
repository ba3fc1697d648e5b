import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { parseDuration, parseTime } from '../../model/duration.ts';
import { describeEvent } from './event-line.ts';
import {
  type EventRow,
  events as eventsView,
  type ReplayRow,
  replayed,
  verdict as verdictView,
} from './events-view.ts';
import { forward, type Outcome } from './forward.ts';
import { inboxFolder, type Received, readStored } from './inbox.ts';
import { readSecrets } from './secret-file.ts';
import { verifyDelivery } from './verify.ts';

/** The oldest moment that a `--since` covers: a time, or a duration before now. `undefined` where the text is neither. Never throws. */
export function sinceMs(text: string, nowMs: number): number | undefined {
  const ago = parseDuration(text);
  return ago === undefined ? parseTime(text) : nowMs - ago;
}

interface EventsInput {
  name?: string | undefined;
  type?: string | undefined;
  since?: string | undefined;
  limit?: number | undefined;
}

const defaultLimit = 50;

/** The stored events, newest first. Errors: `not-found` for a store that does not exist. */
export async function showEvents(input: EventsInput, context: Context): Promise<Result> {
  const from = input.since === undefined ? 0 : (sinceMs(input.since, context.world.now()) ?? 0);
  const rows: EventRow[] = [];
  for (const { atMs, path, fresh } of readStored(await knownInbox(context, input.name)))
    for (const summary of fresh) {
      if (atMs < from || (input.type !== undefined && summary.eventType !== input.type)) continue;
      const { eventId, eventType, event } = summary;
      rows.push({
        eventId,
        eventType,
        receivedAt: Math.floor(atMs / 1000),
        path,
        about: describeEvent(summary),
        event,
      });
    }
  const limit = input.limit ?? defaultLimit;
  const shown = rows.reverse().slice(0, limit);
  const notes =
    rows.length > limit ? [`${rows.length - limit} older ones are stored: --limit or --since shows more.`] : [];
  return { kind: 'answer', answer: shown, view: eventsView, notes };
}

interface ReplayInput {
  ids?: readonly string[] | undefined;
  since?: string | undefined;
  to: string;
  name?: string | undefined;
}

const replayTries = 3;

/**
 * Sends stored deliveries once more, oldest first, bytes and headers as they came; behind one that was not answered in time nothing is
 * sent. Exit 10 where one was not taken. Errors: `not-found` for an id that is not stored.
 */
export async function replayEvents(input: ReplayInput, context: Context): Promise<Result> {
  const { world } = context;
  const ids = new Set(input.ids ?? []);
  if ((ids.size === 0) === (input.since === undefined))
    throw usageError('say which events: their ids, or --since', 'sotra webhook events lists them.');
  const from = input.since === undefined ? undefined : sinceMs(input.since, world.now());
  const missing = new Set(ids);
  const chosen = [...readStored(await knownInbox(context, input.name))].filter(({ atMs, fresh }) => {
    for (const { eventId } of fresh) missing.delete(eventId);
    return from === undefined ? fresh.some(({ eventId }) => ids.has(eventId)) : atMs >= from;
  });
  if (missing.size > 0)
    throw new SotraError('not-found', `no stored event ${[...missing].join(', ')}`, {
      hint: 'sotra webhook events lists them.',
    });
  const rows: ReplayRow[] = [];
  let silence: string | undefined;
  for (const stored of chosen) {
    const outcome = silence === undefined ? await sendAgain(stored, input.to, context) : notSent(silence);
    if (outcome.late) silence ??= stored.fresh[0]?.eventId;
    for (const { eventId, eventType } of stored.fresh)
      rows.push({
        eventId,
        eventType,
        taken: outcome.ok,
        status: outcome.status || null,
        error: outcome.ok ? null : outcome.error,
      });
  }
  return { kind: 'answer', answer: rows, view: replayed, exitCode: rows.every((row) => row.taken) ? 0 : 10 };
}

/** Up to three tries, each of which may take `--timeout`. */
async function sendAgain(stored: Received, to: string, { world, options }: Context): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await forward(to, stored, { answerMs: options.timeoutMs, signal: world.signal });
    if (world.signal.aborted) throw new SotraError('interrupted', `interrupted while ${to} was to answer`);
    if (outcome.ok || tries === replayTries) return outcome;
    await world.sleep(200 * tries, world.signal);
  }
}

/** Of one that would wait as long for an answer as the one before it did in vain. */
function notSent(behind: string): Outcome {
  return { ok: false, status: 0, error: `not sent: ${behind} was not answered`, late: false };
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
  bodyFile?: string | undefined;
  toleranceMs: number | undefined;
}

/** Judges one saved delivery, its body from stdin or a file; exit 12 when it is not valid. */
export async function verifySaved(input: VerifyInput, context: Context): Promise<Result> {
  const { world } = context;
  const secrets = input.secretFile.flatMap(readSecrets);
  if (input.bodyFile !== undefined && !existsSync(input.bodyFile))
    throw usageError(`--body-file ${input.bodyFile}: no such file`);
  const chunks: Uint8Array[] = [];
  if (input.bodyFile !== undefined) chunks.push(readFileSync(input.bodyFile));
  else for await (const chunk of world.io.in) chunks.push(chunk);
  const delivery = { header: input.header, body: Buffer.concat(chunks) };
  const answer = verifyDelivery(delivery, secrets, { nowMs: world.now(), toleranceMs: input.toleranceMs });
  return { kind: 'answer', answer, view: verdictView, exitCode: answer.valid ? 0 : 12 };
}
