import { type Command, defineCommand, type Result } from '../cli/command.ts';
import { allItems, serviceExitCodes } from '../cli/endpoint-command.ts';
import { option } from '../cli/params.ts';
import type { Context } from '../context.ts';
import { normalizeAddress } from '../model/address.ts';
import { parseDuration } from '../model/duration.ts';
import type { Card } from '../model/position.ts';
import { column, listView } from '../output/columns.ts';
import { type CopyIntent, readCopies } from '../resources/comment/copies.ts';
import { ofProfile } from '../resources/position/endpoints.ts';

interface CopyRow extends Omit<CopyIntent, 'atMs'> {
  /** Unix seconds. */
  at: number;
  /** `none`: no trade of the token since. */
  position: 'none' | 'open' | 'closed';
  itemId: string | null;
  boughtUsd: number | null;
  realizedUsd: number | null;
}

const view = listView<CopyRow>(
  [
    column.time('at', 'Sent', 'when the intent was sent, Unix seconds'),
    column.text('comment', 'Comment', 'uid of the comment', { cut: 'middle', drop: 3 }),
    column.text('chain', 'Chain', 'chain of the token, where it was named', { drop: 2 }),
    column.address('token', 'Token', 'token that was to be copied'),
    column.count('addresses', 'Wallets', 'wallets that may trade', ({ addresses }) => addresses.length, { drop: 1 }),
    column.text('state', 'Intent', 'recorded, or unknown: its answer was lost'),
    column.text('trackExitUntil', 'Tracked until', 'until when exits are tracked; hyperliquid only', { drop: 4 }),
    column.text('position', 'Position', 'of these wallets since: none, open or closed'),
    column.usd('boughtUsd', 'Bought', 'what the position was bought for, USD'),
    column.pnl('realizedUsd', 'Realized', 'realized PnL of the position, USD'),
    column.text('intentIds', 'Intents', 'ids of the intents', ({ intentIds }) => intentIds.join(' '), { extra: true }),
    column.text('itemId', 'Card', 'id of the position', { extra: true }),
  ],
  { empty: 'No intents. sotra comment copy <id> sends one.' },
);

const copies: Command = defineCommand({
  words: ['comment', 'copies'],
  summary: 'The copy intents that this machine sent, and what became of the positions',
  description:
    'Looks for a position of one of the wallets in the token that was traded since. The service does not list intents, so those that were\n' +
    'sent from elsewhere are not here.',
  params: {
    expiring: option.duration('only intents whose exits are tracked for no longer than this, and still are', '24h'),
  },
  examples: [
    { argv: '--sandbox comment copies', says: 'every intent' },
    { argv: '--sandbox comment copies --expiring 24h --json', says: 'whose tracking ends within a day' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => view,
  run: showCopies,
});

async function showCopies({ expiring }: { expiring?: string | undefined }, context: Context): Promise<Result> {
  const nowMs = context.world.now();
  const withinMs = expiring === undefined ? undefined : parseDuration(expiring);
  const intents = (await readCopies(context)).filter(({ trackExitUntil }) => {
    const leftMs = Date.parse(trackExitUntil ?? '') - nowMs;
    return withinMs === undefined || (leftMs >= 0 && leftMs <= withinMs);
  });
  const rows: CopyRow[] = [];
  for (const { atMs, ...intent } of intents) {
    const found = await positionOf(intent, Math.floor(atMs / 1000), context);
    rows.push({ at: Math.floor(atMs / 1000), ...intent, ...found });
  }
  return { kind: 'answer', answer: rows, view };
}

/** The position of the wallets in the token that was traded since; an open one comes first. */
async function positionOf(
  { addresses, token, chain }: Omit<CopyIntent, 'atMs'>,
  sinceSec: number,
  context: Context,
): Promise<Pick<CopyRow, 'position' | 'itemId' | 'boughtUsd' | 'realizedUsd'>> {
  for (const status of ['open', 'closed'] as const)
    for (const identifier of addresses) {
      const input = { identifier, status, sort: 'latest' as const, chains: ['all' as const], limit: 100 };
      for await (const cards of allItems(ofProfile, input, context) as AsyncIterable<Card[]>) {
        const { itemId, metadata } = cards.find((card) => isCopy(card, token, chain, sinceSec)) ?? {};
        const stats = metadata?.positionStats;
        if (itemId !== undefined && stats !== undefined)
          return { position: status, itemId, boughtUsd: stats.boughtUSD, realizedUsd: stats.realizedGainsUSD };
        // Those come by when they closed, latest first.
        if (status === 'closed' && (cards.at(-1)?.cardLatestTradeAt ?? 0) < sinceSec) break;
      }
    }
  return { position: 'none', itemId: null, boughtUsd: null, realizedUsd: null };
}

function isCopy({ metadata, cardLatestTradeAt }: Card, token: string, chain: string | null, sinceSec: number): boolean {
  const { tokenAddress, tokenChain, trades } = metadata;
  if (normalizeAddress(tokenAddress) !== token || (chain !== null && tokenChain !== chain)) return false;
  if (trades.length === 0) return (cardLatestTradeAt ?? 0) >= sinceSec;
  return trades.some(({ timestamp, intent }) => timestamp >= sinceSec && (intent ?? 'enter') === 'enter');
}

export const commands: readonly Command[] = [copies];
