import { SotraError } from '../../errors.ts';
import type { Inbox, StoredEvent } from '../../webhooks/inbox.ts';

/** Stored events, by their whole ids or by how these start, as a narrow table shows them. Errors: `not-found`. */
export async function findEvents(given: readonly string[], inbox: Inbox): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  const missing: string[] = [];
  for (const text of given) {
    const start = text.replace(/(?:…|\.{3})$/, '');
    const found: StoredEvent[] = [];
    // An event of exactly this id comes first.
    if (start !== '')
      for await (const event of inbox.events({ idStart: start })) {
        found.push(event);
        if (event.eventId === text || found.length > 1) break;
      }
    const [event] = found;
    if (event === undefined) missing.push(text);
    else if (event.eventId === text || found.length === 1) events.push(event);
    else throw notFound(`several stored events begin with ${text}`);
  }
  if (missing.length > 0) throw notFound(`no stored event ${missing.join(', ')}`);
  return events;
}

export function notFound(message: string): SotraError {
  return new SotraError('not-found', message, { hint: 'sotra webhook events lists them.' });
}
