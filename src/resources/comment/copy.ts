import type { Context } from '../../context.ts';
import type { InputOf } from '../../contract/endpoint.ts';
import { usageError } from '../../errors.ts';
import { parseDuration, parseTime } from '../../model/duration.ts';
import type { copy } from './endpoints.ts';

/** `trackExitUntil` is at most this far ahead. Section "Limits". */
const longestTrackingMs = 7 * 86_400_000;

type CopyInput = InputOf<(typeof copy)['params']>;

/**
 * The intent as it is sent: `7d` becomes the time 7 days from now. Errors: `usage` without any wallet, and for tracking off hyperliquid, in
 * the past or beyond 7 days.
 */
export function prepareCopy(typed: CopyInput, { world }: Pick<Context, 'world'>): CopyInput {
  const { trackExitUntil: until, ...input } = typed;
  if (until === undefined) return input;
  if (input.chain !== 'hyperliquid')
    throw usageError(
      `--track-exit-until ${until}: exits are tracked on hyperliquid only${input.chain ? `, not on ${input.chain}` : ''}`,
      input.chain ? 'Leave it out.' : 'Say that it is one: --chain hyperliquid.',
    );
  return { ...input, trackExitUntil: new Date(endOf(until, world.now())).toISOString() };
}

function endOf(until: string, nowMs: number): number {
  const duration = parseDuration(until);
  const atMs = duration === undefined ? parseTime(until) : nowMs + duration;
  if (atMs === undefined)
    throw usageError(`--track-exit-until ${until}: must be a time such as 7d, 12h or 2026-11-20T12:00:00Z`);
  if (atMs <= nowMs) throw usageError(`--track-exit-until ${until}: is not in the future`);
  if (atMs > nowMs + longestTrackingMs)
    throw usageError(`--track-exit-until ${until}: is more than 7 days ahead`, 'The longest is --track-exit-until 7d.');
  return atMs;
}
