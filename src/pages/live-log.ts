import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** An entry of the stream to pages; `load`: the page must show its data anew. */
export interface LiveEntry {
  kind: string;
  data: unknown;
}

export interface LiveLog {
  add: (kind: string, data: unknown) => void;
  /** Whether a page waits for entries; one that is too slow does not until it has shown its data anew. */
  isRead: () => boolean;
  /** A `load`, then new entries in batches, until the signal; a `load` again if a reader is too slow. */
  read: (signal: AbortSignal) => AsyncIterable<readonly LiveEntry[]>;
}

/** Entries of one batch: a page draws as many rows, and asks for older ones. */
const maxWaiting = 200;
/** Pauses after a batch: the longest one after a full batch. */
const maxPauses = 16;

/** Passes entries on to the pages that are open. The pause after a batch is longer after a large one: drawing takes no time from what is shown. */
export function createLiveLog(pauseMs = 250): LiveLog {
  const added = new EventEmitter<{ entry: [LiveEntry] }>().setMaxListeners(0);
  const load: LiveEntry = { kind: 'load', data: null };
  return {
    add: (kind, data) => void added.emit('entry', { kind, data }),
    isRead: () => added.listenerCount('entry') > 0,
    read: async function* (signal) {
      let waiting = [load];
      let isTooSlow = false;
      const take = (entry: LiveEntry) => {
        if (waiting.length < maxWaiting) return void waiting.push(entry);
        waiting = [load];
        isTooSlow = true;
        added.off('entry', take);
      };
      added.on('entry', take);
      try {
        while (!signal.aborted) {
          const [entries, size] = [waiting, isTooSlow ? maxWaiting : waiting.length];
          waiting = [];
          if (isTooSlow) added.on('entry', take);
          isTooSlow = false;
          yield entries;
          const pauses = Math.ceil((size / maxWaiting) * maxPauses);
          await sleep(pauses * pauseMs, undefined, { signal }).catch(() => undefined);
          if (waiting.length === 0) await once(added, 'entry', { signal }).catch(() => undefined);
        }
      } finally {
        added.off('entry', take);
      }
    },
  };
}
