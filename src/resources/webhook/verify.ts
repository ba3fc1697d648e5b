import { formatTime } from '../../output/format.ts';
import { eventsOf } from './delivery.ts';
import { matchingSecret, type ParsedHeader, parseHeader, signBody, timestampMs } from './signature.ts';

/** What `webhook verify --json` prints. */
export interface Verdict {
  valid: boolean;
  reason?: string;
  eventIds: string[];
  /** Unix seconds of the header; `null` where it has none. */
  timestamp: number | null;
}

export interface Delivery {
  /** Value of the signature header; `undefined` where the request had none. */
  header: string | undefined;
  body: Uint8Array;
}

/**
 * Whether a delivery is signed by one of the secrets and, with a tolerance, recent; where not, the most exact reason that can be told.
 * Never throws.
 */
export function verifyDelivery(
  { header, body }: Delivery,
  secrets: readonly string[],
  { nowMs, toleranceMs }: { nowMs: number; toleranceMs: number | undefined },
): Verdict {
  const eventIds = eventsOf(body).map(({ eventId }) => eventId);
  const refuse = (reason: string, timestamp: number | null = null) => ({ valid: false, reason, eventIds, timestamp });
  if (header === undefined) return refuse('unsigned: there is no daylight-signature header');
  const parsed = parseHeader(header);
  if ('malformed' in parsed) return refuse(`malformed header: ${parsed.malformed}`);
  const atMs = timestampMs(parsed.timestamp);
  const timestamp = Math.floor(atMs / 1000);
  if (matchingSecret(parsed, body, secrets) === -1) return refuse(reasonFor(parsed, body, secrets), timestamp);
  if (toleranceMs !== undefined && Math.abs(nowMs - atMs) > toleranceMs) {
    const age = Math.round(Math.abs(nowMs - atMs) / 1000);
    return refuse(
      atMs < nowMs
        ? `too old: signed at ${formatTime(timestamp)}, ${age} s ago; the tolerance is ${toleranceMs / 1000} s`
        : `too new: signed at ${formatTime(timestamp)}, ${age} s ahead of this clock; the tolerance is ${toleranceMs / 1000} s`,
      timestamp,
    );
  }
  return { valid: true, eventIds, timestamp };
}

/** Tries the usual mistakes, one after the other: a reason is only named where it explains the signature. */
function reasonFor(parsed: ParsedHeader, body: Uint8Array, secrets: readonly string[]): string {
  const text = new TextDecoder().decode(body);
  const json = parseJson(text);
  const rewritten: [string, string][] = [
    ['body changed: a line end was added behind it', text.replace(/\r?\n$/, '')],
    ['body changed: the line end behind it was lost', `${text}\n`],
    ['body changed: its line ends were changed', text.replaceAll('\r\n', '\n')],
    ['body changed: its line ends were changed', text.replaceAll(/\r?\n/g, '\r\n')],
    ['body changed: a byte order mark was added', text.replace(/^\uFEFF/, '')],
    ...(json === undefined ? [] : serialisations(json.value)),
  ];
  for (const [reason, candidate] of rewritten)
    if (candidate !== text && matchingSecret(parsed, Buffer.from(candidate), secrets) !== -1) return reason;
  const spellings: [string, (secret: string) => Uint8Array | string][] = [
    ['wrong secret: it fits with a line end behind it, as it was stored with one', (secret) => `${secret}\n`],
    ['wrong secret: it must be used as the text it is, and was decoded as hex', (secret) => Buffer.from(secret, 'hex')],
    [
      'wrong secret: it must be used as the text it is, and was decoded as base64',
      (secret) => Buffer.from(secret, 'base64'),
    ],
    [
      'wrong secret: it must be used whole, and lost its prefix',
      (secret) => (secret.includes('_') ? secret.slice(secret.indexOf('_') + 1) : secret),
    ],
  ];
  for (const [reason, spell] of spellings) if (matchingSecret(parsed, body, secrets.map(spell)) !== -1) return reason;
  return encodingReason(parsed, body, secrets) ?? generalReason(json);
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const reserialised = 're-serialised JSON: the body was parsed and written anew; verify the bytes as they came';

/** The ways a body may have been written before somebody parsed it. */
function serialisations(value: unknown): [string, string][] {
  const compact = JSON.stringify(value);
  const spaced = compact.replaceAll(/("(?:[^"\\]|\\.)*")|([:,])/g, (_, quoted, mark) => quoted ?? `${mark} `);
  const ascii = compact.replaceAll(
    /[\u0080-\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const slashes = compact.replaceAll('/', '\\/');
  const forms = [compact, JSON.stringify(value, null, 2), JSON.stringify(value, null, 4), spaced, ascii, slashes];
  return [...forms, ...forms.map((form) => `${form}\n`)].map((form) => [reserialised, form]);
}

function encodingReason(parsed: ParsedHeader, body: Uint8Array, secrets: readonly string[]): string | undefined {
  const given = parsed.signatures.map((signature) => signature.toLowerCase());
  for (const secret of secrets) {
    const digest = Buffer.from(signBody(secret, parsed.timestamp, body), 'base64url');
    if (given.includes(digest.toString('hex')))
      return 'malformed header: the signature is hex and must be base64url without padding';
    if (parsed.signatures.some((each) => each.replaceAll('=', '') === digest.toString('base64').replaceAll('=', '')))
      return 'malformed header: the signature is base64 and must be base64url without padding';
    if (
      parsed.signatures.some(
        (each) => each.length >= 8 && each.length < 43 && digest.toString('base64url').startsWith(each),
      )
    )
      return 'malformed header: the signature is cut off';
  }
  return parsed.signatures.every((signature) => !/^[\w-]{43}$/.test(signature))
    ? 'malformed header: no v1= is a signature (43 characters of base64url)'
    : undefined;
}

function generalReason(json: { value: unknown } | undefined): string {
  if (json === undefined) return 'body changed: it is not whole JSON, and no signature fits it';
  return 'wrong secret or body changed: no signature in the header fits this body under the given secrets';
}
