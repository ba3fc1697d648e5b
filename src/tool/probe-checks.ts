import { listItems as list } from '../http/paginate.ts';

/** Facts about the service, found by reading, that checks take their values from. */
export interface Subject {
  trader: string;
  traderId: string;
  follower: string | undefined;
  commented: { chain: string; hash: string } | undefined;
}

/** How reading shows that a name is accepted. `base` is the answer without the name; an answer is `undefined` where it was refused. */
export interface Check {
  /** What to send under the name, one value a request; none where nothing could be seen. */
  values: (base: unknown, subject: Subject) => readonly string[];
  /** Why there may be no value. */
  lacks?: string;
  /** What shows that the value had its effect. */
  evidence: (answer: unknown, value: string, base: unknown, subject: Subject) => string | undefined;
  /** The difference may be chance: without the name the first answer has to come again. */
  mayBeChance?: true;
  /** Why an answer without the effect proves nothing. */
  silence?: string;
}

type Json = Record<string, unknown>;

export const readObjects = list as (answer: unknown) => Json[];

export function readAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Json | null | undefined)?.[key], value);
}

const identify = (item: Json) =>
  String(item['itemId'] ?? readAt(item, 'profile', 'id') ?? item['id'] ?? JSON.stringify(item));
const listIds = (answer: unknown) => readObjects(answer).map(identify);
const readChain = (item: Json) => readAt(item, 'metadata', 'tokenChain');
const chainNames = ['solana', 'base', 'ethereum', 'hyperliquid', 'arbitrum', 'optimism', 'polygon', 'zora', 'zero'];

const emptyList = 'the list is empty';
export const noFollower = 'no wallet is known that follows somebody';
export const noComment = 'no commented trade is known';

/** `undefined` for an item that says nothing of it. */
type Passes = (item: Json, value: string) => boolean | undefined;

/** A filter lets through only what passes, where without it something does not. */
function checkFilter(values: readonly string[], passes: Passes, without: string): Check {
  const count = (answer: unknown, value: string, wanted: boolean) =>
    readObjects(answer).filter((item) => passes(item, value) === wanted).length;
  return {
    values: (base) =>
      values.filter((value) => count(base, value, true) > 0 && count(base, value, false) > 0).slice(0, 1),
    lacks: 'there are no items that a filter would tell apart',
    evidence: (answer, value, base) =>
      readObjects(answer).length > 0 && count(answer, value, false) === 0
        ? `${readObjects(answer).length} items, none ${without} (${value}); without it ${count(base, value, false)}`
        : undefined,
  };
}

/** Whether a number of each trade of an item passes; `undefined` where some do, or there is none. */
function everyTrade(item: Json, field: string, passes: (one: number) => boolean): boolean | undefined {
  const trades = (readAt(item, 'metadata', 'trades') ?? []) as Json[];
  const numbers = trades.map((trade) => trade[field]).filter((one) => typeof one === 'number');
  const passing = numbers.filter(passes).length;
  return numbers.length === 0 || (passing > 0 && passing < numbers.length) ? undefined : passing > 0;
}

const caps = ['100000', '1000000', '10000000'];
const viewerField = '"isFollowedByUser"';
const holds = (answer: unknown, text: string) => JSON.stringify(answer ?? null).includes(text);
const readPnl = (answer: unknown) => readAt(answer, 'pnl', 'total') ?? readAt(readObjects(answer)[0], 'pnl', 'total');

