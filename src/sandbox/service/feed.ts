import * as endpoints from '../../api/feed.ts';
import type { Card } from '../../api/position-answers.ts';
import { readCards } from './cards.ts';
import { type FeedPage, feedPage } from './feed-pages.ts';
import { type Handler, linkWith, type SandboxCall } from './handler.ts';
import { expandChains, findProfile, followedBy, listWallets } from './identifiers.ts';
import { type RecommendedTrade, recommendedTrades } from './standings.ts';

/** GET /v1/feed/actor: the cards of a profile's wallets; `forYouTrade` on recommended ones when asked for. */
export const actor: Handler<typeof endpoints.actor> = (input, call) => {
  const profileId = findProfile(call.db, input.identifier, call.partner);
  const wallets = listWallets(call.db, [profileId]);
  const known = new Map<number, readonly RecommendedTrade[]>();
  const recommendedAt = (snapshot: number): readonly RecommendedTrade[] => {
    const found =
      known.get(snapshot) ??
      (input.includeForYou === true ? recommendedTrades(call.db, profileId, wallets, snapshot) : []);
    known.set(snapshot, found);
    return found;
  };
  const { minTradeUsd, minMarketCap, maxMarketCap } = input;
  const scope = { wallets, chains: expandChains(input.chains), minTradeUsd, minMarketCap, maxMarketCap };
  const page = feedPage(call.db, input, (snapshot) => ({
    ...scope,
    extra: recommendedAt(snapshot).map(({ positionId }) => positionId),
  }));
  const recommended = new Map([...known.values()].flat().map((each) => [each.positionId, each]));
  const items = readCards(call, page.ids).map((card) => {
    const trade = recommended.get(card.itemId);
    return trade === undefined ? card : { ...card, ...forYou(card, trade) };
  });
  return { items, pagination: makePagination(page, endpoints.actor, call) };
};

/** GET /v1/feed: the cards of the profiles that the given wallets' profiles follow in this partner's graph, all their wallets. */
export const home: Handler<typeof endpoints.home> = (input, call) => {
  const wallets = listWallets(call.db, [...followedBy(call.db, input.addresses, call.partner)]);
  const { onlyWithComments, minTradeUsd } = input;
  const scope = { wallets, chains: expandChains(input.chains), onlyWithComments, minTradeUsd };
  const page = feedPage(call.db, input, () => scope);
  return { items: readCards(call, page.ids), pagination: makePagination(page, endpoints.home, call) };
};

/** The service's form of a page's cursors: with links back to this endpoint that keep every other query parameter. */
function makePagination(
  { older, newer }: FeedPage,
  endpoint: typeof endpoints.actor | typeof endpoints.home,
  call: SandboxCall,
) {
  return {
    olderCursor: older,
    olderItemsURL: older && linkWith(call, endpoint, { olderThan: older, newerThan: null }),
    newerCursor: newer,
    newerItemsURL: newer && linkWith(call, endpoint, { olderThan: null, newerThan: newer }),
  };
}

function forYou(card: Card, { atMs, usd, hash, score }: RecommendedTrade): Pick<Card, 'forYouTrade'> {
  const shown = card.metadata.trades.find(
    (trade) =>
      trade.timestamp === Math.floor(atMs / 1000) && trade.usdCost === usd && (trade.transactionHash ?? '') === hash,
  );
  if (shown === undefined) return {};
  const { comments: _, ...trade } = shown;
  return { forYouTrade: { ...trade, alphaTags: { big_entry: score }, maxAlphaScore: score } };
}
