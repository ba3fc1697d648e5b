/** A card as a service answers it, with just the fields that the contract asks for. */
export function cardOf(itemId: string, atSec: number, hash = `0x${itemId}`): Record<string, unknown> {
  return {
    totalCompletions: 1,
    itemTitle: 'somebody',
    callToActions: [],
    metadata: {
      tokenChain: 'base',
      tokenSymbol: 'TKN',
      tokenAddress: '0x1',
      positionStats: { boughtUSD: 1, soldUSD: 0, realizedGainsUSD: 0, holdingsCostBasisUSD: 1 },
      trades: [{ tokenAmount: 1, usdCost: 1, timestamp: atSec, transactionHash: hash, direction: 'buy', comments: [] }],
    },
    insights: [],
    metrics: { copyCount: 0, copyVolume: '0', likeCount: 0, replyCount: 0, commentCount: 0 },
    itemId,
    transactionHash: hash,
    timestamp: atSec,
    cardLatestTradeAt: atSec,
    actor: { type: 'user', address: '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252', name: 'somebody' },
  };
}

/** Cards `c<from>` to `c<to>`, one a second, newest first. */
export function cardsDown(from: number, to: number): Record<string, unknown>[] {
  return Array.from({ length: from - to + 1 }, (_, index) => cardOf(`c${from - index}`, 1_700_000_000 + from - index));
}

/** The `itemId` of each line of ndjson, or of each item of a JSON array. */
export function idsIn(out: string): string[] {
  const items: { itemId: string }[] = out.startsWith('[')
    ? JSON.parse(out)
    : out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
  return items.map((item) => item.itemId);
}
