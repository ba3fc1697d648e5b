import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../../../context.ts';
import { SotraError } from '../../../errors.ts';
import { openLog, readSpans, type Span } from '../../../files/log-file.ts';
import { formatCount } from '../../../output/format.ts';
import { allEventsOf, type EventSummary } from './delivery.ts';

/** A delivery as it came. */
export interface Received {
  /** Path and query it was sent to. */
  path: string;
  /** Tells the webhooks apart: order is kept within one. */
  lane: string;
  /** Names and values in turn, as they came. */
  headers: string[];
  body: Buffer;
}

const version = 1;

/** A delivery as it is stored, one line each. */
interface Stored {
  v: typeof version;
  seq: number;
  atMs: number;
  path: string;
  lane: string;
  headers: string[];
  /** The body as text; as base64 where it is not UTF-8. */
  text?: string;
  base64?: string;
  /** Events that were new in it. */
  eventIds: string[];
  eventTypes: string[];
}

/** What is known of a stored delivery without reading its body. */
export interface Entry {
  seq: number;
  atMs: number;
  lane: string;
  eventIds: string[];
  eventTypes: string[];
  span: Span;
}

export interface Inbox {
  folder: string;
  /**
   * Stores a delivery unless all its events are known; resolves when it is safe on disk. `entry` is absent for a repeat. Errors:
   * `local-file` for a store that is full; those of the file system.
   */
  take: (received: Received, atMs: number) => Promise<{ entry?: Entry; fresh: EventSummary[] }>;
  /** How many deliveries were stored at opening, and the newest of them (0: none). */
  count: number;
  newest: number;
  /** Why it takes no more deliveries, once it is full. */
  whyFull: () => SotraError | undefined;
  /** The stored deliveries, oldest first, read anew. */
  entries: () => Iterable<Entry>;
  read: (entry: Entry) => Received;
  close: () => void;
}

/** The folder of a listener's store, made if absent. */
export async function inboxFolder(context: Context, name: string): Promise<string> {
  const folder = join(await context.dataDirectory(), 'webhook', 'inbox', name);
  if (!context.options.preview) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** A store is read whole at each start: a larger one takes no more deliveries. */
const maxStoreBytes = 1024 ** 3;

/**
 * Opens a store of deliveries, which grows up to `maxBytes`. Every event is stored once; what was cut off by a crash was never
 * acknowledged. Errors: `local-file`.
 */
export function openInbox(folder: string, maxBytes = maxStoreBytes): Inbox {
  const file = join(folder, 'deliveries.ndjson');
  const seen = new Set<string>();
  let [count, seq] = [0, 0];
  for (const entry of readEntries(folder)) {
    for (const id of entry.eventIds) seen.add(id);
    count += 1;
    seq = entry.seq;
  }
  const log = openLog(file);
  const whyFull = () =>
    log.size() < maxBytes
      ? undefined
      : new SotraError(
          'local-file',
          `${file} is full at ${formatCount(log.size())} bytes: nothing more is stored in it`,
          {
            hint: 'Listen into another store with --name, or move this file away; webhook events and replay still read it.',
          },
        );
  return {
    folder,
    count,
    newest: seq,
    whyFull,
    entries: () => readEntries(folder),
    take: async (received, atMs) => {
      const fresh = allEventsOf(received.body).filter(({ eventId }) => !seen.has(eventId));
      if (fresh.length === 0) {
        // The first of its kind may still be on its way to the disk.
        await log.flush();
        return { fresh };
      }
      const full = whyFull();
      if (full !== undefined) throw full;
      seq += 1;
      const { path, lane, headers, body } = received;
      const eventIds = fresh.map(({ eventId }) => eventId);
      const eventTypes = fresh.map(({ eventType }) => eventType);
      const stored: Stored = { v: version, seq, atMs, path, lane, headers, ...bodyText(body), eventIds, eventTypes };
      const entry = { seq, atMs, lane, eventIds, eventTypes, span: log.append(stored) };
      for (const id of eventIds) seen.add(id);
      try {
        await log.flush();
      } catch (error) {
        // It may be lost: when it is sent again it is stored again.
        for (const id of eventIds) seen.delete(id);
        throw error;
      }
      return { entry, fresh };
    },
    read: ({ span }) => receivedOf(log.read(span) as Stored),
    close: log.close,
  };
}

/** The stored deliveries of a folder, oldest first, without their bodies. */
export function* readEntries(folder: string): Generator<Entry> {
  for (const { entry, span } of storedIn(folder)) {
    const { seq, atMs, lane, eventIds, eventTypes } = entry;
    yield { seq, atMs, lane, eventIds, eventTypes, span };
  }
}

/** The stored deliveries of a folder with all there is, oldest first. */
export function* readStored(
  folder: string,
): Generator<Received & { seq: number; atMs: number; fresh: EventSummary[] }> {
  for (const { entry } of storedIn(folder)) {
    const received = receivedOf(entry);
    const ids = new Set(entry.eventIds);
    const fresh = allEventsOf(received.body).filter(({ eventId }) => ids.has(eventId));
    yield { ...received, seq: entry.seq, atMs: entry.atMs, fresh };
  }
}

function* storedIn(folder: string): Generator<{ entry: Stored; span: Span }> {
  const file = join(folder, 'deliveries.ndjson');
  for (const one of readSpans<Stored>(file)) {
    if (!isStored(one.entry)) {
      const what = one.entry.v === version ? 'damaged' : 'of another version of sotra';
      throw new SotraError('local-file', `${file}: the delivery at byte ${one.span.offset} is ${what}`, {
        hint: 'Update sotra, or listen into another store with --name.',
      });
    }
    yield one;
  }
}

function isStored({
  v,
  seq,
  atMs,
  path,
  lane,
  headers,
  text = '',
  base64 = '',
  eventIds,
  eventTypes,
}: Stored): boolean {
  const areTexts = (all: unknown) => Array.isArray(all) && all.every((each) => typeof each === 'string');
  return (
    v === version &&
    Number.isSafeInteger(seq) &&
    Number.isSafeInteger(atMs) &&
    areTexts([path, lane, text, base64]) &&
    [headers, eventIds, eventTypes].every(areTexts)
  );
}

function bodyText(body: Buffer): { text: string } | { base64: string } {
  const text = body.toString('utf8');
  return Buffer.from(text, 'utf8').equals(body) ? { text } : { base64: body.toString('base64') };
}

function receivedOf({ path, lane, headers, text, base64 }: Stored): Received {
  const body = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text, 'utf8');
  return { path, lane, headers, body };
}
