import { parseTime } from '../../api/duration.ts';
import { inPath } from '../../api/endpoint.ts';
import { text } from '../../api/kind.ts';
import { find, get } from '../../api/position.ts';
import { inputError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { chooseView, onePosition, priceParams } from './view.ts';

export function setUp(position: Command): void {
  addEndpointCommand(position, 'get', get, {
    view: onePosition(),
    params: priceParams,
    chooseView: chooseView(onePosition),
  }).shares('showNsfw');
  addEndpointCommand(position, 'find', find, {
    view: onePosition(),
    params: {
      timestamp: inPath(text(), 'time of the trade: ISO time (UTC), Unix seconds or milliseconds, or now'),
      ...priceParams,
    },
    prepare: ({ price: _, pricesFile: __, ...typed }, { io }) => ({
      ...typed,
      timestamp: readTradeTime(typed.timestamp, typed.chain, io.now()),
    }),
    chooseView: chooseView(onePosition),
  }).shares('showNsfw');
}

/** Unix seconds, milliseconds on hyperliquid. Errors: `usage`. */
function readTradeTime(text: string, chain: string, nowMs: number): string {
  const atMs = text === 'now' ? nowMs : parseTime(text);
  if (atMs === undefined)
    throw inputError((input) => ({
      message: `${input('timestamp')} ${text}: not a time`,
      hint: 'Write 2026-11-20T23:46:00Z, Unix seconds (10 digits), Unix milliseconds (13 digits), or now.',
    }));
  return String(chain === 'hyperliquid' ? atMs : Math.floor(atMs / 1000));
}
