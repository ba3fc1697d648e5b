import { isEvmAddress, normalizeAddress } from '../../api/address.ts';
import { type Chain, findFamily } from '../../api/chain.ts';
import { toUnixSec } from '../../api/duration.ts';
import { actor as feed } from '../../api/feed.ts';
import type { Card } from '../../api/position-answers.ts';
import { safeText } from '../../api/safe-text.ts';
import { type Context, createContext } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { findKeyAddress, type KeyInput } from '../../keys/open-key.ts';
import { formatAge, formatUsd, shortAddress } from '../../lib/output/format.ts';
import type { CommentInput } from './read-comment.ts';

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

/** A swap must be worth at least this much to be commented on (wire-facts 3.6). */
const minUsd = 10;

/**
 * The input with the newest swap of the signer that has no comment, if `--last` asks for it. Errors: `usage` without a comment; `not-found` if
 * there is none.
 */
export async function chooseSwap<Input extends SwapInput>(
  input: Input,
  stdinUse: string | undefined,
  context: Context,
): Promise<Input> {
  if (!input.last) return input;
  if ((input.commentText ?? input.textFile) === undefined)
    throw usageError('the comment is missing', 'Give it as the argument: sotra comment post "gm" --last --key <name>.');
  const { address, input: known } = await findKeyAddress(input, context, stdinUse);
  const swaps = await listSwaps(address, context);
  const [newest] = swaps;
  const swap = swaps.find(({ obstacle }) => obstacle === undefined);
  if (newest === undefined || swap === undefined)
    throw new SotraError('not-found', `no recent swap of ${address} can take a comment`, {
      hint: `A swap takes one comment and must be worth at least ${minUsd} USD. Name an older one with --chain, --tx and --token.`,
    });
  if (newest !== swap)
    context.warn(`the newest swap ${newest.obstacle}: ${describeSwap(newest, context)}; --last uses the one before it`);
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

function describeSwap({ direction, symbol, chain, usd, atSec, transactionHash }: Swap, { io }: Context): string {
  const worth = usd === undefined ? '' : ` for ${formatUsd(usd)}`;
  const nowSec = io.now() / 1000;
  // The clock of a sandbox may be ahead.
  const age = atSec > nowSec ? 'just now' : `${formatAge(atSec, nowSec)} ago`;
  return safeText(`${direction} of ${symbol} on ${chain}${worth}, ${age} (${shortAddress(transactionHash)})`);
}
