import type { HttpAnswer } from './http.ts';

const hidden = '***';

/**
 * The text without what must not be shown: the key in whatever spelling, webhook secrets, and the values of the JSON fields `secret` and
 * `signature`, also in JSON that is quoted in JSON, and where the text ends inside one of them. Never throws.
 */
export function hideSecrets(text: string, key?: string): string {
  const shown = text
    // A quote ends the value where it has as many backslashes as the first, behind any number of escaped ones.
    .replace(
      /(\\*)"(secret|signature)\1"(\s*:\s*)\1"[\s\S]*?(?:(?<!\\)(?:\1\1\\\\)*\1"|$)/g,
      `$1"$2$1"$3$1"${hidden}$1"`,
    )
    .replace(/\bwhsec_[\w+/=-]{8,}/g, `whsec_${hidden}`);
  return key === undefined || key.length < 4 ? shown : hiderOf(key)(shown);
}

interface Told {
  status: number;
  headers: HttpAnswer['headers'];
  text: string;
  body: Uint8Array;
}

/** What makes an answer one in which the service does not tell the key that it was sent. */
export type KeyHiding = <T extends Told>(answer: T) => T;

/**
 * Where header or body of an answer repeats the key, three stars stand instead. In headers and errors that is so for whatever spelling; in
 * long answers for those of JSON and addresses. A key of less than eight characters is left: it could be a word of any answer. Made once for
 * many answers. Never throws.
 */
export function hidingKey(key: string | null): KeyHiding {
  if (key === null || key.length < 8) return (answer) => answer;
  const hideAny = hiderOf(key);
  // Digits may stand in a number, which has to stay one.
  const forms = /^\d+$/.test(key) ? [] : formsOf(key);
  return (answer) => hideIn(answer, hideAny, forms);
}

function hideIn<T extends Told>(answer: T, hideAny: (text: string) => string, forms: readonly string[]): T {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [
      hideAny(name),
      Array.isArray(value) ? value.map(hideAny) : value && hideAny(value),
    ]),
  );
  const isDone = answer.status >= 200 && answer.status < 300;
  const text = isDone ? hideKey(answer.text, forms) : hideAny(answer.text);
  return text === answer.text ? { ...answer, headers } : { ...answer, headers, text, body: Buffer.from(text) };
}

/** What hides a key in any spelling. */
function hiderOf(key: string): (text: string) => string {
  const spelled = new RegExp(spellingsOf(key).join('|'), 'gi');
  const forms = formsOf(key);
  return (text) => {
    const shown = text.replace(spelled, hidden);
    const cut = forms.flatMap((form) => startAtEnd(shown, form) ?? []);
    return cut.length === 0 ? shown : `${shown.slice(0, Math.min(...cut))}${hidden}`;
  };
}

/** Where the text breaks off inside the form; absent when what it ends with could be anything. */
function startAtEnd(text: string, form: string): number | undefined {
  for (let length = form.length - 1; length >= 8; length -= 1)
    if (text.endsWith(form.slice(0, length))) return text.length - length;
  return undefined;
}

/** The key as it is, inside JSON (some writers escape the slash), and inside an address. */
function formsOf(key: string): string[] {
  const json = JSON.stringify(key).slice(1, -1);
  return [...new Set([key, json, json.replaceAll('/', '\\/'), encodeURIComponent(key)])];
}

/**
 * As patterns: the key with any escapes of JSON in JSON, as in an address, its bytes in hex, and in base64 what the key alone decides of it,
 * wherever it begins; longer ones first.
 */
function spellingsOf(key: string): string[] {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const base64Url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const plain = [encodeURIComponent(key), bytes.toString('hex'), ...base64, ...base64Url].map(escapePattern);
  const escaped = [...key].map((each) => `${'"/\\'.includes(each) ? '\\\\*' : ''}${escapePattern(each)}`).join('');
  return [...new Set([escaped, ...plain])].sort((a, b) => b.length - a.length);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function hideKey(text: string, forms: readonly string[]): string {
  return forms.reduce((left, form) => (left.includes(form) ? left.replaceAll(form, hidden) : left), text);
}
