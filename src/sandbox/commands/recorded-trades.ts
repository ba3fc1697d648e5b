import { z } from 'zod';
import { messageOf, usageError } from '../../errors.ts';
import { type RecordedExchange, readRecording } from '../../history/recording.ts';
import { isObject, tryParseJson } from '../../model/json.ts';
import { actorSchema, cardSchema } from '../../model/position.ts';

/** What of a card a trade needs; positions and feeds have it. */
const cardForm = z.object({
  actor: actorSchema.pick({ address: true }),
  metadata: cardSchema.shape.metadata.omit({ positionStats: true }),
});

/** The trades of all cards in a folder of `--record`, each once, oldest first, as NDJSON. Errors: `usage` for another folder, and where there are none. */
export function recordedTrades(folder: string): string {
  const rows = new Map<string, number>();
  for (const { text } of exchangesIn(folder))
    for (const row of tradesIn(tryParseJson(text))) rows.set(JSON.stringify(row), row.time);
  if (rows.size === 0)
    throw usageError(
      `${folder}: its answers hold no trades`,
      'Record some: sotra feed actor <address> --all --record <folder>.',
    );
  const inTime = [...rows].sort(([, a], [, b]) => a - b);
  return inTime.map(([line]) => `${line}\n`).join('');
}

function exchangesIn(folder: string): RecordedExchange[] {
  try {
    return readRecording(folder, folder);
  } catch (cause) {
    throw usageError(messageOf(cause), 'Name a file of trades, or a folder that sotra --record <folder> wrote.');
  }
}

interface TradeRow {
  time: number;
  [field: string]: unknown;
}

function tradesIn(value: unknown): TradeRow[] {
  if (Array.isArray(value)) return value.flatMap(tradesIn);
  if (!isObject(value)) return [];
  const { data: card } = cardForm.safeParse(value);
  return card === undefined ? Object.values(value).flatMap(tradesIn) : cardTrades(card);
}

function cardTrades({ actor, metadata }: z.output<typeof cardForm>): TradeRow[] {
  const { tokenChain: chain, tokenAddress: token, tokenSymbol: symbol, tokenName: name, trades } = metadata;
  return trades.flatMap((trade) => {
    if (!['buy', 'sell'].includes(trade.direction)) return [];
    const { timestamp: time, direction: side, tokenAmount: amount, usdCost: usd, transactionHash: tx } = trade;
    const { perpPositionType: direction, perpLeverage: leverage } = trade;
    return { time, chain, trader: actor.address, token, symbol, name, side, amount, usd, tx, direction, leverage };
  });
}
