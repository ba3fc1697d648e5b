import { parseTime } from '../../api/duration.ts';
import { inPath } from '../../api/endpoint.ts';
import { text } from '../../api/kind.ts';
import { find, get } from '../../api/position.ts';
import { inputError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { chooseView, priceParams } from './prices.ts';
import { one } from './view.ts';

export function addPosition(position: Command): void {
  addFind(position);
  addEndpointCommand(position, 'get', get, { view: one(), params: priceParams, chooseView: chooseView(one) }).shares(
    'showNsfw',
  );
}

function addFind(position: Command): void {
  addEndpointCommand(position, 'find', find, {
    view: one(),
    params: {
      timestamp: inPath(text(), 'time of the trade: ISO time (UTC), Unix seconds or milliseconds, or now'),
      ...priceParams,
    },
    prepare: ({ price: _, pricesFile: __, ...typed }, { io }) => ({
      ...typed,
      timestamp: readTradeTime(typed.timestamp, typed.chain, io.now()),
    }),
    chooseView: chooseView(one),
  }).shares('showNsfw');
}

/** Trades lie between these years. */
const earliestMs = Date.UTC(2010, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);

/** Unix seconds, milliseconds on hyperliquid. Errors: `usage`. */
function readTradeTime(text: string, chain: string, nowMs: number): string {
  const atMs = text === 'now' ? nowMs : parseTime(text);
  if (atMs === undefined)
    throw inputError((input) => ({
      message: `${input('timestamp')} ${text}: not a time`,
      hint: 'Write 2026-11-20T23:46:00Z, Unix seconds (10 digits), Unix milliseconds (13 digits), or now.',
    }));
  if (atMs < earliestMs || atMs >= latestMs)
    throw inputError((input) => ({
      message: `${input('timestamp')} ${text} is in the year ${new Date(atMs).getUTCFullYear()}: not the time of a trade`,
      hint: 'Unix seconds have 10 digits and Unix milliseconds 13.',
    }));
  return String(chain === 'hyperliquid' ? atMs : Math.floor(atMs / 1000));
}
