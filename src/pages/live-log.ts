import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';

/** What a page is told; `load`: that it must fetch what it shows anew. */
interface LiveEntry {
  id: string;
  kind: string;
  data: unknown;
}

export interface LiveLog {
  add: (kind: string, data: unknown) => void;
  /** What follows an entry, then what is new, all of it at a time, until the signal; a `load` first where what follows is not known any more. */
  read: (lastId: string | undefined, signal: AbortSignal) => AsyncIterable<readonly LiveEntry[]>;
}

/** Keeps the latest entries, so that a page that lost its connection goes on without a gap. Ids of an earlier run mean nothing here. */
export function createLiveLog(maxEntries = 5000): LiveLog {
  const run = randomBytes(6).toString('hex');
  const entries: LiveEntry[] = [];
  let added = 0;
  const news = new EventEmitter().setMaxListeners(0);
  const makeEntryId = (count: number) => `${run}-${count}`;
  /** How many entries there were up to this one; `undefined` where it is of another run or too old to go on from. */
  const readEntryCount = (id: string | undefined): number | undefined => {
    const count = id?.startsWith(`${run}-`) ? Number(id.slice(run.length + 1)) : Number.NaN;
    return count >= added - entries.length && count <= added ? count : undefined;
  };
  return {
    add: (kind, data) => {
      added += 1;
      entries.push({ id: makeEntryId(added), kind, data });
      if (entries.length > maxEntries) entries.shift();
      news.emit('added');
    },
    read: async function* (lastId, signal) {
      let seen = readEntryCount(lastId);
      while (!signal.aborted) {
        if (seen === added) {
          await once(news, 'added', { signal }).catch(() => undefined);
          // What comes together is told together.
          await setImmediate();
        } else {
          const told = seen;
          seen = added;
          const isGone = told === undefined || told < added - entries.length;
          yield isGone ? [{ id: makeEntryId(added), kind: 'load', data: null }] : entries.slice(told - added);
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
