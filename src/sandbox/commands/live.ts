import { z } from 'zod';
import { type Command, defineCommand } from '../../cli/command.ts';
import { local } from '../../contract/endpoint.ts';
import { chainSchema } from '../../model/chain.ts';
import { parseDuration } from '../../model/duration.ts';
import { isHttpAddress } from '../../model/http-address.ts';
import { walletSchema } from '../../model/identifier.ts';
import { dbParam as db } from './state-file.ts';

const durationSchema = z
  .string()
  .refine((text) => (parseDuration(text) ?? 0) > 0, 'must be a time such as 30s, 5m or 1h')
  .optional();

/** Trades a second that `20/s`, `300/m` or `20` ask for; `undefined` for other text. */
function readRate(text: string): number | undefined {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(?:\/(s|m|h))?$/.exec(text) ?? [];
  const perSec = Number(count) / { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h'];
  return perSec > 0 && perSec <= 5000 ? perSec : undefined;
}

/** How much faster than it happened `60x` replays; `undefined` for other text. */
function readSpeed(text: string): number | undefined {
  const factor = Number(/^(\d+(?:\.\d+)?)x?$/.exec(text)?.[1]);
  return factor > 0 ? factor : undefined;
}

const trade = defineCommand({
  words: ['sandbox', 'trade'],
  summary: 'Make one trade happen now, with everything that follows: position, feed, webhooks',
  params: {
    chain: local(chainSchema, 'where'),
    trader: local(walletSchema, 'wallet that trades'),
    token: local(z.string().min(1), 'contract address or mint; on hyperliquid the symbol', { takesAddress: 'token' }),
    side: local(z.enum(['buy', 'sell']), 'buy or sell'),
    amount: local(z.number().min(1e-60).max(1e60), 'tokens; on hyperliquid the full size, with leverage'),
    usd: local(z.number().min(0).max(1e60), 'value in US dollars'),
    direction: local(z.enum(['long', 'short']).optional(), 'hyperliquid: which position (default long)'),
    leverage: local(z.number().min(1).optional(), 'hyperliquid: size divided by margin (default 1)'),
    tx: local(z.string().min(1).optional(), 'transaction hash, or order id on hyperliquid; made up when left out'),
    db,
  },
  examples: [
    {
      argv: 'sandbox trade --chain base --trader 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --token 0x5180db8f5c931aae63c74266b211f580155ecac8 --side buy --amount 1000 --usd 250',
      says: 'a buy that followers are told of',
    },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3],
  view: async () => (await import('./view.ts')).traded,
  run: async (input, context) => (await import('./simulate.ts')).tradeNow(input, context),
});

const simulate = defineCommand({
  words: ['sandbox', 'simulate'],
  summary: 'Make trades happen for a while, and so feeds and webhooks',
  description:
    'Without --replay the traders of the world go on trading what they trade. With it a file of trades happens again, its distances in\n' +
    'time kept and --speed times as fast. Webhooks are delivered by a served sandbox on the same database, or by this command.',
  params: {
    rate: local(
      z
        .string()
        .refine((text) => readRate(text) !== undefined, 'must be a rate such as 20/s or 300/m, at most 5000/s')
        .optional(),
      'trades a second, such as 20/s (default 1/s)',
    ),
    for: local(durationSchema, 'how long (default 1m; a replay: to its end)'),
    replay: local(z.string().min(1).optional(), 'file of trades, as sandbox import takes it'),
    speed: local(
      z
        .string()
        .refine((text) => readSpeed(text) !== undefined, 'must be a factor such as 60x')
        .optional(),
      'replay so many times as fast (default 1x)',
    ),
    chain: local(chainSchema.optional(), 'chain of rows of the file that name none'),
    preset: local(z.enum(['hyperliquid-fills', 'pumpfun', 'dune']).optional(), 'a kind of file that is read as it is'),
    seed: local(z.string().min(1).optional(), 'the same seed makes the same trades in the same world'),
    db,
  },
  examples: [
    { argv: 'sandbox simulate --rate 20/s --for 1m', says: 'a busy minute' },
    { argv: 'sandbox simulate --replay trades.csv.gz --speed 60x', says: 'an hour of real trades in a minute' },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3, 130],
  view: async () => (await import('./view.ts')).simulated,
  run: async (input, context) =>
    (await import('./simulate.ts')).simulate(
      {
        ...input,
        perSec: input.rate === undefined ? undefined : readRate(input.rate),
        speed: input.speed === undefined ? undefined : readSpeed(input.speed),
        forMs: input.for === undefined ? undefined : parseDuration(input.for),
      },
      context,
    ),
});

const trigger = defineCommand({
  words: ['webhook', 'trigger'],
  summary: 'Make a real, signed event out of a position of the sandbox and send it',
  description:
    'With --to it is sent there once, signed with the secret of --secret-file or of the sandbox webhook with that destination; --timeout is\n' +
    'what the answer may take. Without, the sandbox delivers it to its webhooks, as it delivers any event. Exit 9 where it was not taken.',
  params: {
    type: local(z.enum(['new-feed-item', 'comment-created', 'copyswap']), 'kind of event', { positional: true }),
    to: local(z.string().refine(isHttpAddress, 'must be an http or https address').optional(), 'send it here'),
    secretFile: local(z.string().min(1).optional(), 'sign with this secret'),
    uid: local(z.string().min(1).optional(), 'have only this webhook of the sandbox take it'),
    position: local(z.string().min(1).optional(), 'the position it is about (default: the newest that fits)'),
    db,
  },
  examples: [
    { argv: 'webhook trigger new-feed-item --sandbox', says: 'to every webhook of the sandbox' },
    {
      argv: 'webhook trigger comment-created --to http://127.0.0.1:4242/hook --secret-file hook.secret',
      says: 'to one address',
    },
  ],
  uses: ['service', 'events'],
  exitCodes: [3, 5, 9],
  view: async () => (await import('./view.ts')).triggered,
  run: async (input, context) =>
    (await import('../../resources/webhook/receive/run-trigger.ts')).triggerEvent(input, context),
});

/** The commands that make something happen in the sandbox. */
export const liveCommands: readonly Command[] = [trade, simulate, trigger];
