/** What fills are ordered by; `start` and `end` are the signed size before and after. */
export interface OrderedFill {
  account: string;
  coin: string;
  atMs: number;
  start: number;
  end: number;
  /** The second half of a trade of the account with itself: start and end are those after the first half. */
  isSelfTrade: boolean;
}

/** Sizes are decimals with few places; sums of them differ by rounding only. */
const sizeRounding = 1e-7;

/**
 * The fills oldest first; those of one account, coin and time so that each starts where the one before it ended, as far
 * as they link up, and otherwise as they came. Where an account traded with itself the exchange gives both fills the
 * same start: the second is moved to where the first ended.
 */
export function chainFills<Fill extends OrderedFill>(fills: readonly Fill[]): Fill[] {
  const positions = new Map<string, number>();
  const byTime = [...fills].sort((left, right) => left.atMs - right.atMs);
  return groupsOf(byTime, ({ atMs, account, coin }) => `${atMs} ${account} ${coin}`).flatMap((group) => {
    const key = `${group[0]?.account} ${group[0]?.coin}`;
    const chained = chainGroup(group, positions.get(key));
    positions.set(key, chained.at(-1)?.end ?? 0);
    return chained;
  });
}

function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

function chainGroup<Fill extends OrderedFill>(group: readonly Fill[], position: number | undefined): Fill[] {
  const waiting = [...group];
  const chained: Fill[] = [];
  while (waiting.length > 0) {
    const next = takeNext(waiting, chained.at(-1), position);
    if (next === undefined) break;
    chained.push(next);
  }
  return chained;
}

/** Takes out the fill that goes on where the last one ended; else that one's other half; else one that starts anew. */
function takeNext<Fill extends OrderedFill>(waiting: Fill[], last: Fill | undefined, position: number | undefined) {
  const at = last === undefined ? position : last.end;
  const linked = at === undefined ? -1 : waiting.findIndex((fill) => isSameSize(fill.start, at));
  if (linked >= 0) return waiting.splice(linked, 1)[0];
  const other = last === undefined ? -1 : waiting.findIndex((fill) => isOtherHalf(fill, last));
  if (last !== undefined && other >= 0) {
    const [half] = waiting.splice(other, 1);
    return half && { ...half, start: last.end, end: last.start, isSelfTrade: true };
  }
  return waiting.splice(Math.max(0, headIndex(waiting)), 1)[0];
}

/** The first fill that none of the others leads to. */
function headIndex(waiting: readonly OrderedFill[]): number {
  return waiting.findIndex(({ start }) => !waiting.some((other) => isSameSize(other.end, start)));
}

function isOtherHalf(fill: OrderedFill, last: OrderedFill): boolean {
  return isSameSize(fill.start, last.start) && isSameSize(fill.end - fill.start, last.start - last.end);
}

function isSameSize(left: number, right: number): boolean {
  return Math.abs(left - right) <= sizeRounding * Math.max(1, Math.abs(left), Math.abs(right));
}
