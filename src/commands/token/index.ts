import { normalizeAddress } from '../../api/address.ts';
import * as comment from '../../api/comment.ts';
import * as position from '../../api/position.ts';
import type { View } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { ofToken as commentsView } from '../comment/view.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { chooseView, type Prices, priceParams, tokenPositions } from '../position/index.ts';

export function setUp(token: Command): void {
  const positions = (prices?: Prices) => withLetterCase(tokenPositions(prices));
  addEndpointCommand(token, 'positions', position.ofToken, {
    view: positions(),
    params: priceParams,
    chooseView: chooseView(positions),
  }).shares('showNsfw');
  const comments = withLetterCase(commentsView);
  addEndpointCommand(token, 'comments', comment.ofToken, { view: comments }).shares('showNsfw');
}

interface TokenInput {
  chain: string;
  contractAddress: string;
}

/** A list of a token that, if it is empty, also notes the usual case of the address. */
function withLetterCase<Row>(view: View<readonly Row[], Row>): View<readonly Row[], Row, TokenInput> {
  return { ...view, notes: (shown, input) => [...(view.notes?.(shown, input) ?? []), ...noteLetterCase(shown, input)] };
}

/** Some services compare addresses and coins exactly (wire-facts F4). */
function noteLetterCase(shown: readonly unknown[], { chain, contractAddress }: TokenInput): string[] {
  const isCoin = chain === 'hyperliquid' && !contractAddress.startsWith('0x');
  const usual = isCoin
    ? contractAddress.replace(/[^:]*$/, (symbol) => symbol.toUpperCase())
    : normalizeAddress(contractAddress);
  if (shown.length > 0 || usual === contractAddress) return [];
  return [`Upper and lower case may matter to the service: perhaps ${usual}.`];
}
