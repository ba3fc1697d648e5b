import { safeText } from '../model/safe-text.ts';

// Line ends, tabs, and the colors and weights that the palette has; nothing that hides text or moves the cursor.
const ours = /(\n|\t|\u001b\[(?:[0-4]|9|2[2-479]|[34][0-79]|9[0-7]|10[0-7]|[34]8;(?:5;\d{1,3}|2(?:;\d{1,3}){3}))?m)/;

/**
 * What may be written to a terminal of a text of several lines: `safeText` of everything but line ends, tabs and our own colors. The sinks of
 * the process pass text through here, so that what was not cleaned before is cleaned there. Idempotent.
 */
export function terminalText(text: string): string {
  return text
    .split(ours)
    .map((part, index) => (index % 2 === 0 ? safeText(part) : part))
    .join('');
}
