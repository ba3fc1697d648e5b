import { z } from 'zod';
import { chains, leaderboardChains } from './chain.ts';

export const chainSchema = z.enum(chains);
export const leaderboardChainSchema = z.enum(leaderboardChains);

/** A chain or `all` ("What the service does"). */
export const chainFilterSchema = z.enum([...chains, 'all']);
