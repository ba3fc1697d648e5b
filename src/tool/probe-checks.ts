import { listItems } from '../http/paginate.ts';

/** Facts about the service, found by reading, that checks take their values from. */
export interface Subject {
  trader: string;
  traderId: string;
  follower: string | undefined;
  commented: { chain: string; hash: string } | undefined;
}

/** What to send to find out whether a name is accepted, and how that shows. */
export interface Plan {
  values: readonly string[];
  judge: (answers: readonly unknown[]) => string | undefined;
  /** The difference may be chance: repeat without the name, which must give the first answer again. */
  control?: boolean;
  /** Why no difference proves nothing here. */
  silence?: string;
}

/** A plan made from the answer without the name (`undefined`: refused), or why there can be none. */
export type Check = (base: unknown, subject: Subject) => Plan | string;

type Json = Record<string, unknown>;

export const itemsIn = listItems as (answer: unknown) => Json[];

export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Json | null | undefined)?.[key], value);
}

const keyOf = (item: Json) => String(item['itemId'] ?? at(item, 'profile', 'id') ?? item['id'] ?? JSON.stringify(item));
const chainOf = (item: Json) => at(item, 'metadata', 'tokenChain');
const tradesOf = (item: Json) => (at(item, 'metadata', 'trades') ?? []) as Json[];
const numbers = (item: Json, field: string) =>
  tradesOf(item).flatMap((trade) => (typeof trade[field] === 'number' ? [trade[field]] : []));

const limit: Check = (base) => {
  const count = itemsIn(base).length;
  if (count < 2) return `only ${count} items to count`;
  return {
    values: ['1'],
    judge: ([answer]) => (itemsIn(answer).length === 1 ? `1 asked for, 1 came; without it ${count}` : undefined),
  };
};

const page: Check = (base) => {
  const first = new Set(itemsIn(base).map(keyOf));
  if (first.size === 0) return 'the list is empty';
  const judge: Plan['judge'] = ([answer]) => {
    const second = itemsIn(answer);
    if (!Array.isArray(answer) || second.some((item) => first.has(keyOf(item)))) return undefined;
    return `page 2 holds ${second.length} items, none of them from page 1`;
  };
  return { values: ['2'], judge };
};

const cursor: Check = (base) => {
  const [next, first] = [at(base, 'cursor'), itemsIn(base)[0]];
  if (typeof next !== 'string' || first === undefined) return 'all fits on one page, so there is no cursor';
  const judge: Plan['judge'] = ([answer]) =>
    answer !== undefined && itemsIn(answer).every((item) => keyOf(item) !== keyOf(first))
      ? 'the next page came, without the first item'
      : undefined;
  return { values: [next], judge };
};

type Passes = (item: Json, value: string) => boolean | undefined;

function filter(values: readonly string[], passes: Passes, what: (value: string) => string): Check {
  return (base) => {
    const before = itemsIn(base);
    const count = (value: string, wanted: boolean) => before.filter((item) => passes(item, value) === wanted).length;
    const value = values.find((one) => count(one, true) > 0 && count(one, false) > 0);
    if (value === undefined) return `among ${before.length} items none that a filter would tell apart`;
    const judge: Plan['judge'] = ([answer]) => {
      const left = itemsIn(answer);
      return left.length > 0 && !left.some((item) => passes(item, value) === false)
        ? `${left.length} items, none ${what(value)}; without it ${count(value, false)} of ${before.length}`
        : undefined;
    };
    return { values: [value], judge };
  };
}

const chainNames = ['solana', 'base', 'ethereum', 'hyperliquid', 'arbitrum', 'optimism', 'polygon', 'zora', 'zero'];
const chains: Check = (base, subject) =>
  itemsIn(base).some((item) => chainOf(item) !== undefined)
    ? filter(
        chainNames,
        (item, chain) => chainOf(item) === chain,
        (chain) => `off ${chain}`,
      )(base, subject)
    : changes(['solana', 'base', 'ethereum', 'hyperliquid'], 'the list for one chain is another')(base, subject);

/** A token lives on one chain: on another one there must be nothing. */
const elsewhere: Check = (base) => {
  const home = itemsIn(base).map(chainOf);
  const other = chainNames.find((name) => !home.includes(name));
  if (home.length === 0 || other === undefined) return 'the list is empty';
  const judge: Plan['judge'] = ([answer]) =>
    Array.isArray(answer) && answer.length === 0
      ? `nothing on ${other}, where the token is not; without it ${home.length}`
      : undefined;
  return { values: [other], judge, control: true };
};

/** The answer differs with the name, for one of the values, and is the first again without it. */
function changes(values: readonly string[], what: string): Check {
  return (base) => {
    if (base === undefined || itemsIn(base).length === 0) return 'the list is empty';
    const before = JSON.stringify(itemsIn(base).map(keyOf));
    const judge: Plan['judge'] = (answers) => {
      const hit = answers.findIndex((one) => one !== undefined && JSON.stringify(itemsIn(one).map(keyOf)) !== before);
      return hit === -1 ? undefined : `${what} (${values[hit]})`;
    };
    return { values, judge, control: true };
  };
}

