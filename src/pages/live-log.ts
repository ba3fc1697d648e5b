import { randomBytes } from 'node:crypto';

/** What a page is told; `load`: that it must fetch what it shows anew. */
interface LiveEntry {
  id: string;
  kind: string;
  data: unknown;
}

export interface LiveLog {
  add: (kind: string, data: unknown) => void;
  /** What follows an entry, then each new one, until the signal; a `load` first where what follows is not known any more. */
  read: (lastId: string | undefined, signal: AbortSignal) => AsyncIterable<LiveEntry>;
}

/** Keeps the latest entries, so that a page that lost its connection goes on without a gap. Ids of an earlier run mean nothing here. */
export function createLiveLog(maxEntries = 5000): LiveLog {
  const run = randomBytes(6).toString('hex');
  const entries: LiveEntry[] = [];
  let added = 0;
  let wake = new AbortController();
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
      wake.abort();
      wake = new AbortController();
    },
    read: async function* (lastId, signal) {
      let seen = readEntryCount(lastId);
      while (!signal.aborted) {
        if (seen === undefined || seen < added - entries.length) {
          seen = added;
          yield { id: makeEntryId(seen), kind: 'load', data: null };
        }
        const next = entries[entries.length - added + seen];
        if (next === undefined) await untilAborted(AbortSignal.any([signal, wake.signal]));
        else {
          seen += 1;
          yield next;
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
