import type { HttpAnswer, HttpRequest } from '../lib/io.ts';
import { secretName } from './secret-names.ts';
import { hidden, hideUrlSecrets } from './url-secrets.ts';

/**
 * The text without the key, however JSON and addresses spell it, webhook secrets, what is secret in addresses, and the values of
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
const namedFields = new RegExp(`("${secretName}"\\s*:\\s*")(?:[^"\\\\]|\\\\.){0,8192}`, 'gis');
const quotedFields = new RegExp(`(\\\\"${secretName}\\\\+"\\s*:\\s*\\\\+")[^"\\\\]{0,8192}`, 'gi');
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
  const pattern = new RegExp([...key].map(spellings).join(''), 'g');
  return (text) => text.replace(pattern, hidden);
}

/** A pattern of a character as it is, as JSON escapes it, also JSON in JSON, and as addresses and forms code it, also more than once. */
function spellings(character: string): string {
  const literal = character.replace(/[!-/:-@[-^`{-~]/, '\\$&');
  const plain = character === '\\' ? '\\\\{1,16}' : `${/["/]/.test(character) ? '\\\\{0,8}' : ''}${literal}`;
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const escaped = units.map((hex) => `\\\\{1,8}u${anyCase(hex)}`).join('');
  const coded = [...new TextEncoder().encode(character)].map(
    (byte) => `%(?:25){0,4}${anyCase(byte.toString(16).padStart(2, '0'))}`,
  );
  return `(?:${[coded.join(''), escaped, plain, ...(character === ' ' ? ['\\+'] : [])].join('|')})`;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
