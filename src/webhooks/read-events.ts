import { createHash } from 'node:crypto';
import { isObject, tryParseJson } from '../api/json.ts';
import { type EventSummary, textIn, unnamedType } from './events.ts';

/** The events with an id of a body, `{events: [...]}` or a single event; none for any other body. Source: wire-facts 4.1. */
export function readEvents(body: Uint8Array): EventSummary[] {
  return eventValues(body).flatMap((event) => readSummary(event) ?? []);
}

/** All events of a body, each once; a hash of the body names one without an id. */
export function readAllEvents(body: Uint8Array): EventSummary[] {
  let hash: string | undefined;
  const unnamed = (event: unknown, index: number): EventSummary => {
    hash ??= `sha256-${createHash('sha256').update(body).digest('hex')}`;
    const eventId = index === 0 ? hash : `${hash}-${index}`;
    const eventType = textIn(event, 'eventType') ?? unnamedType;
    return { eventId, eventType, event: isObject(event) ? event : { eventId, eventType } };
  };
  const events = eventValues(body).map((event, index) => readSummary(event) ?? unnamed(event, index));
  if (events.length === 0) events.push(unnamed(undefined, 0));
  return events.length === 1 ? events : [...new Map(events.map((event) => [event.eventId, event])).values()];
}

const decoder = new TextDecoder();

function eventValues(body: Uint8Array): unknown[] {
  const parsed = tryParseJson(decoder.decode(body));
  if (!isObject(parsed)) return [];
  return Array.isArray(parsed['events']) ? parsed['events'] : [parsed];
}

function readSummary(event: unknown): EventSummary | undefined {
  const eventId = textIn(event, 'eventId');
  if (eventId === undefined || !isObject(event)) return undefined;
  return { eventId, eventType: textIn(event, 'eventType') ?? unnamedType, event };
}
