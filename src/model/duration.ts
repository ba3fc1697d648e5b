export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

const unitMs = { ms: 1, s: 1000, m: 60_000, h: hourMs, d: dayMs };

/** Milliseconds of `500ms`, `30s`, `5m`, `24h`, `7d`; `undefined` for other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
}

/** Unix milliseconds of a time, or of a duration before or after now; `undefined` for other text. */
export function parseMoment(text: string, nowMs: number, direction: 'ago' | 'ahead'): number | undefined {
  const duration = parseDuration(text);
  if (duration === undefined) return parseTime(text);
  return direction === 'ago' ? nowMs - duration : nowMs + duration;
}

/** Unix milliseconds of ISO 8601, Unix seconds or Unix milliseconds (11 digits and more); `undefined` for other text. */
export function parseTime(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{11,16}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

const unitBytes: Readonly<Record<string, number>> = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

/** Bytes of `500KB`, `64MB` or `2048`; a kilobyte has 1,024. `undefined` for other text. */
export function parseSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,12})\s*([KMG]B)?$/i.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (unitBytes[unit.toUpperCase()] ?? Number.NaN);
}

/** Unix seconds as `2026-11-20 23:46:00Z`; a number outside the calendar as it is. */
export function timeText(unixSec: number): string {
  if (Math.abs(unixSec) > 8.64e12) return String(unixSec);
  const iso = new Date(Math.floor(unixSec) * 1000).toISOString();
  return `${iso.slice(0, -5).replace('T', ' ')}Z`;
}

/** At most `count` in any `perMs`. */
export interface Rate {
  count: number;
  perMs: number;
  perSec: number;
  /** As it was typed. */
  text: string;
}

const maxPerSec = 5000;

/** What `20/s`, `300/m` or `20` (a second) say; `undefined` for other text, and above 5000 a second. */
export function parseRate(text: string): Rate | undefined {
  const [, typed, unit = 's'] = /^(\d+(?:\.\d+)?)(?:\/(s|m|h))?$/.exec(text) ?? [];
  const perSec = (Number(typed) * 1000) / unitMs[unit as 's' | 'm' | 'h'];
  if (!(perSec > 0 && perSec <= maxPerSec)) return undefined;
  const count = Number.isInteger(Number(typed)) ? Math.min(Number(typed), maxPerSec) : 1;
  return { count, perMs: (count * 1000) / perSec, perSec, text };
}
