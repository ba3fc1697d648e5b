export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

const unitMs = { ms: 1, s: 1000, m: 60_000, h: hourMs, d: dayMs };

/** Milliseconds of `500ms`, `30s`, `5m`, `24h`, `7d`; `undefined` for other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
}

/** A duration as it is typed, in the largest unit that makes it whole: `90s`, `2h`. */
export function writeDuration(ms: number): string {
  const whole = Math.ceil(ms);
  const [name, size] = Object.entries(unitMs).findLast(([, each]) => whole % each === 0) ?? ['ms', 1];
  return `${whole / size}${name}`;
}

/** The hint after a wait that was too short: twice as long. `undefined` after the longest `--timeout`. */
export function longerTimeout(says: string, ms: number): string | undefined {
  return ms >= dayMs ? undefined : `${says} --timeout ${writeDuration(Math.min(2 * ms, dayMs))}.`;
}

/** Unix milliseconds of a time, or of a duration before or after now; `undefined` for other text. */
export function parseMoment(text: string, nowMs: number, direction: 'ago' | 'ahead'): number | undefined {
  const duration = parseDuration(text);
  if (duration === undefined) return parseTime(text);
  return direction === 'ago' ? nowMs - duration : nowMs + duration;
}

const isoPattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)? ?(Z|UTC|[+-]\d\d:?\d\d)?$/i;

/**
 * Unix milliseconds of an ISO 8601 date or time, in UTC unless it names a zone, of Unix seconds (10 digits) or of Unix milliseconds (13
 * digits); `undefined` for other text and for days that no calendar has.
 */
export function parseTime(text: string): number | undefined {
  if (/^\d{10}(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  if (/^\d{13}(\.\d+)?$/.test(text)) return Math.round(Number(text));
  const [matched, day = '', minute = '00:00', second = ':00', zone = 'Z'] = isoPattern.exec(text) ?? [];
  if (matched === undefined || !isDay(day)) return undefined;
  const offset = /^(z|utc)$/i.test(zone) ? 'Z' : zone.replace(/(\d\d):?(\d\d)$/, '$1:$2');
  const atMs = Date.parse(`${day}T${minute}${second}${offset}`);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Date.parse reads 30 February as 2 March; it rejects a 32nd day or a 13th month itself. */
function isDay(day: string): boolean {
  const date = Number(day.slice(-2));
  return date <= 28 || new Date(`${day}T00:00:00Z`).getUTCDate() === date;
}

const unitBytes: Readonly<Record<string, number>> = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

/** Bytes of `500KB`, `64MB` or `2048`; a kilobyte has 1,024. `undefined` for other text. */
export function parseSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,12})\s*([KMG]B)?$/i.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (unitBytes[unit.toUpperCase()] ?? Number.NaN);
}

/** Unix seconds of a time in an answer: above 1e12 it is in milliseconds. Source: wire-facts F3. */
export function toUnixSec(time: number): number {
  return Math.abs(time) > 1e12 ? time / 1000 : time;
}

/** A time of an answer as `2026-11-20 23:46:00Z`; a number outside the calendar as it is. */
export function timeText(time: number): string {
  const unixSec = toUnixSec(time);
  if (Math.abs(unixSec) > 8.64e12) return String(time);
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
