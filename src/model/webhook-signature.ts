import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';

/** The header that carries the signature; names are read regardless of case. Source: wire-facts 4.2. */
export const signatureHeader = 'daylight-signature';

/** Secrets are changed one at a time, and each signature is compared with every secret. */
const maxSignatures = 16;
const signatureForm = /^[\w-]{43}$/;

/** A signature header, taken apart. */
export interface SignatureHeader {
  /** As written: it is part of what is signed. */
  timestamp: string;
  signatures: string[];
}

/** The parts of a `t=<timestamp>,v1=<signature>` header with one v1 or several, or why it is malformed. It may start with its name. */
export function parseHeader(header: string): SignatureHeader | { malformed: string } {
  const text = header.trim().replace(/^daylight-signature:\s*/i, '');
  if (text === '') return { malformed: 'it is empty' };
  const pairs = text.split(',').map((part) => {
    const at = part.indexOf('=');
    return at === -1
      ? { key: part.trim(), value: undefined }
      : { key: part.slice(0, at).trim(), value: part.slice(at + 1).trim() };
  });
  const invalid = pairs.find(({ value }) => value === undefined);
  if (invalid) return { malformed: `${JSON.stringify(invalid.key.slice(0, 40))} is no <name>=<value>` };
  const times = pairs.filter(({ key }) => key === 't').map(({ value = '' }) => value);
  const signatures = pairs.filter(({ key }) => key === 'v1').map(({ value = '' }) => value);
  const [timestamp] = times;
  if (timestamp === undefined) return { malformed: 't=<timestamp> is missing' };
  if (times.length > 1) return { malformed: 't= appears twice' };
  if (!/^\d{1,16}$/.test(timestamp)) return { malformed: `t=${timestamp.slice(0, 40)} is not a time in whole seconds` };
  if (signatures.length === 0) {
    const others = pairs.filter(({ key }) => key !== 't').map(({ key }) => key);
    if (others.length === 0) return { malformed: 'v1=<signature> is missing' };
    return { malformed: `v1= is missing; it has only ${others.join(', ').slice(0, 80)}` };
  }
  if (signatures.length > maxSignatures) return { malformed: `it has more than ${maxSignatures} v1= signatures` };
  return { timestamp, signatures };
}

/** Whether any of the signatures has the form of one. */
export function hasSignature({ signatures }: SignatureHeader): boolean {
  return signatures.some((each) => signatureForm.test(each));
}

/** The value of the signature header of a body. Source: wire-facts 4.2; assumed: the time is in Unix seconds. */
export function signedHeader(secret: string, body: string, nowMs: number): string {
  const timestamp = String(Math.floor(nowMs / 1000));
  return `t=${timestamp},v1=${signBody(secret, timestamp, Buffer.from(body))}`;
}

/** The signature of a body: HMAC-SHA256 of `<timestamp>.<body>` as base64url, 43 characters. Source: wire-facts 4.2. */
export function signBody(secret: string | Uint8Array, timestamp: string, body: Uint8Array): string {
  return startSigning(secret).update(signedPrefix(timestamp)).update(body).digest('base64url');
}

export function signedPrefix(timestamp: string): string {
  return `${timestamp}.`;
}

/** Takes what is signed in pieces; `digest('base64url')` is the signature. */
export function startSigning(secret: string | Uint8Array): Hmac {
  return createHmac('sha256', secret);
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

/** The Unix milliseconds of a timestamp in seconds, or from 12 digits up in milliseconds. Assumed: the unit is not stated. */
export function timestampMs(timestamp: string): number {
  return timestamp.length >= 12 ? Number(timestamp) : Number(timestamp) * 1000;
}

/**
 * The id of the example event of a validation probe, the same for every probe. Assumed: no mark of the service's own example is
 * published.
 */
export const exampleEventId = '00000000-0000-0000-0000-000000000000';