const timeframe: Check = () => ({
  values: ['7d', '30d'],
  judge: ([week, month]) => {
    const pnlOf = (answer: unknown) => at(answer, 'pnl', 'total') ?? at(itemsIn(answer)[0], 'pnl', 'total');
    const [short, long] = [pnlOf(week), pnlOf(month)];
    return typeof short === 'number' && typeof long === 'number' && short !== long
      ? `7d gives a PnL of ${Math.round(short)}, 30d of ${Math.round(long)}`
      : undefined;
  },
});

const viewer: Check = (base, { follower, trader }) => {
  const field = '"isFollowedByUser"';
  if (JSON.stringify(base ?? null).includes(field)) return 'isFollowedByUser is there without it too';
  const judge: Plan['judge'] = ([answer]) =>
    JSON.stringify(answer ?? null).includes(field) ? 'isFollowedByUser is filled, and absent without it' : undefined;
  return { values: [follower ?? trader], judge };
};

const rankedAmongCommenters: Check = (base) => ({
  values: ['true'],
  control: true,
  judge: ([answer]) => {
    const [all, some] = [at(base, 'ranking'), at(answer, 'ranking')];
    return answer !== undefined && all !== some ? `rank ${all} becomes ${some} among commenters` : undefined;
  },
});

const place: Check = (base) => {
  const [first] = itemsIn(base);
  const address = at(first, 'profile', 'addresses', 0);
  if (typeof address !== 'string') return 'the list is empty';
  const judge: Plan['judge'] = ([answer]) =>
    at(answer, 'ranking') === 1 && at(base, 'ranking') !== 1 ? 'the first trader of the list has rank 1' : undefined;
  return { values: [address], judge };
};

const identifier: Check = (_, { trader, traderId }) => ({
  values: [trader],
  judge: ([answer]) => {
    const items = itemsIn(answer);
    return items.length > 0 && items.every((item) => at(item, 'actor', 'profile', 'id') === traderId)
      ? `${items.length} cards, all of the trader asked for`
      : undefined;
  },
});

const followed: Check = (base, { follower }) => {
  if (follower === undefined) return 'no wallet is known that follows somebody';
  const before = itemsIn(base).length;
  const judge: Plan['judge'] = ([answer]) =>
    itemsIn(answer).length > 0 && before === 0 ? `${itemsIn(answer).length} cards; without it none` : undefined;
  return { values: [follower], judge };
};

const hashes: Check = (_, { commented }) => {
  if (commented === undefined) return 'no commented trade is known';
  const judge: Plan['judge'] = ([answer]) =>
    JSON.stringify(at(answer, commented.hash) ?? null).includes('"commentText"')
      ? 'the comment of the trade came'
      : undefined;
  return { values: [commented.hash], judge };
};

const chain: Check = (base, { commented }) => {
  if (commented === undefined) return 'no commented trade is known';
  if (base !== undefined) return 'the answer comes without it too';
  return { values: [commented.chain], judge: ([answer]) => (answer === undefined ? undefined : 'refused without it') };
};

const recommended: Check = () => ({
  values: ['true'],
  silence: 'no card carries forYouTrade; perhaps none is recommended now',
  judge: ([answer]) =>
    itemsIn(answer).some((item) => item['forYouTrade'] !== undefined) ? 'cards carry forYouTrade' : undefined,
});

function whole(list: readonly number[], holds: (one: number) => boolean): boolean | undefined {
  const count = list.filter(holds).length;
  if (list.length === 0 || (count > 0 && count < list.length)) return undefined;
  return count > 0;
}

const caps = ['100000', '1000000', '10000000'];

/** By key, or by endpoint and key where that differs. */
export const checks: Readonly<Record<string, Check>> = {
  limit,
  page,
  cursor,
  chains,
  timeframe,
  viewerAddresses: viewer,
  'leaderboard.rank.onlyWithComments': rankedAmongCommenters,
  'leaderboard.copytraded.address': place,
  'feed.actor.identifier': identifier,
  'feed.home.addresses': followed,
  'feed.home.onlyWithComments': filter(
    ['true'],
    (item) => Number(at(item, 'metrics', 'commentCount')) > 0,
    () => 'without comments',
  ),
  'token.positions.chains': elsewhere,
  'comment.list.hashes': hashes,
  'comment.list.chain': chain,
  'comment.list.viewerAddresses': () => 'a wallet that liked nothing sees the same',
  includeForYou: recommended,
  minTradeUsd: filter(
    ['1000', '500', '100', '10'],
    (item, value) => whole(numbers(item, 'usdCost'), (usd) => usd >= Number(value)),
    (usd) => `with trades below ${usd} USD`,
  ),
  minMarketCap: filter(
    caps,
    (item, value) => whole(numbers(item, 'marketCap'), (cap) => cap >= Number(value)),
    (cap) => `with a market cap below ${cap}`,
  ),
  maxMarketCap: filter(
    caps,
    (item, value) => whole(numbers(item, 'marketCap'), (cap) => cap < Number(value)),
    (cap) => `with a market cap of ${cap} or more`,
  ),
};
