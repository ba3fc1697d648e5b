import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** An entry of the stream to pages; `load`: the page must load its data again. */
export interface LiveEntry {
  kind: string;
  data: unknown;
}

export interface LiveLog {
  add: (kind: string, data: unknown) => void;
  /** A `load`, then new entries in batches, until the signal; a `load` again if a reader is too slow. */
  read: (signal: AbortSignal) => AsyncIterable<readonly LiveEntry[]>;
}

/** Entries of one batch: a page draws as many rows, and asks for older ones. */
const maxWaiting = 200;
/** A batch is followed by a pause for each so many entries: pages draw less often when much happens. */
const perPause = 13;

export function createLiveLog(pauseMs = 250): LiveLog {
  const added = new EventEmitter<{ entry: [LiveEntry] }>().setMaxListeners(0);
  const load: LiveEntry = { kind: 'load', data: null };
  return {
    add: (kind, data) => void added.emit('entry', { kind, data }),
    read: async function* (signal) {
      const waiting = [load];
      const take = (entry: LiveEntry) => {
        if (waiting.push(entry) > maxWaiting) added.off('entry', take);
      };
      try {
        while (!signal.aborted) {
          const entries = waiting.splice(0);
          added.off('entry', take).on('entry', take);
          yield entries.length > maxWaiting ? [load] : entries;
          const pauses = Math.ceil(entries.length / perPause);
          await sleep(pauses * pauseMs, undefined, { signal }).catch(() => undefined);
          if (waiting.length === 0) await once(added, 'entry', { signal }).catch(() => undefined);
        }
      } finally {
        added.off('entry', take);
      }
    },
  };
}
