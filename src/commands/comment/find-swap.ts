import { isEvmAddress, normalizeAddress } from '../../api/address.ts';
import { type Chain, findFamily } from '../../api/chain.ts';
import { toUnixSec } from '../../api/duration.ts';
import { actor as feed } from '../../api/feed.ts';
import type { Card } from '../../api/position-answers.ts';
import { safeText } from '../../api/safe-text.ts';
import { command } from '../../client/shell.ts';
import { type Context, createContext } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { findKeyAddress, type KeyInput } from '../../keys/open-key.ts';
import { mayAsk, pick } from '../../lib/output/confirm.ts';
import { counted, formatAge, formatUsd, shortAddress } from '../../lib/output/format.ts';
import { type CommentInput, hasComment } from './read-comment.ts';

interface SwapInput extends CommentInput, KeyInput {
  last?: boolean | undefined;
  signer?: string | undefined;
}

interface Swap {
  chain: Chain;
  transactionHash: string;
  tokenAddress: string;
  symbol: string;
  direction: string;
  usd: number | undefined;
  atSec: number;
  /** Why it cannot take a comment. */
  obstacle: string | undefined;
}

const maxOffered = 5;
/** A swap must be worth at least this much to be commented on (wire-facts 3.6). */
const minUsd = 10;

/**
 * The input with the swap to comment on. If it names none: the newest one of the signer without a comment with `--last`, else the one that is
 * picked on a terminal. Errors: `usage` without either, listing the swaps; `not-found` if there is none.
 */
export async function chooseSwap<Input extends SwapInput>(
  input: Input,
  stdinUse: string | undefined,
  context: Context,
): Promise<Input> {
  const { chain, transactionHash, tokenAddress, last } = input;
  const isNamed = hasComment({ chain, transactionHash, tokenAddress });
  if (last === true && !hasComment(input))
    throw usageError('the comment is missing', 'Give it as the argument: sotra comment post "gm" --last --key <name>.');
  if (last === true && isNamed)
    throw usageError('--last and a swap contradict each other', 'Omit --last, or omit --chain, --tx and --token.');
  if (isNamed || !hasComment(input)) return input;
  const { address, input: known } = await findKeyAddress(input, context, stdinUse);
  const all = await listSwaps(address, context);
  const swaps = all.filter(({ obstacle }) => obstacle === undefined);
  const [[latest], [newest]] = [all, swaps];
  if (newest === undefined)
    throw new SotraError('not-found', `no recent swap of ${address} can take a comment`, {
      hint: `A swap takes one comment and must be worth at least ${minUsd} USD. Name an older one with --chain, --tx and --token.`,
    });
  if (last === true && latest?.obstacle !== undefined)
    context.warn(`the newest swap ${latest.obstacle}: ${describeSwap(latest, context)}; --last uses the one before it`);
  const swap = last === true ? newest : await pickSwap(swaps, address, context);
  context.note(`Commenting on: ${describeSwap(swap, context)}`);
  return { ...known, chain: swap.chain, transactionHash: swap.transactionHash, tokenAddress: swap.tokenAddress };
}

/** Swaps of a wallet, newest first: the latest of each position, and those listed with it. */
async function listSwaps(wallet: string, context: Context): Promise<Swap[]> {
  // A dry run of the comment still reads the swaps.
  const options = { ...context.options, preview: false };
  const reader = context.options.preview ? createContext({ ...context, options, say: context.note }) : context;
  const input = { identifier: wallet, chains: ['all' as const] };
  const { data } = await reader.client.call(feed, input).finally(() => reader !== context && reader.client.close());
  const isOwn = ({ actor }: Card) => normalizeAddress(actor.address) === normalizeAddress(wallet);
  const family = isEvmAddress(wallet) ? 'evm' : 'solana';
  return data.items
    .filter(isOwn)
    .flatMap(readSwaps)
    .filter(({ chain }) => findFamily(chain) === family)
    .sort((a, b) => b.atSec - a.atSec);
}

function readSwaps({ transactionHash, timestamp, cardLatestTradeAt, metadata }: Card): Swap[] {
  const { tokenChain, tokenAddress, tokenSymbol, trades } = metadata;
  const about = { chain: tokenChain as Chain, tokenAddress, symbol: tokenSymbol ?? tokenAddress };
  const listed = trades.flatMap(({ transactionHash: hash, comments = [], direction, usdCost, timestamp }) => {
    const small = usdCost < minUsd ? `is worth less than ${minUsd} USD` : undefined;
    const obstacle = comments.length > 0 ? 'already has a comment' : small;
    return hash
      ? [{ ...about, transactionHash: hash, direction, usd: usdCost, atSec: toUnixSec(timestamp), obstacle }]
      : [];
  });
  const isListed = trades.some((trade) => trade.transactionHash === transactionHash);
  if (!transactionHash || isListed) return listed;
  const atSec = toUnixSec(cardLatestTradeAt ?? timestamp);
  return [...listed, { ...about, transactionHash, direction: 'swap', usd: undefined, atSec, obstacle: undefined }];
}

/** Errors: `usage` without a terminal, listing the swaps, and if none is chosen. */
async function pickSwap(all: readonly Swap[], wallet: string, context: Context): Promise<Swap> {
  const swaps = all.slice(0, maxOffered);
  const lines = swaps.map((swap) => describeSwap(swap, context));
  if (!mayAsk(context)) {
    for (const [index, { chain, transactionHash, tokenAddress }] of swaps.entries())
      context.note(`${lines[index]}: ${command`--chain ${chain} --tx ${transactionHash} --token ${tokenAddress}`}`);
    throw new SotraError('usage', `${wallet} has ${counted(all.length, 'swap')} without a comment: choose one`, {
      hint: 'Add --last for the newest, or the flags of one listed above.',
      details: { swaps },
    });
  }
  const choices = swaps.map((swap, index) => ({ value: swap, line: lines[index] ?? '' }));
  const swap = await pick(`Swaps of ${wallet} without a comment:`, choices, context.io);
  if (swap === undefined) throw usageError('no swap was chosen: nothing was sent');
  return swap;
}

function describeSwap({ direction, symbol, chain, usd, atSec, transactionHash }: Swap, { io }: Context): string {
  const worth = usd === undefined ? '' : ` for ${formatUsd(usd)}`;
  const nowSec = io.now() / 1000;
  // The clock of a sandbox may be ahead.
  const age = atSec > nowSec ? 'just now' : `${formatAge(atSec, nowSec)} ago`;
  return safeText(`${direction} of ${symbol} on ${chain}${worth}, ${age} (${shortAddress(transactionHash)})`);
}
