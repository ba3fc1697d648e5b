import { createHash } from 'node:crypto';
import { isObject, tryParseJson } from '../../../model/json.ts';

/** What the listener needs to know of an event; the rest of it is passed on unread. */
export interface EventSummary {
  eventId: string;
  eventType: string;
  /** The event as it was sent. */
  event: Record<string, unknown>;
}

/**
 * The events of a body in both published forms, `{events: [...]}` and a single event, that have an id; empty for any other body. Source:
 * wire-facts 4.1.
 */
export function eventsOf(body: Uint8Array): EventSummary[] {
  return listed(body).flatMap((event) => summaryOf(event) ?? []);
}

/** All that a body tells, each once: what has no id is named by the bytes of the body, so that it is told from what others say. */
export function allEventsOf(body: Uint8Array): EventSummary[] {
  const hash = `sha256-${createHash('sha256').update(body).digest('hex')}`;
  const unnamed = (event: unknown, index: number): EventSummary => {
    const eventId = index === 0 ? hash : `${hash}-${index}`;
    const eventType = textOf(event, 'eventType') ?? 'unknown';
    return { eventId, eventType, event: isObject(event) ? event : { eventId, eventType } };
  };
  const told = listed(body);
  const all = told.map((event, index) => summaryOf(event) ?? unnamed(event, index));
  const events = all.length === 0 ? [unnamed(undefined, 0)] : all;
  return [...new Map(events.map((event) => [event.eventId, event])).values()];
}

function listed(body: Uint8Array): unknown[] {
  const parsed = tryParseJson(new TextDecoder().decode(body));
  if (!isObject(parsed)) return [];
  return Array.isArray(parsed['events']) ? parsed['events'] : [parsed];
}

function summaryOf(event: unknown): EventSummary | undefined {
  const eventId = textOf(event, 'eventId');
  if (eventId === undefined || !isObject(event)) return undefined;
  return { eventId, eventType: textOf(event, 'eventType') ?? 'unknown', event };
}

function textOf(event: unknown, key: string): string | undefined {
  const value = isObject(event) ? event[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
