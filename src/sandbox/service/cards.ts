import type { Card } from '../../api/answers.ts';
import { dayMs } from '../../api/duration.ts';
import { answersAsClicker, worldOffset } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { type PositionFigures, type PositionState, positionStats } from '../ledger/positions.ts';
import { groupBy, oneOf, positionId, type StoredTrade, tradeColumns } from '../ledger/trade.ts';
import { copiedText, copyVolume, readTradeComments } from './comments.ts';
import type { RequestContext } from './handler.ts';
import { type Json, readActors, readCounts, shortName } from './profiles.ts';

export interface CardOptions {
  /** Wallets whose likes fill `isLikedByUser`. */
  viewers?: readonly string[] | undefined;
  /** As the positions of a token have it: only the trades with a comment, and without the card's own transaction. */
  ofToken?: boolean;
  /** Replies inside comments: only on a single position. */
  replies?: boolean;
}

interface PositionRow {
  key: number;
  id: string;
  wallet: string;
  chain: string;
  token: string;
  superseded: number;
  latestMs: number;
  state: string;
  symbol: string | null;
  name: string | null;
  supply: number | null;
  price: number | null;
}

/** Position cards in the order of the ids; unknown ids are skipped. Source: section "Position card (feed item)". */
export function readCards(context: RequestContext, positionIds: readonly string[], options: CardOptions = {}): Card[] {
  const found = readParts(context, JSON.stringify(positionIds), options);
  return positionIds.flatMap((id) => {
    const row = found.rows.get(id);
    return row === undefined ? [] : [makeCard(row, found) as Card & Json];
  });
}

/** What cards are made of, read at once for all of them. */
function readParts(context: RequestContext, list: string, options: CardOptions) {
  const { db, nowMs } = context;
  const { ofToken = false } = options;
  const rows = db.all<PositionRow>(
    `SELECT p.key, p.id, p.wallet, p.chain, p.token, p.superseded, p.latest_ms AS latestMs, p.state, k.symbol, k.name, k.supply, k.price
     FROM position p JOIN token k ON k.chain = p.chain AND k.address = p.token WHERE p.id ${oneOf}`,
    [list],
  );
  const keys = JSON.stringify(rows.map(({ key }) => key));
  const trades = listTrades(db, keys, ofToken);
  const [tradeIds, wallets] = [trades.map(({ id }) => id), rows.map(({ wallet }) => wallet)];
  return {
    db,
    ofToken,
    rows: new Map(rows.map((row) => [row.id, row])),
    trades: groupBy(trades, ({ positionId }) => positionId),
    comments: readTradeComments(context, tradeIds, options),
    actors: readActors(context, wallets),
    buyers: countBuyers(db, rows, nowMs),
    replies: countReplies(db, keys),
    isClicker: answersAsClicker(db),
    offsetMs: worldOffset(db),
  };
}

function makeCard(row: PositionRow, found: ReturnType<typeof readParts>): Json {
  const { db, ofToken, isClicker, offsetMs } = found;
  const trades = found.trades.get(row.id) ?? [];
  const comments = trades.flatMap((trade) => found.comments.get(trade.id) ?? []);
  const actor = found.actors.get(row.wallet) ?? {};
  const totalCompletions = found.buyers.get(tokenKey(row)) ?? 0;
  const state = JSON.parse(row.state) as PositionState;
  const stated = positionStats(state, row.price, { isSuperseded: row.superseded === 1 });
  const figures = isClicker ? withoutSign(stated, () => lastAmount(db, row.key)) : stated;
  // The public deployment has milliseconds for perps (wire-facts F3).
  const isInMs = isClicker && state.direction !== null;
  const formatTime = (ms: number) => (isInMs ? ms + offsetMs : Math.floor((ms + offsetMs) / 1000));
  const images = actor['images'] as { xs?: string | null } | undefined;
  const symbol = row.symbol ?? shortName(row.token);
  const replyCount = found.replies.get(row.id) ?? 0;
  const metrics = { ...sumMetrics(comments), replyCount, commentCount: comments.length };
  return {
    totalCompletions,
    itemTitle: actor['name'] ?? row.wallet,
    callToActions: [{ text: `Trade ${symbol}`, url: `https://trade.sotra.example/${row.chain}/${row.token}` }],
    metadata: {
      tokenChain: row.chain,
      tokenSymbol: symbol,
      tokenName: row.name ?? symbol,
      tokenAddress: row.token,
      metadataType: 'token',
      totalSupply: decimal(row.supply ?? 0),
      ...figures,
      trades: trades.map((trade) => {
        const timestamp = formatTime(trade.atMs);
        return tradeItem(trade, { timestamp, supply: row.supply, comments: found.comments.get(trade.id) ?? [] });
      }),
    },
    insights: makeInsights(symbol, figures.positionStats, { buyers: totalCompletions, copies: metrics.copyCount }),
    metrics,
    itemId: row.id,
    ...(ofToken ? {} : { transactionHash: findHash(trades[0]) }),
    timestamp: formatTime(row.latestMs),
    cardLatestTradeAt: formatTime(row.latestMs),
    actor,
    imageUrl: images?.xs ?? noAvatar,
  };
}

