import { usageError } from '../../errors.ts';
import { parseTime } from '../../model/duration.ts';

/** Trades lie between these years; a time outside of them was typed in another unit. */
const earliestMs = Date.UTC(2010, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);

/**
 * The time of a trade as the service's path takes it: Unix seconds, milliseconds on hyperliquid. Takes ISO 8601 (UTC without a zone), Unix
 * seconds, Unix milliseconds or `now`. Errors: `usage` for other text, and for a time off by a factor of a thousand, saying
 * what it would be read as and what was probably meant.
 */
export function tradeMoment(text: string, chain: string, nowMs: number): string {
  const atMs = text === 'now' ? nowMs : parseTime(withZone(text));
  if (atMs === undefined)
    throw usageError(
      `<timestamp> ${text}: not a time`,
      'Write 2026-11-20T23:46:00Z, Unix seconds, milliseconds, or now.',
    );
  if (atMs < earliestMs || atMs >= latestMs) throw offScale(text, atMs);
  return String(chain === 'hyperliquid' ? atMs : Math.floor(atMs / 1000));
}

/** Times are UTC throughout: a time of day without a zone is not the local one. */
function withZone(text: string): string {
  return /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text) ? `${text.replace(' ', 'T')}Z` : text;
}

function offScale(text: string, atMs: number) {
  const isNumber = /^\d+$/.test(text);
  const meant = [atMs * 1000, Math.floor(atMs / 1000)].find((ms) => isNumber && ms >= earliestMs && ms < latestMs);
  const unit = text.length > 10 ? 'milliseconds' : 'seconds';
  return usageError(
    `<timestamp> ${text}${isNumber ? ` as Unix ${unit}` : ''} is ${yearOf(atMs)}, when nothing could trade here`,
    meant === undefined
      ? 'Give the time of the trade: now, Unix seconds have 10 digits and milliseconds 13.'
      : `It is off by 1000: ${new Date(meant).toISOString()} is ${Math.floor(meant / 1000)} in seconds and ${meant} in milliseconds.`,
  );
}

function yearOf(atMs: number): string {
  return Math.abs(atMs) <= 8.64e15 ? `in the year ${new Date(atMs).getUTCFullYear()}` : 'beyond the calendar';
}
