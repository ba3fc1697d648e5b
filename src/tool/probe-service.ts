import type { Context } from '../context.ts';
import { type Endpoint, type WireNames, wireName } from '../contract/endpoint.ts';
import { encodeRequest, type WireRequest } from '../contract/request.ts';
import { orUndefined, SotraError } from '../errors.ts';
import { list as leaderboard } from '../resources/leaderboard/endpoints.ts';
import { ofProfile as profilePositions } from '../resources/position/endpoints.ts';
import { followers as profileFollowers } from '../resources/profile/endpoints.ts';
import { noComment, noFollower, readAt, readObjects, type Subject } from './probe-checks.ts';

export type Pair = readonly [name: string, value: string];

export type ProbeInput = Readonly<Record<string, unknown>>;

type Ask = (endpoint: Endpoint, input: ProbeInput, extra?: readonly Pair[]) => Promise<unknown>;

/** Reads from the service, under the names found so far; `undefined` for a refused request (4xx other than key and rate). */
export interface Asker {
  /** Sends each request once. */
  ask: Ask;
  /** The same, but sends it once more. */
  askAgain: Ask;
  /** The same, but a refusal is an error. */
  need: Ask;
  follow: (link: string) => Promise<unknown>;
  calls: () => number;
  /** The current name of a parameter: found, overridden or assumed. */
  findName: (endpoint: Endpoint, key: string) => string;
  isKnown: (id: string) => boolean;
  learn: (id: string, name: string) => void;
}

/** Errors: those of the call that are no refusal. */
export function createAsker(context: Context, overrides: WireNames): Asker {
  const answers = new Map<string, unknown>();
  const known: Record<string, string> = { ...overrides };
  let calls = 0;
  const send = async (wire: WireRequest): Promise<unknown> => {
    calls += 1;
    const refusals = ['bad-request', 'not-found', 'conflict', 'request-refused'] as const;
    return (await orUndefined(context.request(wire), ...refusals))?.data;
  };
  const encode = (endpoint: Endpoint, input: ProbeInput, extra: readonly Pair[] = []): WireRequest => {
    const wire = encodeRequest(endpoint, input, known);
    const query = extra.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
    return query === '' ? wire : { ...wire, path: `${wire.path}${wire.path.includes('?') ? '&' : '?'}${query}` };
  };
  return {
    ask: async (...asked) => {
      const wire = encode(...asked);
      if (!answers.has(wire.path)) answers.set(wire.path, await send(wire));
      return answers.get(wire.path);
    },
    askAgain: (...asked) => send(encode(...asked)),
    need: async (...asked) => {
      calls += 1;
      return (await context.request(encode(...asked))).data;
    },
    follow: async (link) => {
      const { baseUrl } = await context.service();
      const { origin, pathname, search, href } = new URL(link, baseUrl);
      return origin === new URL(baseUrl).origin ? send({ method: 'GET', path: pathname + search, href }) : undefined;
    },
    calls: () => calls,
    findName: (endpoint, key) => {
      const param = endpoint.params[key];
      return param === undefined ? key : wireName(endpoint, key, param, known);
    },
    isKnown: (id) => Object.hasOwn(known, id),
    learn: (id, name) => {
      known[id] = name;
    },
  };
}

export interface ProbeSubjects {
  subject: Subject;
  /** Required inputs of an endpoint, the most telling first; or why there are none. */
  inputs: (endpoint: Endpoint) => readonly ProbeInput[] | string;
}

/** Traders whose cards are searched for a commented trade. */
const maxTraders = 8;

/**
 * What to ask about, found from the leaderboard down; `undefined` where it is empty. Errors: those of the call, `contract` for an answer
 * that is no leaderboard.
 */
