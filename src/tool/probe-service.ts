import type { Context } from '../context.ts';
import { type Endpoint, type WireNames, wireName } from '../contract/endpoint.ts';
import { encodeRequest, type WireRequest } from '../contract/request.ts';
import { orUndefined, SotraError } from '../errors.ts';
import { list as leaderboard } from '../resources/leaderboard/endpoints.ts';
import { ofProfile as positionsOf } from '../resources/position/endpoints.ts';
import { followers as followersOf } from '../resources/profile/endpoints.ts';
import { at, itemsIn, type Subject } from './probe-checks.ts';

export type Pairs = readonly (readonly [name: string, value: string])[];

export type Input = Readonly<Record<string, unknown>>;

/** Reads from the service, under the names found so far; `undefined` for a refused request (4xx other than key and rate). */
export interface Asker {
  /** Sends each request once. */
  ask: (endpoint: Endpoint, input: Input, extra?: Pairs) => Promise<unknown>;
  /** The same, but sends it again. */
  fresh: Asker['ask'];
  /** The same, but a refusal is an error. */
  need: Asker['ask'];
  follow: (link: string) => Promise<unknown>;
  calls: () => number;
  /** The current name of a parameter: found, overridden or assumed. */
  nameOf: (endpoint: Endpoint, key: string) => string;
  isKnown: (id: string) => boolean;
  learn: (id: string, name: string) => void;
}

const refusals = ['bad-request', 'not-found', 'conflict', 'request-refused'] as const;

/** Errors: those of the call that are no refusal. */
export function createAsker(context: Context, overrides: WireNames): Asker {
  const answers = new Map<string, Promise<unknown>>();
  const known: Record<string, string> = { ...overrides };
  let calls = 0;
  const send = async (wire: WireRequest): Promise<unknown> => {
    calls += 1;
    return (await orUndefined(context.request(wire), ...refusals))?.data;
  };
  const requestFor: (...asked: Parameters<Asker['ask']>) => WireRequest = (endpoint, input, extra = []) => {
    const wire = encodeRequest(endpoint, input, known);
    const pairs = new URLSearchParams();
    for (const [name, value] of extra) pairs.append(name, value);
    const query = pairs.toString();
    return query === '' ? wire : { ...wire, path: `${wire.path}${wire.path.includes('?') ? '&' : '?'}${query}` };
  };
  const ask: Asker['ask'] = (...asked) => {
    const wire = requestFor(...asked);
    const answer = answers.get(wire.path) ?? send(wire);
    answers.set(wire.path, answer);
    return answer;
  };
  return {
    ask,
    need: async (...asked) => {
      const wire = requestFor(...asked);
      calls += 1;
      const { data } = await context.request(wire);
      answers.set(wire.path, Promise.resolve(data));
      return data;
    },
    fresh: (...asked) => send(requestFor(...asked)),
    follow: async (link) => {
      const { baseUrl } = await context.service();
      const { origin, pathname, search, href } = new URL(link, baseUrl);
      return origin === new URL(baseUrl).origin ? send({ method: 'GET', path: pathname + search, href }) : undefined;
    },
    calls: () => calls,
    nameOf: (endpoint, key) => {
      const param = endpoint.params[key];
      return param === undefined ? key : wireName(endpoint, key, param, known);
    },
    isKnown: (id) => Object.hasOwn(known, id),
    learn: (id, name) => {
      known[id] = name;
    },
  };
}

export interface Subjects {
  subject: Subject;
  /** Required inputs of an endpoint, the most telling first; or why there are none. */
  inputs: (endpoint: Endpoint) => readonly Input[] | string;
}

/** Traders whose cards are searched for a commented trade. */
const maxTraders = 8;

/**
 * What to ask about, found from the leaderboard down; `undefined` where it is empty. Errors: those of the call, `contract` for an answer
 * that is no leaderboard.
 */
