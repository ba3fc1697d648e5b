import { safeText } from '../../api/safe-text.ts';
import { cutText, displayWidth } from '../../lib/output/text-width.ts';
import { describeEvent, type EventSummary } from '../../webhooks/events.ts';

/** One line about an event as it arrives: time, kind, reason, what happened, id; `width` absent: separated by tabs. */
export function eventLine(summary: EventSummary, atMs: number, width: number | undefined): string {
  const { event, eventType, eventId } = summary;
  const reason = typeof event['reason'] === 'string' ? event['reason'] : '';
  const time = new Date(atMs).toISOString();
  const about = safeText(describeEvent(summary));
  const id = safeText(eventId);
  if (width === undefined) return [time, safeText(eventType), safeText(reason), about, id].join('\t');
  const kind = reason === '' ? eventType : `${eventType} (${reason})`;
  const maxWidth = Math.max(40, width - displayWidth(id) - 2);
  const line = cutText(`${time.slice(11, 19)}Z  ${safeText(kind)}  ${about}`, maxWidth);
  return `${line}${' '.repeat(maxWidth - displayWidth(line))}  ${id}`;
}
