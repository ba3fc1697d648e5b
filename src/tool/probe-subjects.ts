import type { Endpoint } from '../contract/endpoint.ts';
import { SotraError } from '../errors.ts';
import { endpoints } from '../resources/index.ts';
import { list as leaderboard } from '../resources/leaderboard/endpoints.ts';
import type { Asker } from './probe-ask.ts';
import { at, itemsIn, type Subject } from './probe-checks.ts';

type Input = Readonly<Record<string, unknown>>;

export interface Subjects {
  subject: Subject;
  /** Sets of required inputs of an endpoint, the likeliest to tell something first; or why there are none. */
  inputs: (endpoint: Endpoint) => readonly Input[] | string;
}

/** Most traders whose cards are looked at for a commented trade. */
const lookedAt = 8;

/**
 * Whom and what to ask about, taken from the leaderboard down; `undefined` where it is empty. Errors: those of the call for the leaderboard,
 * `contract` where it is none.
 */
export async function findSubjects({ ask, need }: Pick<Asker, 'ask' | 'need'>): Promise<Subjects | undefined> {
  const read = async (id: string, input: Readonly<Record<string, unknown>>) => {
    const endpoint = (endpoints as readonly Endpoint[]).find((one) => one.id === id);
    return endpoint === undefined ? [] : itemsIn(await ask(endpoint, input));
  };
  const answer = await need(leaderboard as Endpoint, {});
  if (!Array.isArray(at(answer, 'traders')))
    throw new SotraError('contract', 'the leaderboard came without a list of traders: there is nobody to ask about', {
      hint: 'See it as it came: sotra request GET /v2/leaderboard',
    });
  const board = itemsIn(answer);
  const traders = board.filter((item) => typeof at(item, 'profile', 'addresses', 0) === 'string');
  const [first] = traders;
  if (first === undefined) return undefined;
  const addressOf = (item: unknown) => String(at(item, 'profile', 'addresses', 0));
  const broadest = [...traders].sort((a, b) => breadth(b) - breadth(a)).slice(0, lookedAt);
  const trader = broadest[0] ?? first;
  const byFollowers = [...traders].sort((a, b) => followers(b) - followers(a))[0] ?? first;
  const fans = await read('profile.followers', { identifier: addressOf(byFollowers) });
  const follower = fans.map((fan) => at(fan, 'addresses', 0)).find((address) => typeof address === 'string');
  const cards: Record<string, unknown>[] = [];
  for (const item of traders.slice(0, lookedAt)) {
    if (cards.some((card) => commentOf(card) !== undefined)) break;
    for (const status of ['closed', 'open'])
      cards.push(...(await read('profile.positions', { identifier: addressOf(item), status })));
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
  const ranked = traders.find((item, index) => at(item, 'hasComments') === true && index > firstSilent(traders));
  const given = inputsFor(subject, {
    known: addressOf(byFollowers),
    ranked: addressOf(ranked ?? trader),
    broadest: broadest.map(addressOf),
    cards: (talked === undefined ? cards : [talked, ...cards]).slice(0, lookedAt),
  });
  return { subject, inputs: (endpoint) => given[endpoint.id] ?? [{}] };
}

interface Given {
  /** Somebody who is followed. */
  known: string;
  /** A commenter below somebody who does not comment. */
  ranked: string;
  broadest: readonly string[];
  cards: readonly unknown[];
}

function inputsFor(
  { commented, follower }: Subject,
  { known, ranked, broadest, cards }: Given,
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

/** How much there is to tell apart in what a trader does: chains traded, and comments. */
function breadth(item: unknown): number {
  return Object.keys((at(item, 'pnl', 'perChain') ?? {}) as object).length + (at(item, 'hasComments') === true ? 1 : 0);
}

function followers(item: unknown): number {
  return Number(at(item, 'profile', 'metrics', 'thisPartner', 'followerCount') ?? 0);
}

/** The best place of a trader who does not comment. */
function firstSilent(traders: readonly unknown[]): number {
  const index = traders.findIndex((item) => at(item, 'hasComments') === false);
  return index === -1 ? traders.length : index;
}

function commentOf(card: unknown): Record<string, unknown> | undefined {
  const trades = (at(card, 'metadata', 'trades') ?? []) as unknown[];
  return trades.flatMap((trade) => (at(trade, 'comments') ?? []) as Record<string, unknown>[])[0];
}
