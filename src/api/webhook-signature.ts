import { createHmac, timingSafeEqual } from 'node:crypto';
import { type SignatureHeader, signedPrefix } from './signature-header.ts';

/** The value of the signature header of a body. Source: wire-facts 4.2; assumed: the time is in Unix seconds. */
export function signedHeader(secret: string, body: string, nowMs: number): string {
  const timestamp = String(Math.floor(nowMs / 1000));
  return writeHeader(secret, timestamp, Buffer.from(body));
}

/** The value of the signature header for a timestamp as it is written. */
export function writeHeader(secret: string, timestamp: string, body: Uint8Array): string {
  return `t=${timestamp},v1=${signBody(secret, timestamp, body)}`;
}

/** The signature of a body: HMAC-SHA256 of `<timestamp>.<body>` as base64url, 43 characters. Source: wire-facts 4.2. */
export function signBody(secret: string | Uint8Array, timestamp: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(signedPrefix(timestamp)).update(body).digest('base64url');
}

/** The index of the first secret that made one of the signatures, or -1; every pair is compared. */
export function matchingSecret(
  { timestamp, signatures }: SignatureHeader,
  body: Uint8Array,
  secrets: readonly (string | Uint8Array)[],
): number {
  return secrets.map((secret) => includesSignature(signatures, signBody(secret, timestamp, body))).indexOf(true);
}

/** Whether one of the signatures is the wanted one; each is compared in constant time. */
export function includesSignature(signatures: readonly string[], wanted: string): boolean {
  return signatures.filter((each) => sameText(each, wanted)).length > 0;
}

/** Whether two texts are the same, compared in constant time. */
export function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The id of the example event of a validation probe, the same for every probe. Assumed: no mark of the service's own example is
 * published.
 */
export const exampleEventId = '00000000-0000-0000-0000-000000000000';
