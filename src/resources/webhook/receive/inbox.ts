import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../../../context.ts';
import { SotraError } from '../../../errors.ts';
import { openLog, readSpans, type Span } from '../../../files/log-file.ts';
import { formatCount } from '../../../output/format.ts';
import { allEventsOf, type EventSummary } from './events.ts';

export interface Delivery {
  /** Path and query it was sent to. */
  path: string;
  /** Names its webhook: deliveries of one lane stay in order. */
  lane: string;
  /** Names and values in turn, as they came. */
  headers: string[];
  body: Buffer;
}

const version = 1;

interface StoredDelivery extends Omit<Delivery, 'body'> {
  v: typeof version;
  seq: number;
  atMs: number;
  /** The body as text; as base64 where it is not UTF-8. */
  text?: string;
  base64?: string;
  /** The events that no earlier delivery had. */
  eventIds: string[];
  eventTypes: string[];
}

export interface Entry extends Pick<StoredDelivery, 'seq' | 'atMs' | 'lane' | 'eventIds' | 'eventTypes'> {
  span: Span;
}

export interface Inbox {
  folder: string;
  /**
   * Stores a delivery unless all its events are known; resolves when it is safe on disk. `entry` is absent for a repeat. Errors:
   * `local-file` for a store that is full; those of the file system.
   */
  add: (delivery: Delivery, atMs: number) => Promise<{ entry?: Entry; newEvents: EventSummary[] }>;
  /** How many deliveries were stored at opening, and the newest of them (0: none). */
  count: number;
  newest: number;
  /** `undefined` until it is full. */
  whyFull: () => SotraError | undefined;
  /** The stored deliveries, oldest first, read anew. */
  entries: () => Iterable<Entry>;
  read: (entry: Entry) => Delivery;
  close: () => void;
}

export async function inboxFolder(context: Context, name: string): Promise<string> {
  const folder = join(await context.dataDirectory(), 'webhook', 'inbox', name);
  if (!context.options.preview) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** All of a store is read at each start: a larger one accepts no more deliveries. */
const maxStoreBytes = 1024 ** 3;

/** Opens a store of deliveries, which grows up to `maxBytes` and stores every event once. Errors: `local-file`. */
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
    add: async (delivery, atMs) => {
      const newEvents = allEventsOf(delivery.body).filter(({ eventId }) => !seen.has(eventId));
      if (newEvents.length === 0) {
        // The delivery that it repeats may not be safe on disk yet.
        await log.flush();
        return { newEvents };
      }
      const full = whyFull();
      if (full !== undefined) throw full;
      seq += 1;
      const { path, lane, headers, body } = delivery;
      const eventIds = newEvents.map(({ eventId }) => eventId);
      const eventTypes = newEvents.map(({ eventType }) => eventType);
      const stored: StoredDelivery = {
        v: version,
        seq,
        atMs,
        path,
        lane,
        headers,
        ...bodyText(body),
        eventIds,
        eventTypes,
      };
      const entry = { seq, atMs, lane, eventIds, eventTypes, span: log.append(stored) };
      for (const id of eventIds) seen.add(id);
      try {
        await log.flush();
      } catch (error) {
        // It may be lost: a repeat is stored again.
        for (const id of eventIds) seen.delete(id);
        throw error;
      }
      return { entry, newEvents };
    },
    read: ({ span }) => deliveryOf(log.read(span) as StoredDelivery),
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

/** The same with their bodies and the events that were new in them. */
export function* readStored(folder: string): Generator<Delivery & { atMs: number; newEvents: EventSummary[] }> {
  for (const { entry } of storedIn(folder)) {
    const delivery = deliveryOf(entry);
    const ids = new Set(entry.eventIds);
    const newEvents = allEventsOf(delivery.body).filter(({ eventId }) => ids.has(eventId));
    yield { ...delivery, atMs: entry.atMs, newEvents };
  }
}

function* storedIn(folder: string): Generator<{ entry: StoredDelivery; span: Span }> {
  const file = join(folder, 'deliveries.ndjson');
  for (const one of readSpans<StoredDelivery>(file)) {
    if (!isStored(one.entry)) {
      const what = one.entry.v === version ? 'damaged' : 'of another version of sotra';
      throw new SotraError('local-file', `${file}: the delivery at byte ${one.span.offset} is ${what}`, {
        hint: 'Update sotra, or listen into another store with --name.',
      });
    }
    yield one;
  }
}

function isStored(entry: StoredDelivery): boolean {
  const { v, seq, atMs, path, lane, headers, text = '', base64 = '', eventIds, eventTypes } = entry;
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

function deliveryOf({ path, lane, headers, text, base64 }: StoredDelivery): Delivery {
  const body = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text, 'utf8');
  return { path, lane, headers, body };
}
