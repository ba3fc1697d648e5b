import { tryParseJson } from '../api/json.ts';
import {
  hasSignature,
  noSignatureFits,
  readHeader,
  type SignatureHeader,
  type Tolerance,
  timestampMs,
  untimelyReason,
} from '../api/signature-header.ts';
import { includesSignature, matchingSecret, sameText, signBody } from '../api/webhook-signature.ts';
import { readEvents } from './events.ts';

/** What `webhook verify --json` prints. */
export interface DeliveryVerdict {
  valid: boolean;
  reason?: string;
  eventIds: string[];
  /** Unix seconds of the header; `null` if it has none. */
  timestamp: number | null;
  /** Seconds since then; below zero if it is in the future. */
  ageSec?: number | null;
  /** With `--explain`: the headers that would have been right, by each secret. */
  expected?: string[];
}

/** Whether a delivery is signed by one of the secrets and, with a tolerance, recent; if not, the most exact reason there is. */
export function verifyDelivery(
  { header, body }: { header: string | undefined; body: Uint8Array },
  secrets: readonly string[],
  tolerance: Tolerance,
): DeliveryVerdict {
  const eventIds = readEvents(body).map(({ eventId }) => eventId);
  const refuse = (reason: string, timestamp: number | null = null) => ({ valid: false, reason, eventIds, timestamp });
  const parsed = readHeader(header);
  if (typeof parsed === 'string') return refuse(parsed);
  const timestamp = Math.floor(timestampMs(parsed.timestamp) / 1000);
  if (matchingSecret(parsed, body, secrets) === -1) return refuse(explainMismatch(parsed, body, secrets), timestamp);
  const untimely = untimelyReason(parsed, tolerance);
  return untimely === undefined ? { valid: true, eventIds, timestamp } : refuse(untimely, timestamp);
}

/** A larger body is not looked through for changes. */
const maxExplainedBytes = 8 * 1024 * 1024;

/** Why no signature fits a body: tries the usual mistakes, and names the one that explains the signature. */
function explainMismatch(parsed: SignatureHeader, body: Uint8Array, secrets: readonly string[]): string {
  const fits = (candidate: Uint8Array, by: readonly (string | Uint8Array)[]) =>
    matchingSecret(parsed, candidate, by) !== -1;
  for (const [reason, spell] of spellings) if (fits(body, secrets.map(spell))) return reason;
  const encoding = encodingReason(parsed, body, secrets);
  if (encoding !== undefined) return encoding;
  if (body.length > maxExplainedBytes) return `${noSignatureFits}; the body is too large to look for what was changed`;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  for (const [reason, candidate] of changes(text))
    if (candidate !== text && fits(Buffer.from(candidate), secrets)) return reason;
  const json = tryParseJson(text.replace(/^\uFEFF/, ''));
  if (json === undefined) return 'body changed: it is not valid JSON, and no signature matches it';
  return fits(Buffer.from(JSON.stringify(json)), secrets) ? reserialized : noSignatureFits;
}

const reserialized = 're-serialized JSON: the body was parsed and written again; verify the bytes as they came';

const spellings: readonly [reason: string, spell: (secret: string) => Uint8Array | string][] = [
  ['wrong secret: it matches with a line end after it; it was stored with one', (secret) => `${secret}\n`],
  ['wrong secret: it was decoded as hex; use its text unchanged', (secret) => Buffer.from(secret, 'hex')],
  ['wrong secret: it was decoded as base64; use its text unchanged', (secret) => Buffer.from(secret, 'base64')],
  [
    'wrong secret: its prefix was removed; use all of it',
    (secret) => (secret.includes('_') ? secret.slice(secret.indexOf('_') + 1) : secret),
  ],
];

/** A body with one usual change undone; one at a time, since each is as large as the body. */
function* changes(text: string): Generator<[reason: string, candidate: string]> {
  yield ['body changed: a line end was added at the end', text.replace(/\r?\n$/, '')];
  yield ['body changed: the final line end was lost', `${text}\n`];
  yield ['body changed: its line ends were changed', text.replaceAll('\r\n', '\n')];
  yield ['body changed: its line ends were changed', text.replaceAll(/\r?\n/g, '\r\n')];
  yield ['body changed: a byte order mark was added', text.replace(/^\uFEFF/, '')];
}

function encodingReason(parsed: SignatureHeader, body: Uint8Array, secrets: readonly string[]): string | undefined {
  for (const secret of secrets) {
    const wanted = signBody(secret, parsed.timestamp, body);
    const digest = Buffer.from(wanted, 'base64url');
    const given = parsed.signatures.map((each) => each.toLowerCase());
    if (includesSignature(given, digest.toString('hex')))
      return 'malformed header: the signature is hex and must be base64url without padding';
    const unpadded = parsed.signatures.map((each) => each.replaceAll('=', ''));
    if ([wanted, digest.toString('base64').slice(0, 43)].some((form) => includesSignature(unpadded, form)))
      return 'malformed header: the signature is base64 and must be base64url without padding';
    const isStart = (each: string) =>
      each.length >= 8 && each.length < 43 && sameText(each, wanted.slice(0, each.length));
    if (parsed.signatures.some(isStart)) return 'malformed header: the signature is cut off';
  }
  return hasSignature(parsed) ? undefined : 'malformed header: no v1= is a signature (43 characters of base64url)';
}
