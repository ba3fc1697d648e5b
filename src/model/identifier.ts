import { z } from 'zod';
import { isExternalId, isUuid, isWalletAddress } from './address.ts';
import { type Chain, chains, type LeaderboardChain, leaderboardChains } from './chain.ts';
import { textProblem } from './safe-text.ts';

export function isIdentifier(text: string): boolean {
  return isUuid(text) || isWalletAddress(text) || isExternalId(text);
}

/** What is wrong with a mistyped address; `undefined` for text that looks like none. */
function addressProblem(text: string): string | undefined {
  const unstorable = textProblem(text);
  if (unstorable !== undefined) return unstorable;
  if (/…|\.\.\./.test(text)) return 'is shortened: the whole address is needed';
  const [, digits = ''] = /^0x(\w+)$/i.exec(text) ?? [];
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0];
  if (digits.length >= 20 && wrong !== undefined) return `has the letter ${wrong}, which is not a hex digit`;
  if (digits !== '' && digits.length !== 40) return `has ${digits.length} hex digits, 40 are needed`;
  return digits !== '' && !text.startsWith('0x') ? 'must begin with 0x' : undefined;
}

const identifierRule = 'must be a profile UUID, a wallet address (0x... or Solana base58) or ext:<your user id>';

/** Section "Identifiers" of wire-facts. */
export const identifierSchema = z
  .string()
  .refine(isIdentifier, { error: ({ input }) => addressProblem(String(input)) ?? identifierRule });

const walletRule = 'must be a wallet address (0x... or Solana base58)';

export const walletSchema = z
  .string()
  .refine(isWalletAddress, { error: ({ input }) => addressProblem(String(input)) ?? walletRule });

/** Section "Limits". */
export const honoredViewers = 10;

/** The viewer's linked wallets (section "Endpoints"); only those that count are checked. */
export const viewerAddressesSchema = z.array(z.string()).superRefine((list, problems) => {
  const index = list.slice(0, honoredViewers).findIndex((text) => !isIdentifier(text));
  const message = addressProblem(list[index] ?? '') ?? identifierRule;
  if (index !== -1) problems.addIssue({ code: 'custom', message, path: [index] });
});

/** The service silently ignores all but the first 10 viewer addresses. */
export const firstTenViewers = {
  allows: (value: unknown) => !Array.isArray(value) || value.length <= honoredViewers,
  why: `more than ${honoredViewers} viewer addresses: the service honors only the first ${honoredViewers}`,
};

/** One of these, or what a deployment calls a chain that the interface document does not name (wire-facts N1). */
function makeChainSchema<T extends string>(known: readonly [T, ...T[]]): z.ZodType<T | (string & {})> {
  const rule = `must be one of ${known.join(', ')}, or another name of a chain`;
  return z
    .union([z.enum(known), z.string()])
    .refine((text) => /^[a-z][a-z0-9-]{0,31}$/.test(text), rule)
    .meta({ 'x-open': true });
}

export const chainSchema: z.ZodType<Chain> = makeChainSchema(chains);
export const leaderboardChainSchema: z.ZodType<LeaderboardChain> = makeChainSchema(leaderboardChains);

/** A chain or `all` ("What the service does"). */
export const chainFilterSchema: z.ZodType<Chain | 'all'> = makeChainSchema([...chains, 'all']);

/** A text of which the interface document lists the values; others are taken too, unless `--strict` is given. */
export function knownText(values: readonly string[]) {
  return z.string().meta({ 'x-known-values': [...values] });
}
