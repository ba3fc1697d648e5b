import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';

/** An entry of the stream to pages; `load`: the page must load its data again. */
export interface LiveEntry {
  id: string;
  kind: string;
  data: unknown;
}

export interface LiveLog {
  add: (kind: string, data: unknown) => void;
  /** The entries after one, then new ones in batches, until the signal; a `load` first if the entries after it are no longer kept. */
  read: (lastId: string | undefined, signal: AbortSignal) => AsyncIterable<readonly LiveEntry[]>;
}

/** Keeps the latest entries, so that a page that lost its connection continues without a gap. Ids of an earlier run are unknown. */
export function createLiveLog(maxEntries = 5000): LiveLog {
  const run = randomBytes(6).toString('hex');
  const entries: LiveEntry[] = [];
  let added = 0;
  const emitter = new EventEmitter().setMaxListeners(0);
  const makeEntryId = (count: number) => `${run}-${count}`;
  /** How many entries there were up to this one; `undefined` if it is of another run or too old. */
  const readEntryCount = (id: string | undefined): number | undefined => {
    const count = id?.startsWith(`${run}-`) ? Number(id.slice(run.length + 1)) : Number.NaN;
    return count >= added - entries.length && count <= added ? count : undefined;
  };
  return {
    add: (kind, data) => {
      added += 1;
      entries.push({ id: makeEntryId(added), kind, data });
      if (entries.length > maxEntries) entries.shift();
      emitter.emit('added');
    },
    read: async function* (lastId, signal) {
      let seen = readEntryCount(lastId);
      while (!signal.aborted) {
        if (seen === added) {
          await once(emitter, 'added', { signal }).catch(() => undefined);
          // Entries of one moment go out as one batch.
          await setImmediate();
        } else {
          const sent = seen;
          seen = added;
          const isGone = sent === undefined || sent < added - entries.length;
          yield isGone ? [{ id: makeEntryId(added), kind: 'load', data: null }] : entries.slice(sent - added);
        }
      }
    },
  };
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
