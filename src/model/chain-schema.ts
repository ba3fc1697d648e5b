import { z } from 'zod';
import { type Chain, chains, type LeaderboardChain, leaderboardChains } from './chain.ts';

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