export async function findSubjects({ ask, need }: Asker): Promise<ProbeSubjects | undefined> {
  const board = await need(leaderboard, {});
  if (!Array.isArray(readAt(board, 'traders')))
    throw new SotraError('contract', 'the leaderboard has no list of traders: there is no trader to ask about', {
      hint: 'See the raw answer: sotra request GET /v2/leaderboard',
    });
  const readAddress = (item: unknown) => String(readAt(item, 'profile', 'addresses', 0));
  const traders = readObjects(board).filter((item) => readAddress(item).length > 20);
  const broadest = [...traders].sort((a, b) => countKinds(b) - countKinds(a)).slice(0, maxTraders);
  const [trader] = broadest;
  if (trader === undefined) return undefined;
  const [known = trader] = [...traders].sort((a, b) => countFollowers(b) - countFollowers(a));
  const followers = readObjects(await ask(profileFollowers, { identifier: readAddress(known) }));
  const follower = followers.map((one) => readAt(one, 'addresses', 0)).find((address) => typeof address === 'string');
  const cards: unknown[] = [];
  for (const item of traders.slice(0, maxTraders)) {
    if (cards.some((card) => findComment(card) !== undefined)) break;
    for (const status of ['closed', 'open'])
      cards.push(...readObjects(await ask(profilePositions, { identifier: readAddress(item), status })));
  }
  const commentedCard = cards.find((card) => findComment(card) !== undefined);
  const hash = findComment(commentedCard)?.['transactionHash'];
  const chain = readAt(commentedCard, 'metadata', 'tokenChain');
  const commented = typeof hash === 'string' && typeof chain === 'string' ? { chain, hash } : undefined;
  // A commenter ranked below a trader who does not comment.
  const silent = traders.findIndex((item) => item['hasComments'] === false);
  const ranked = traders.slice(silent).find((item) => silent !== -1 && item['hasComments'] === true) ?? trader;
  const tokenCards = (commentedCard === undefined ? cards : [commentedCard, ...cards]).slice(0, maxTraders);
  const readToken = (card: unknown) => ({
    chain: readAt(card, 'metadata', 'tokenChain'),
    contractAddress: readAt(card, 'metadata', 'tokenAddress'),
  });
  const readStatus = (card: unknown) =>
    readAt(card, 'metadata', 'positionStats', 'isOpen') === true ? 'open' : 'closed';
  const likes = 'a wallet that liked nothing sees the same';
  const given: Record<string, readonly ProbeInput[] | string> = {
    'leaderboard.rank': [{ address: readAddress(ranked) }],
    'profile.followers': [{ identifier: readAddress(known) }],
    'profile.follows': follower === undefined ? noFollower : [{ identifier: follower }],
    'profile.positions': broadest.map((item) => ({ identifier: readAddress(item), status: 'closed' })),
    'token.positions': tokenCards.map((card) => ({ ...readToken(card), status: readStatus(card) })),
    'token.comments': tokenCards.map(readToken),
    'feed.actor': broadest.map((item) => ({ identifier: readAddress(item) })),
    'feed.home': follower === undefined ? noFollower : [{ addresses: [follower] }],
    'position.find': likes,
    'position.get': likes,
    'comment.list': commented === undefined ? noComment : [{ hashes: [commented.hash], chain: commented.chain }],
  };
  const traderId = String(readAt(trader, 'profile', 'id'));
  const subject: Subject = { trader: readAddress(trader), traderId, follower, commented };
  return { subject, inputs: (endpoint) => given[endpoint.id] ?? [{}] };
}

function countKinds(item: unknown): number {
  const chains = Object.keys((readAt(item, 'pnl', 'perChain') ?? {}) as object).length;
  return chains + (readAt(item, 'hasComments') === true ? 1 : 0);
}

function countFollowers(item: unknown): number {
  return Number(readAt(item, 'profile', 'metrics', 'thisPartner', 'followerCount') ?? 0);
}

function findComment(card: unknown): Record<string, unknown> | undefined {
  const trades = (readAt(card, 'metadata', 'trades') ?? []) as unknown[];
  return trades.flatMap((trade) => (readAt(trade, 'comments') ?? []) as Record<string, unknown>[])[0];
}
