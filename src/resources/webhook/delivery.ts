/** What the listener needs to know of an event; the rest of it is passed on unread. */
export interface EventSummary {
  eventId: string;
  eventType: string;
  /** The event as it was sent. */
  event: Record<string, unknown>;
}

/**
 * The events of a body in both published forms, `{events: [...]}` and a single event; empty for any other body. Never throws. Source:
 * wire-facts 4.1.
 */
export function eventsOf(body: Uint8Array): EventSummary[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return [];
  }
  if (!isObject(parsed)) return [];
  const listed = Array.isArray(parsed['events']) ? parsed['events'] : [parsed];
  return listed.flatMap((event) =>
    isObject(event) && typeof event['eventId'] === 'string'
      ? [
          {
            eventId: event['eventId'],
            eventType: typeof event['eventType'] === 'string' ? event['eventType'] : 'unknown',
            event,
          },
        ]
      : [],
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