export async function findSubjects({ ask, need }: Pick<Asker, 'ask' | 'need'>): Promise<Subjects | undefined> {
  const read = async (endpoint: Endpoint, input: Input) => itemsIn(await ask(endpoint, input));
  const answer = await need(leaderboard, {});
  if (!Array.isArray(at(answer, 'traders')))
    throw new SotraError('contract', 'the leaderboard has no list of traders: there is no trader to ask about', {
      hint: 'See the raw answer: sotra request GET /v2/leaderboard',
    });
  const board = itemsIn(answer);
  const traders = board.filter((item) => typeof at(item, 'profile', 'addresses', 0) === 'string');
  const [first] = traders;
  if (first === undefined) return undefined;
  const addressOf = (item: unknown) => String(at(item, 'profile', 'addresses', 0));
  const broadest = [...traders].sort((a, b) => breadth(b) - breadth(a)).slice(0, maxTraders);
  const trader = broadest[0] ?? first;
  const byFollowers = [...traders].sort((a, b) => followers(b) - followers(a))[0] ?? first;
  const fans = await read(followersOf, { identifier: addressOf(byFollowers) });
  const follower = fans.map((fan) => at(fan, 'addresses', 0)).find((address) => typeof address === 'string');
  const cards: Record<string, unknown>[] = [];
  for (const item of traders.slice(0, maxTraders)) {
    if (cards.some((card) => commentOf(card) !== undefined)) break;
    for (const status of ['closed', 'open'])
      cards.push(...(await read(positionsOf, { identifier: addressOf(item), status })));
  }
  const talked = cards.find((card) => commentOf(card) !== undefined);
  const comment = commentOf(talked);
  const chain = at(talked, 'metadata', 'tokenChain');
  const subject: Subject = {
    trader: addressOf(trader),
    traderId: String(at(trader, 'profile', 'id')),
    follower,
    commented:
      comment === undefined || typeof chain !== 'string'
        ? undefined
        : { chain, hash: String(comment['transactionHash']) },
  };
  const silent = traders.findIndex((item) => at(item, 'hasComments') === false);
  const ranked = silent === -1 ? undefined : traders.slice(silent).find((item) => at(item, 'hasComments') === true);
  const given = inputsFor(subject, {
    known: addressOf(byFollowers),
    ranked: addressOf(ranked ?? trader),
    broadest: broadest.map(addressOf),
    cards: (talked === undefined ? cards : [talked, ...cards]).slice(0, maxTraders),
  });
  return { subject, inputs: (endpoint) => given[endpoint.id] ?? [{}] };
}

interface ProbeTargets {
  known: string;
  /** A commenter ranked below a trader who does not comment. */
  ranked: string;
  broadest: readonly string[];
  cards: readonly unknown[];
}

function inputsFor(
  { commented, follower }: Subject,
  { known, ranked, broadest, cards }: ProbeTargets,
): Record<string, readonly Input[] | string> {
  const nobody = 'no wallet is known that follows somebody';
  const likes = 'a wallet that liked nothing sees the same';
  const tokens = cards.map((card) => ({
    chain: at(card, 'metadata', 'tokenChain'),
    contractAddress: at(card, 'metadata', 'tokenAddress'),
  }));
  const open = (card: unknown) => (at(card, 'metadata', 'positionStats', 'isOpen') === true ? 'open' : 'closed');
  return {
    'leaderboard.rank': [{ address: ranked }],
    'profile.followers': [{ identifier: known }],
    'profile.follows': follower === undefined ? nobody : [{ identifier: follower }],
    'profile.positions': broadest.map((identifier) => ({ identifier, status: 'closed' })),
    'token.positions': tokens.map((token, index) => ({ ...token, status: open(cards[index]) })),
    'token.comments': tokens,
    'feed.actor': broadest.map((identifier) => ({ identifier })),
    'feed.home': follower === undefined ? nobody : [{ addresses: [follower] }],
    'position.find': likes,
    'position.get': likes,
    'comment.list':
      commented === undefined ? 'no commented trade is known' : [{ hashes: [commented.hash], chain: commented.chain }],
  };
}

function breadth(item: unknown): number {
  return Object.keys((at(item, 'pnl', 'perChain') ?? {}) as object).length + (at(item, 'hasComments') === true ? 1 : 0);
}

function followers(item: unknown): number {
  return Number(at(item, 'profile', 'metrics', 'thisPartner', 'followerCount') ?? 0);
}

function commentOf(card: unknown): Record<string, unknown> | undefined {
  const trades = (at(card, 'metadata', 'trades') ?? []) as unknown[];
  return trades.flatMap((trade) => (at(trade, 'comments') ?? []) as Record<string, unknown>[])[0];
}

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
