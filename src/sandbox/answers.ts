import { clockOf } from './clock.ts';
import { nextChangeMs } from './horizon.ts';
import type { Db } from './store.ts';

/** Answers that were given already, as long as they would be given again. */
export interface Answers {
  /** The sandbox's time. */
  now: () => number;
  /** The same answer again, or the one that `make` gives: kept when nothing has changed meanwhile. */
  give: (question: string, nowMs: number, make: () => Promise<string>) => Promise<string>;
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

/** Keeps answers over a database; what another process writes counts at once. */
export function keepAnswers(db: Db, realNow: () => number): Answers {
  let still: Still | undefined;
  const current = (): Still => {
    const version = db.version();
    if (still?.version === version) return still;
    still = { version, clock: clockOf(db), fromMs: 0, untilMs: 0, texts: new Map(), size: 0 };
    return still;
  };
  const holding = (nowMs: number): Still => {
    const now = current();
    if (now.fromMs <= nowMs && nowMs < now.untilMs) return now;
    still = { ...now, fromMs: nowMs, untilMs: nextChangeMs(db, nowMs), texts: new Map(), size: 0 };
    return still;
  };
  return {
    now: () => current().clock(realNow()),
    give: async (question, nowMs, make) => {
      const before = holding(nowMs);
      const known = before.texts.get(question);
      if (known !== undefined) return known;
      const made = await make();
      const isLasting = still === before && db.version() === before.version;
      if (isLasting && made.length <= longest && before.size + made.length <= mostKept) {
        before.texts.set(question, made);
        before.size += made.length;
      }
      return made;
    },
  };
}
