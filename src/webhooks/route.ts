import { isExternalId, isWalletAddress, normalizeAddress } from '../api/address.ts';
import { chains } from '../api/chain.ts';
import { isObject } from '../api/json.ts';
import { nearest } from '../api/nearest.ts';
import { buyReasons, eventTypes } from '../api/webhook.ts';
import { collectNames, type EventSummary } from './events.ts';
import type { Target } from './inbox.ts';

interface Condition {
  field: string;
  value: string;
}

export const routeForm =
  "must be KIND=URL, such as comment-created=http://127.0.0.1:3000/c, or 'KIND where FIELD=VALUE and FIELD=VALUE=URL': KIND may be *, " +
  'FIELD is address, token, chain, reason or a path such as feedItem.metadata.tokenSymbol';

const conditionForm = /^(address|token|chain|reason|\w+(?:\.\w+)+)=(.+)$/;

/** A route as it is typed; `undefined` for other text. Whether its URL is one is not checked. */
export function readRoute(text: string): Target | undefined {
  const [, rule = '', url] = /^(.+?)=([a-z]+:\/\/.*)$/is.exec(text) ?? [];
  const [, kind, where] = /^(\*|[\w-]+)(?: where (.+))?$/s.exec(rule) ?? [];
  if (url === undefined || kind === undefined) return undefined;
  const conditions = where === undefined ? [] : readConditions(where);
  if (conditions === undefined) return undefined;
  return {
    url,
    ...(kind !== '*' && { eventType: kind }),
    ...(conditions.length > 0 && {
      where: conditions.map(({ field, value }) => `${field}=${value}`).join(' and '),
    }),
  };
}

/** Whether a text is the address of a token, or a coin of hyperliquid such as `ETH` or `@107`. */
export function isToken(text: string): boolean {
  return isWalletAddress(text) || /^(?:@\d{1,6}|(?:[a-z0-9]{1,8}:)?k?[A-Z][A-Z0-9]{0,15})$/.test(text);
}

const knownValues: Readonly<Record<string, readonly string[]>> = { chain: chains, reason: buyReasons };

/** Warns of kinds of events, reasons and chains that no document names: nothing might ever be forwarded. */
export function warnOfRoutes(targets: readonly Target[], warn: (text: string) => void): void {
  for (const { eventType, where } of targets) {
    if (eventType !== undefined) warnOfEventType('--route', eventType, warn);
    const conditions = where === undefined ? [] : (readConditions(where) ?? []);
    for (const { field, value } of conditions) warnOfUnknown('--route', field, value, knownValues[field], warn);
  }
}

/** Warns of a kind of event that no document names. */
export function warnOfEventType(flag: string, type: string, warn: (text: string) => void): void {
  warnOfUnknown(flag, 'kind of event', type, eventTypes, warn);
}

function warnOfUnknown(
  flag: string,
  what: string,
  value: string,
  known: readonly string[] | undefined,
  warn: (text: string) => void,
): void {
  if (known === undefined || known.includes(value)) return;
  const near = nearest(value, known);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  warn(`${flag}: unknown ${what} ${value}; known: ${known.join(', ')}.${meant}`);
}

/** Whether a target is sent a delivery with such an event. */
export function isFor({ eventType, where }: Omit<Target, 'url'>, event: EventSummary): boolean {
  if (eventType !== undefined && event.eventType !== eventType) return false;
  return where === undefined || (readConditions(where) ?? []).every((condition) => holds(condition, event.event));
}

function readConditions(where: string): Condition[] | undefined {
  const conditions = where.split(' and ').map((text): Condition | undefined => {
    const [, field = '', typed = ''] = conditionForm.exec(text.trim()) ?? [];
    const isAddress = field === 'address' || field === 'token';
    const value = isAddress ? normalizeAddress(typed) : typed;
    const fits = !isAddress || (field === 'token' ? isToken(value) : isWalletAddress(value) || isExternalId(value));
    return field !== '' && fits ? { field, value } : undefined;
  });
  return conditions.every((each) => each !== undefined) ? conditions : undefined;
}

function holds({ field, value }: Condition, event: Record<string, unknown>): boolean {
  if (field === 'address') return collectNames(event).addresses.has(value);
  if (field === 'token') return collectNames(event).tokens.has(value);
  const path = field === 'chain' ? 'feedItem.metadata.tokenChain' : field;
  return valuesAt(event, path.split('.')).some((found) => String(found) === value);
}

/** The values at a path; in a list, those of each of its items. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  const [key, ...rest] = path;
  if (key === undefined) return isObject(value) || value === undefined ? [] : [value];
  return isObject(value) ? valuesAt(value[key], rest) : [];
}
