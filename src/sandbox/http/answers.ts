import { clockOf } from '../db/clock.ts';
import { nextChangeMs } from '../db/horizon.ts';
import type { Db } from '../db/store.ts';

/** The database as it is when a request comes in. */
interface Present<A> {
  /** The sandbox's time in Unix milliseconds. */
  nowMs: number;
  /** The same answer again, or the one that `make` gives: kept when nothing has changed meanwhile. */
  give: (question: string, make: () => Promise<A>) => Promise<A>;
}

/** Characters of all answers that are kept at once, and of the longest that is. */
const maxKept = 32 * 1024 * 1024;
const longest = 1024 * 1024;

/** What holds as long as the data stay as they are and the clock passes no moment that changes an answer. */
interface Still<A> {
  version: string;
  clock: (realNowMs: number) => number;
  fromMs: number;
  untilMs: number;
  answers: Map<string, A>;
  size: number;
}

/**
 * Keeps answers over a database, as long as they would be given again; what another process writes counts at once. Call what it gives
 * once a request.
 */
export function keepAnswers<A extends { text: string }>(db: Db, realNow: () => number): () => Present<A> {
  let still: Still<A> | undefined;
  return () => {
    const version = db.version();
    const known = still?.version === version ? still : undefined;
    const clock = known?.clock ?? clockOf(db);
    const nowMs = clock(realNow());
    const isStill = known !== undefined && known.fromMs <= nowMs && nowMs < known.untilMs;
    const present = isStill
      ? known
      : { version, clock, fromMs: nowMs, untilMs: nextChangeMs(db, nowMs), answers: new Map<string, A>(), size: 0 };
    still = present;
    return {
      nowMs,
      give: async (question, make) => {
        const known = present.answers.get(question);
        if (known !== undefined) return known;
        const made = await make();
        const { length } = made.text;
        const isLasting = db.version() === present.version;
        if (isLasting && length <= longest && present.size + length <= maxKept) {
          present.answers.set(question, made);
          present.size += length;
        }
        return made;
      },
    };
  };
}
