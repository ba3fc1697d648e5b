import { hidden, hideUrlSecrets } from '../model/url-secrets.ts';
import type { HttpAnswer, HttpRequest } from '../world.ts';

/**
 * The text without the key (as it is, and as JSON and addresses spell it), webhook secrets, what is secret in addresses, and the values of
 * JSON fields such as `secret` and `signature`, also in JSON quoted in JSON.
 */
export function hideSecrets(text: string, key?: string): string {
  return secretHider(key)(text);
}

export function secretHider(key: string | undefined): (text: string) => string {
  const hideKey = key === undefined || key.length < 4 ? undefined : keyHider(key);
  return (text) => {
    const shown = hideUrlSecrets(text)
      .replace(namedFields, `$1${hidden}`)
      .replace(quotedFields, `$1${hidden}`)
      .replace(webhookSecrets, `whsec_${hidden}`);
    return hideKey === undefined ? shown : hideKey(shown);
  };
}

/** Hides the key that a request carries, and the secrets that have a form of their own. */
export function requestHider({ headers }: Pick<HttpRequest, 'headers'>): (text: string) => string {
  return secretHider(headers['authorization']?.replace(/^Bearer /, ''));
}

// The counts keep a value of millions of characters off the stack of the pattern.
const namedFields =
  /("(?:secret|signature|password|passphrase|private_?key|api_?key|(?:access|refresh|id)_?token)"\s*:\s*")(?:[^"\\]|\\.){0,8192}/gis;
const quotedFields =
  /(\\"(?:secret|signature|password|passphrase|private_?key|api_?key|(?:access|refresh|id)_?token)\\+"\s*:\s*\\+")[^"\\]{0,8192}/gi;
const webhookSecrets = /\bwhsec_[\w+/=-]{8,512}/g;

interface KeyedAnswer {
  status: number;
  headers: HttpAnswer['headers'];
  text: string;
}

/** Hides the key in an answer that repeats it. */
export type KeyHiding = <T extends KeyedAnswer>(answer: T) => T;

/**
 * Replaces the key by three stars in headers and text of an answer. A key of less than eight characters or of digits alone stays: it could be
 * a word or a number of any answer.
 */
export function hidingKey(key: string | null): KeyHiding {
  if (key === null || key.length < 8 || /^\d+$/.test(key)) return (answer) => answer;
  const hide = keyHider(key);
  return (answer) => {
    const headers = Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [
        hide(name),
        Array.isArray(value) ? value.map(hide) : value && hide(value),
      ]),
    );
    return { ...answer, headers, text: hide(answer.text) };
  };
}

function keyHider(key: string): (text: string) => string {
  const forms = spellKey(key);
  return (text) => forms.reduce((shown, form) => shown.replaceAll(form, hidden), text);
}

/** The key as it is, as JSON escapes it, and as it stands in an address: coded, from a form, typed into a path or a query. */
function spellKey(key: string): string[] {
  const inJson = JSON.stringify(key).slice(1, -1);
  const inForm = new URLSearchParams([['', key]]).toString().slice(1);
  const url = new URL('http://host');
  url.pathname = key;
  url.search = key;
  const inAddress = [encodeURIComponent(key), inForm, url.pathname.slice(1), url.search.slice(1)];
  // An address drops dots and line ends: what is left of a key could be any word.
  const spellings = [key, inJson, inJson.replaceAll('/', '\\/'), ...inAddress].filter(
    ({ length }) => length >= key.length,
  );
  // Longer ones first: the key itself may be a part of another.
  return [...new Set(spellings)].sort((one, other) => other.length - one.length);
}
