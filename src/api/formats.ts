import {
  addressProblem,
  honoredViewers,
  isExternalId,
  isIdentifier,
  isUuid,
  isWalletAddress,
  textProblem,
} from './address.ts';
import { type Chain, chains, isChainName, type LeaderboardChain, leaderboardChains } from './chain.ts';
import { isHttpAddress, suggestScheme } from './http-address.ts';
import { type Format, formatted, type Kind, listOf, openChoice, text } from './kind.ts';
import type { TextForm } from './signed-text.ts';

/** A form of texts that a function decides; `rule` is "must be ...". */
export const matching = (fits: (text: string) => boolean, rule: string, schema?: Format['schema']): Format => ({
  findProblem: (text) => (fits(text) ? undefined : rule),
  ...(schema && { schema }),
});

/** As `matching`, of texts that may be a mistyped address. */
const addressLike = (fits: (text: string) => boolean, rule: string): Format => ({
  findProblem: (text) => (fits(text) ? undefined : (addressProblem(text) ?? rule)),
  isTrader: true,
});

/** Section "Identifiers" of wire-facts. */
export const identifierKind = formatted(
  addressLike(isIdentifier, 'must be a profile UUID, a wallet address (0x... or Solana base58) or ext:<your user id>'),
);

export const walletKind = formatted(addressLike(isWalletAddress, 'must be a wallet address (0x... or Solana base58)'));

/** A trader that a webhook can be subscribed to. */
export const subscriberKind = formatted({
  findProblem: (text) =>
    isWalletAddress(text) || isExternalId(text)
      ? undefined
      : (textProblem(text) ?? 'must be a wallet address (0x... or Solana base58) or ext:<your user id>'),
  isTrader: true,
});

/** Forms of the text that the author of a comment signs; see `signedText`. */
export const layouts = ['five-line', 'blank-line'] as const satisfies readonly TextForm['layout'][];

/** The uid of a comment. */
export const commentUidKind = formatted(matching(isUuid, 'must be the uid of a comment (a UUID)', { format: 'uuid' }));

/** The viewer's linked wallets (section "Endpoints"); only those that count are checked. */
export const viewersKind = listOf(identifierKind, { keepFirst: honoredViewers });

const chainName = (known: readonly string[]): Format =>
  matching(isChainName, `must be one of ${known.join(', ')}, or another name of a chain`);

/** A chain of the document, or another name that a deployment uses (wire-facts N1). */
export const chainKind: Kind<Chain> = openChoice(chains, chainName(chains));
export const leaderboardChainKind: Kind<LeaderboardChain> = openChoice(leaderboardChains, chainName(leaderboardChains));

const filters = [...chains, 'all'] as const;

/** A chain or `all` ("What the service does"). */
export const chainFilterKind: Kind<Chain | 'all'> = openChoice(filters, chainName(filters));

export const httpAddressKind = formatted({
  findProblem: (text) => (isHttpAddress(text) ? undefined : `must be an http or https address${suggestScheme(text)}`),
  schema: { format: 'uri' },
});

/** A text of a form that only the service checks, such as `uri`. */
export const textOf = (format: 'uri' | 'date-time') =>
  text({ format: { findProblem: () => undefined, schema: { format, minLength: 1 } } });
