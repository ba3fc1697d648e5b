import { isObject } from '../api/json.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

/** Names of credentials, whether of a JSON field, a header or a parameter of an address. */
const words = [
  ...[
    'secret',
    'signature',
    'passw(?:or)?d',
    'passphrase',
    'pwd',
    'credentials?',
    'jwt',
    'hmac',
    'bearer',
    'authorization',
  ],
  '(?:api|access|private|secret)[_-]?key',
  '(?:access|api|auth|bearer|client|csrf|id|refresh|security|session|xsrf)[_-]?token',
].join('|');

/** The source of a pattern of these names, with words before them. */
const secretName = `[\\w.%-]{0,40}?(?:${words})`;

/** The same for headers and parameters: `token`, `key` and `code` are everyday fields of JSON. */
const secretParameter = `(?:${secretName}|[\\w.%-]{0,40}?token|(?:[\\w.%-]{0,40}?[._-])?(?:key|session|auth)|sig|pass|sid|code)`;

// User and password before a host, in a plain address, in JSON with escaped slashes, and in an address inside a query.
const userInfo = /((?:\b[a-z][a-z0-9+.-]{1,20}):(?:\\?\/){2})[^\s/?#"'<>\\]{1,1024}@/gi;
const codedUserInfo = /(%3a%2f%2f)(?:(?!%2f|%3f|%23|%40)[^\s&"'<>]){1,1024}%40/gi;

// Parameters with the name of a credential, also in an address inside a query; the address of a wallet is not a secret.
const parameter = new RegExp(
  `((?:[?&;#]|%3f|%26|%23|\\\\u0026)${secretParameter}(?:=|%3d))(?!0x[0-9a-f]{40}\\b)(?:(?!%26|%23)[^\\s&#"'<>\\\\;]){1,4096}`,
  'gi',
);

/**
 * The text with the secrets in its addresses as three stars: user and password, and the values of parameters with a name such as `token`. The
 * address of a wallet or token is no secret. Idempotent; linear in the text.
 */
export function hideUrlSecrets(text: string): string {
  if (!/[@=]|%40|%3d/i.test(text)) return text;
  return text
    .replace(userInfo, `$1${hidden}@`)
    .replace(codedUserInfo, `$1${hidden}%40`)
    .replace(parameter, `$1${hidden}`);
}

/**
 * The text without the key, however JSON and addresses spell it, webhook secrets, secrets in addresses, and the values of
 * JSON fields such as `secret` and `signature`, also in JSON quoted in JSON.
 */
export function hideSecrets(text: string, key?: string): string {
  return secretHider(key)(text);
}

export function secretHider(key: string | undefined): (text: string) => string {
  const hideKey = keyHider(key);
  return (text) => {
    const shown = hideUrlSecrets(text)
      .replace(namedFields, `$1${hidden}`)
      .replace(quotedFields, `$1${hidden}`)
      .replace(webhookSecrets, `whsec_${hidden}`);
    return hideKey(shown);
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

/** The value with each text masked that is a secret by its form or by its field. */
export function maskSecrets(value: unknown, field = ''): unknown {
  if (typeof value === 'string')
    return value !== '' && (/secret/i.test(field) || value.startsWith('whsec_')) ? hidden : value;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, field));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskSecrets(inner, key)]));
}

/** By their names; the signature of a delivery is shown: it is useless without the secret, and has to be compared. */
const secretHeader = new RegExp(`^(?:set-)?cookie$|^(?!idempotency-key$|.*signature$)${secretParameter}$`, 'i');

/** A header with its secret replaced by `***`. */
export function maskHeader(name: string, value: string): string {
  if (/^authorization$/i.test(name)) return `${/^\w+(?= )/.exec(value)?.[0] ?? 'Bearer'} ${hidden}`;
  return secretHeader.test(name) ? hidden : hideUrlSecrets(value);
}

export function maskHeaders(headers: HttpRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskHeader(name, value)]));
}

/** Replaces a secret that is not shown. */
export const hidden = '***';

/** Hides the key in an answer that repeats it. */
export type HideInAnswer = (answer: HttpResponse) => HttpResponse;

/**
 * Replaces the key by three stars in headers and text of an answer. A key of less than eight characters or of digits alone stays: it could be
 * a word or a number of any answer.
 */
export function hideKeyInAnswers(key: string | null): HideInAnswer {
  if (key === null || key.length < 8 || /^\d+$/.test(key)) return (answer) => answer;
  const hide = keyHider(key);
  const hideInHeaders = (headers: HttpResponse['headers']) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        hide(name),
        Array.isArray(value) ? value.map(hide) : value && hide(value),
      ]),
    );
  return (answer) => {
    const { headers, text } = answer;
    const shown = Object.entries(headers).join();
    const areHeadersSafe = hide(shown) === shown;
    return { ...answer, headers: areHeadersSafe ? headers : hideInHeaders(headers), text: hide(text) };
  };
}

/** Hides a key of at least four characters, however JSON and addresses spell it. */
export function keyHider(key: string | undefined): (text: string) => string {
  if (key === undefined || key.length < 4) return (text) => text;
  let pattern: RegExp | undefined;
  return (text) => {
    // Without one of these characters a text spells no key in another way; the pattern takes a millisecond to compile.
    if (![key, '%', '\\', '+'].some((part) => text.includes(part))) return text;
    pattern ??= new RegExp([...key].map(spellings).join(''), 'g');
    return text.replace(pattern, hidden);
  };
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