/** By key, or by endpoint and key where that differs. */
export const checks: Readonly<Record<string, Check>> = {
  limit: {
    values: (base) => (readObjects(base).length < 2 ? [] : ['1']),
    lacks: 'there are not two items to count',
    evidence: (answer, _, base) =>
      readObjects(answer).length === 1 ? `1 asked for, 1 came; without it ${readObjects(base).length}` : undefined,
  },
  page: {
    values: (base) => (readObjects(base).length === 0 ? [] : ['2']),
    lacks: emptyList,
    evidence: (answer, _, base) =>
      Array.isArray(answer) && !listIds(answer).some((id) => listIds(base).includes(id))
        ? `page 2 holds ${answer.length} items, none of them from page 1`
        : undefined,
  },
  cursor: {
    values: (base) => [readAt(base, 'cursor')].filter((text) => typeof text === 'string'),
    lacks: 'all fits on one page, so there is no cursor',
    evidence: (answer, _, base) =>
      answer !== undefined && !listIds(answer).includes(listIds(base)[0] ?? '')
        ? 'the next page came, without the first item'
        : undefined,
  },
  chains: checkFilter(chainNames, (item, chain) => readChain(item) === chain, 'off the chain'),
  'leaderboard.copytraded.chains': {
    values: (base) => (readObjects(base).length === 0 ? [] : ['solana', 'base', 'ethereum', 'hyperliquid']),
    lacks: emptyList,
    mayBeChance: true,
    evidence: (answer, chain, base) =>
      answer !== undefined && String(listIds(answer)) !== String(listIds(base))
        ? `the list for ${chain} is another`
        : undefined,
  },
  timeframe: {
    values: () => ['7d', '30d'],
    mayBeChance: true,
    evidence: (answer, timeframe, base) => {
      const [pnl, before] = [readPnl(answer), readPnl(base)];
      return typeof pnl === 'number' && typeof before === 'number' && pnl !== before
        ? `${timeframe} gives a PnL of ${Math.round(pnl)}; without it ${Math.round(before)}`
        : undefined;
    },
  },
  viewerAddresses: {
    values: (base, { follower, trader }) => (holds(base, viewerField) ? [] : [follower ?? trader]),
    lacks: 'isFollowedByUser is there without it too',
    evidence: (answer) =>
      holds(answer, viewerField) ? 'isFollowedByUser is filled, and absent without it' : undefined,
  },
  'leaderboard.rank.onlyWithComments': {
    values: () => ['true'],
    mayBeChance: true,
    evidence: (answer, _, base) => {
      const [all, some] = [readAt(base, 'ranking'), readAt(answer, 'ranking')];
      return answer !== undefined && all !== some ? `rank ${all} becomes ${some} among commenters` : undefined;
    },
  },
  'leaderboard.copytraded.address': {
    values: (base) =>
      [readAt(readObjects(base)[0], 'profile', 'addresses', 0)].filter((address) => typeof address === 'string'),
    lacks: emptyList,
    evidence: (answer, _, base) =>
      readAt(answer, 'ranking') === 1 && readAt(base, 'ranking') !== 1
        ? 'the first trader of the list has rank 1'
        : undefined,
  },
  'feed.actor.identifier': {
    values: (_, { trader }) => [trader],
    evidence: (answer, _, __, { traderId }) => {
      const items = readObjects(answer);
      return items.length > 0 && items.every((item) => readAt(item, 'actor', 'profile', 'id') === traderId)
        ? `${items.length} cards, all of the trader asked for`
        : undefined;
    },
  },
  'feed.home.addresses': {
    values: (_, { follower }) => (follower === undefined ? [] : [follower]),
    lacks: noFollower,
    evidence: (answer, _, base) =>
      readObjects(answer).length > 0 && readObjects(base).length === 0
        ? `${readObjects(answer).length} cards; without it none`
        : undefined,
  },
  'feed.home.onlyWithComments': checkFilter(
    ['true'],
    (item) => Number(readAt(item, 'metrics', 'commentCount')) > 0,
    'without comments',
  ),
  'token.positions.chains': {
    // A token lives on one chain: on another one there must be nothing.
    values: (base) => {
      const home = readObjects(base).map(readChain);
      return home.length === 0 ? [] : chainNames.filter((name) => !home.includes(name)).slice(0, 1);
    },
    lacks: emptyList,
    mayBeChance: true,
    evidence: (answer, chain, base) =>
      Array.isArray(answer) && answer.length === 0 && readObjects(base).length > 0
        ? `nothing on ${chain}, where the token is not; without it ${readObjects(base).length}`
        : undefined,
  },
  'comment.list.hashes': {
    values: (_, { commented }) => (commented === undefined ? [] : [commented.hash]),
    lacks: noComment,
    evidence: (answer, hash) =>
      holds(readAt(answer, hash), '"commentText"') ? 'the comment of the trade came' : undefined,
  },
  'comment.list.chain': {
    values: (base, { commented }) => (commented === undefined || base !== undefined ? [] : [commented.chain]),
    lacks: `${noComment}, or the answer comes without it too`,
    evidence: (answer) => (answer === undefined ? undefined : 'refused without it'),
  },
  'comment.list.viewerAddresses': {
    values: () => [],
    lacks: 'a wallet that liked nothing sees the same',
    evidence: () => undefined,
  },
  includeForYou: {
    values: () => ['true'],
    silence: 'no card carries forYouTrade; perhaps none is recommended now',
    evidence: (answer) =>
      readObjects(answer).some((item) => item['forYouTrade'] !== undefined) ? 'cards carry forYouTrade' : undefined,
  },
  minTradeUsd: checkFilter(
    ['1000', '500', '100', '10'],
    (item, value) => everyTrade(item, 'usdCost', (usd) => usd >= Number(value)),
    'with trades of less USD',
  ),
  minMarketCap: checkFilter(
    caps,
    (item, value) => everyTrade(item, 'marketCap', (cap) => cap >= Number(value)),
    'with a lower market cap',
  ),
  maxMarketCap: checkFilter(
    caps,
    (item, value) => everyTrade(item, 'marketCap', (cap) => cap < Number(value)),
    'with a market cap as high',
  ),
};

/** Names that services use for such a parameter, tried when the assumed one is not accepted. */
export const otherNames: Readonly<Record<string, string>> = {
  limit: 'limit count pageSize page_size perPage per_page size take first n max',
  page: 'page pageNumber page_number pageIndex pageNo p',
  cursor: 'cursor after next nextCursor next_cursor pageToken page_token startAfter from',
  chains: 'chains chain chainIds chain_ids networks network chainFilter blockchains',
  chain: 'chain chainId network blockchain tokenChain',
  timeframe: 'timeframe timeFrame time_frame period window interval range duration',
  viewerAddresses: 'viewerAddresses viewerAddress viewer_addresses viewers viewer userAddresses userAddress as',
  onlyWithComments: 'onlyWithComments withComments hasComments commentsOnly only_with_comments commented',
  address: 'address userAddress walletAddress wallet identifier trader',
  identifier: 'identifier address addressOrUid addresses actor actorAddress profileId profile user uid id',
  addresses: 'addresses address walletAddresses wallets userAddresses followers addressOrUid',
  hashes: 'transactionHashes transactionHash txnHashes txnHash txHashes txHash hashes hash transactions',
  includeForYou: 'includeForYou forYou includeForYouTrades withForYou for_you includeRecommended',
  minTradeUsd: 'minTradeUsd minTradeUSD minUsd minUSD minTradeValue minValueUsd min_trade_usd minAmount',
  minMarketCap: 'minMarketCap marketCapMin minMarketCapUsd minMcap min_market_cap marketCapGte',
  maxMarketCap: 'maxMarketCap marketCapMax maxMarketCapUsd maxMcap max_market_cap marketCapLt',
};
