import { copy as endpoint, maxTrackingMs } from '../../api/comment.ts';
import { parseMoment } from '../../api/duration.ts';
import type { InputOf } from '../../api/endpoint.ts';
import type { Context } from '../../context.ts';
import { inputError, type NameInput } from '../../errors.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { copy as view } from './view.ts';

export function addCopy(comment: Command): void {
  addEndpointCommand(comment, 'copy', endpoint, {
    view,
    params: {
      trackExitUntil: option.text('track exits until this time, or for this long (up to 7d); hyperliquid only', {
        valueName: 'time',
      }),
    },
    requireAnyOf: [['actorAddress', 'actorAddresses']],
    prepare: (typed, context) => readCopy(typed, context),
  });
}

type CopyInput = InputOf<(typeof endpoint)['params']>;

/** The intent as it is sent: `7d` becomes the time 7 days from now. Errors: `usage`. */
function readCopy(typed: CopyInput, { io }: Pick<Context, 'io'>): CopyInput {
  const { trackExitUntil: until, ...input } = typed;
  if (until === undefined) return input;
  const refuseTime = (why: string, hint?: (name: NameInput) => string) =>
    inputError((name) => ({ message: `${name('trackExitUntil')} ${until}: ${why}`, hint: hint?.(name) }));
  const { chain } = input;
  if (chain !== 'hyperliquid')
    throw refuseTime(`exits are tracked on hyperliquid only${chain ? `, not on ${chain}` : ''}`, (name) =>
      chain ? 'Omit it.' : `Add ${name('chain')} hyperliquid.`,
    );
  const nowMs = io.now();
  const atMs = parseMoment(until, nowMs, 'ahead');
  if (atMs === undefined) throw refuseTime('must be a time such as 7d, 12h or 2026-11-20T12:00:00Z');
  if (atMs <= nowMs) throw refuseTime('is not in the future');
  if (atMs > nowMs + maxTrackingMs)
    throw refuseTime('is more than 7 days ahead', (name) => `The longest is ${name('trackExitUntil')} 7d.`);
  return { ...input, trackExitUntil: new Date(atMs).toISOString() };
}
