import { clockOf } from './clock.ts';
import { nextChangeMs } from './horizon.ts';
import type { Db } from './store.ts';

/** The database as it is when a request comes in. */
interface Present {
  /** The sandbox's time in Unix milliseconds. */
  nowMs: number;
  /** The same answer again, or the one that `make` gives: kept when nothing has changed meanwhile. */
  give: (question: string, make: () => Promise<string>) => Promise<string>;
}

/** Characters of all answers that are kept at once, and of the longest that is. */
const mostKept = 32 * 1024 * 1024;
const longest = 1024 * 1024;

/** What holds as long as the data stay as they are and the clock passes no moment that changes an answer. */
interface Still {
  version: string;
  clock: (realNowMs: number) => number;
  fromMs: number;
  untilMs: number;
  texts: Map<string, string>;
  size: number;
}

/**
 * Keeps answers over a database, as long as they would be given again; what another process writes counts at once. Call what it gives
 * once a request.
 */
export function keepAnswers(db: Db, realNow: () => number): () => Present {
  let still: Still | undefined;
  return () => {
    const version = db.version();
    const known = still?.version === version ? still : undefined;
    const clock = known?.clock ?? clockOf(db);
    const nowMs = clock(realNow());
    const isStill = known !== undefined && known.fromMs <= nowMs && nowMs < known.untilMs;
    const present = isStill
      ? known
      : { version, clock, fromMs: nowMs, untilMs: nextChangeMs(db, nowMs), texts: new Map<string, string>(), size: 0 };
    still = present;
    return {
      nowMs,
      give: async (question, make) => {
        const known = present.texts.get(question);
        if (known !== undefined) return known;
        const made = await make();
        const isLasting = db.version() === present.version;
        if (isLasting && made.length <= longest && present.size + made.length <= mostKept) {
          present.texts.set(question, made);
          present.size += made.length;
        }
        return made;
      },
    };
  };
}