/** A perp as the service gives it: no sign on amounts, and of a closed one the amount that it last had. Source: wire-facts N3. */
function withoutSign(figures: PositionFigures, lastAmount: () => number): PositionFigures {
  if (figures.perpLeverage === undefined) return figures;
  const { perpLeverage, positionAmountWithLeverage: held } = figures;
  const amount = figures.positionStats.isOpen || held !== 0 ? Math.abs(held) : lastAmount();
  return { ...figures, positionAmount: amount / perpLeverage, positionAmountWithLeverage: amount };
}

/** A card of a feed as the public deployment gives it: a perp has its symbol alone. Source: wire-facts F5. */
export function withoutPerpAddress(card: Card): Card {
  const { metadata } = card;
  return metadata.perpPositionType ? { ...card, metadata: { ...metadata, tokenAddress: '' } } : card;
}

/** Whether a trade of a card happened at a moment of the clock; its time may be in seconds or milliseconds. */
export function isAt({ timestamp }: { timestamp?: unknown }, clockMs: number): boolean {
  return timestamp === clockMs || timestamp === Math.floor(clockMs / 1000);
}

/** What a position held before its last exit, which may have sold more than it had. */
function lastAmount(db: Db, key: number): number {
  const trades = db.all<{ amount: number; intent: string; startAmount: number | null }>(
    'SELECT amount, intent, start_amount AS startAmount FROM trade WHERE position_key = ? ORDER BY at_ms, id',
    [key],
  );
  let [held, last] = [0, 0];
  for (const { amount, intent, startAmount } of trades) {
    held = startAmount ?? held;
    if (intent === 'exit') last = Math.max(held, amount);
    held = intent === 'enter' ? held + amount : Math.max(0, held - amount);
  }
  return last;
}

/** Shown for profiles without an avatar: the interface has no card without an image. */
const noAvatar = 'https://pictures.sotra.example/no-avatar.png';

/** Short sentences from the figures; the service generates its own. */
function makeInsights(
  symbol: string,
  { isOpen, holdingsCostBasisUSD, realizedGainsUSD }: PositionFigures['positionStats'],
  { buyers, copies }: { buyers: number; copies: number },
): { text: string }[] {
  return [
    isOpen
      ? `Holds ${symbol} at a cost of ${holdingsCostBasisUSD.toFixed(2)} USD`
      : `Closed ${symbol} with a realized PnL of ${realizedGainsUSD.toFixed(2)} USD`,
    ...(buyers === 0 ? [] : [`${buyers} ${buyers === 1 ? 'wallet' : 'wallets'} bought ${symbol} in the last 24 hours`]),
    ...copiedText(copies),
  ].map((text) => ({ text }));
}

function decimal(amount: number): string {
  return Number.isInteger(amount) ? String(BigInt(amount)) : String(amount);
}

/** Section "Trade". */
function tradeItem(
  trade: StoredTrade,
  { timestamp, supply, comments }: { timestamp: number; supply: number | null; comments: Json[] },
): Json {
  const isPerp = trade.direction !== '';
  return {
    tokenAmount: trade.amount,
    usdCost: trade.usd,
    marketCap: supply === null ? null : (trade.usd / trade.amount) * supply,
    timestamp,
    transactionHash: findHash(trade),
    direction: trade.side,
    classification: isPerp ? 'perp' : 'spot',
    intent: trade.intent,
    ...(isPerp ? { perpPositionType: trade.direction, perpLeverage: trade.leverage } : {}),
    comments,
  };
}

function listTrades(db: Db, keys: string, onlyCommented: boolean): StoredTrade[] {
  const commented = onlyCommented ? 'AND EXISTS (SELECT 1 FROM comment c WHERE c.trade_id = t.id)' : '';
  return db.all<StoredTrade>(
    `SELECT ${tradeColumns} FROM trade t WHERE t.position_key ${oneOf} ${commented} ORDER BY t.at_ms DESC, t.id DESC`,
    [keys],
  );
}

function findHash(trade: StoredTrade | undefined): string {
  return trade?.tx ?? trade?.orderId ?? '';
}

const tokenKey = ({ chain, token }: { chain: string; token: string }) => `${chain}:${token}`;

/** Distinct wallets that bought each token in the last 24 hours; "totalCompletions". */
function countBuyers(db: Db, rows: readonly PositionRow[], nowMs: number): Map<string, number> {
  const tokens = new Map(rows.map((row) => [tokenKey(row), row]));
  return new Map(
    [...tokens].map(([key, { chain, token }]) => {
      const sql = `SELECT count(DISTINCT wallet) FROM trade
        WHERE chain = ? AND token = ? AND at_ms > ? AND at_ms <= ? AND side = 'buy'`;
      return [key, db.value<number>(sql, [chain, token, nowMs - dayMs, nowMs]) ?? 0];
    }),
  );
}

function countReplies(db: Db, keys: string): Map<string, number> {
  return readCounts(
    db,
    `SELECT ${positionId} AS id, count(*) AS n FROM trade t JOIN comment c ON c.trade_id = t.id JOIN reply r ON r.comment_id = c.id
     WHERE t.position_key ${oneOf} GROUP BY t.position_key`,
    [keys],
  );
}

function sumMetrics(comments: readonly Json[]) {
  const metrics = comments.map((comment) => comment['metrics'] as Json);
  const sum = (key: string) => metrics.reduce((total, each) => total + Number(each[key] ?? 0), 0);
  return {
    copyCount: sum('copyCount'),
    copyVolume: copyVolume(sum('copyVolume')),
    likeCount: sum('likeCount'),
    isLikedByUser: metrics.some((each) => each['isLikedByUser'] === true),
  };
}
