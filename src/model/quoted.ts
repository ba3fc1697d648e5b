/** Digits and letters, or a list of bytes, that are long enough to be a private key; and a webhook's secret. */
const keyLike = /[0-9a-zA-Z]{60,}|\bwhsec_[\w+/=-]{8,}|(?:\d{1,3}\s*,\s*){31,}\d{1,3}/;

/**
 * A piece of a user's file as a message may show it: what could be a private key or a secret loses its middle, and what follows it is left out; other
 * long text loses its end. Never throws.
 */
export function quoted(text: string): string {
  const found = keyLike.exec(text);
  if (found === null) return shortened(text);
  const [key] = found;
  const isLast = found.index + key.length === text.length;
  return `${shortened(text.slice(0, found.index))}${key.slice(0, 6)}…${isLast ? key.slice(-4) : ''}`;
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
