import type { HttpAnswer } from './http.ts';

const hidden = '***';

/**
 * The text without what must not be shown: the key, webhook secrets, and the values of the JSON fields `secret` and `signature`, also
 * where the text ends inside one. Never throws.
 */
export function hideSecrets(text: string, key?: string): string {
  const shown = text
    .replace(/("(?:secret|signature)"\s*:\s*)"(?:[^"\\]|\\[\s\S]?)*(?:"|$)/g, `$1"${hidden}"`)
    .replace(/\bwhsec_[\w+/=-]{8,}/g, `whsec_${hidden}`);
  return key === undefined || key.length < 4 ? shown : hideKey(shown, formsOf(key));
}

interface Told {
  headers: HttpAnswer['headers'];
  text: string;
  body: Uint8Array;
}

/**
 * An answer in which the service does not tell the key that it was sent: where header or body repeats it, three stars stand instead. A key
 * of less than eight characters is left: it could be a word of any answer. Never throws.
 */
export function withoutKey<T extends Told>(answer: T, key: string | null): T {
  if (key === null || key.length < 8) return answer;
  const forms = formsOf(key);
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((one) => hideKey(one, forms)) : value && hideKey(value, forms),
    ]),
  );
  if (!forms.some((form) => answer.text.includes(form))) return { ...answer, headers };
  const text = hideKey(answer.text, forms);
  return { ...answer, headers, text, body: Buffer.from(text) };
}

/** The key as it is, inside JSON (some writers escape the slash), and inside an address. */
function formsOf(key: string): string[] {
  const json = JSON.stringify(key).slice(1, -1);
  return [...new Set([key, json, json.replaceAll('/', '\\/'), encodeURIComponent(key)])];
}

function hideKey(text: string, forms: readonly string[]): string {
  return forms.reduce((left, form) => left.replaceAll(form, hidden), text);
}
