import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';

/** The header that carries the signature; names are read regardless of case. Source: wire-facts 4.2. */
export const signatureHeader = 'daylight-signature';

/** Secrets are changed one at a time, and each signature is compared with every secret. */
const maxSignatures = 16;
const signatureForm = /^[\w-]{43}$/;

export interface ParsedHeader {
  /** As it stands in the header: it is part of what is signed. */
  timestamp: string;
  signatures: string[];
}

/**
 * The parts of a `t=<timestamp>,v1=<signature>` header, several v1 among them; or why it is malformed. A header copied with its name is
 * taken too.
 */
export function parseHeader(header: string): ParsedHeader | { malformed: string } {
  const text = header.trim().replace(/^daylight-signature:\s*/i, '');
  if (text === '') return { malformed: 'it is empty' };
  const pairs = text.split(',').map((part) => {
    const at = part.indexOf('=');
    return at === -1
      ? { key: part.trim(), value: undefined }
      : { key: part.slice(0, at).trim(), value: part.slice(at + 1).trim() };
  });
  const stray = pairs.find(({ value }) => value === undefined);
  if (stray) return { malformed: `${JSON.stringify(stray.key.slice(0, 40))} is no <name>=<value>` };
  const times = pairs.filter(({ key }) => key === 't').map(({ value = '' }) => value);
  const signatures = pairs.filter(({ key }) => key === 'v1').map(({ value = '' }) => value);
  const [timestamp] = times;
  if (timestamp === undefined) return { malformed: 't=<timestamp> is missing' };
  if (times.length > 1) return { malformed: 't= stands in it twice' };
  if (!/^\d{1,16}$/.test(timestamp)) return { malformed: `t=${timestamp.slice(0, 40)} is not a time in whole seconds` };
  if (signatures.length === 0) {
    const others = pairs.filter(({ key }) => key !== 't').map(({ key }) => key);
    return {
      malformed:
        others.length === 0
          ? 'v1=<signature> is missing'
          : `v1= is missing; it has only ${others.join(', ').slice(0, 80)}`,
    };
  }
  if (signatures.length > maxSignatures) return { malformed: `it has more than ${maxSignatures} v1= signatures` };
  return { timestamp, signatures };
}

/** Whether any of the signatures has the form of one. */
export function hasSignature({ signatures }: ParsedHeader): boolean {
  return signatures.some((each) => signatureForm.test(each));
}

/** The signature of a body: that of `<timestamp>.<body>`. Source: wire-facts 4.2. */
export function signBody(secret: string | Uint8Array, timestamp: string, body: Uint8Array): string {
  return signDetached(secret, signedPrefix(timestamp), body);
}

/** What is signed before the body. */
export function signedPrefix(timestamp: string): Uint8Array {
  return Buffer.from(`${timestamp}.`);
}

/** HMAC-SHA256 of some bytes as base64url without padding: 43 characters. */
export function signDetached(secret: string | Uint8Array, ...parts: readonly Uint8Array[]): string {
  const hmac = startSigning(secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('base64url');
}

/** A signature in the making: takes its bytes in pieces, and ends with `digest('base64url')`. */
export function startSigning(secret: string | Uint8Array): Hmac {
  return createHmac('sha256', secret);
}

/** The place of the first secret that one of the signatures was made with, -1 where there is none; every pair is compared. */
export function matchingSecret(
  { timestamp, signatures }: ParsedHeader,
  body: Uint8Array,
  secrets: readonly (string | Uint8Array)[],
): number {
  const fitting = secrets.map((secret) => includesSignature(signatures, signBody(secret, timestamp, body)));
  return fitting.indexOf(true);
}

/** Whether one of the signatures is the wanted one; each is compared, in a time that says nothing of where it differs. */
export function includesSignature(signatures: readonly string[], wanted: string): boolean {
  return signatures.filter((each) => sameText(each, wanted)).length > 0;
}

/** Whether two texts are the same; the time it takes tells their lengths only. */
export function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Unix milliseconds of a header's timestamp: seconds, or milliseconds from 12 digits up. Assumed: the unit is not stated. */
export function timestampMs(timestamp: string): number {
  return timestamp.length >= 12 ? Number(timestamp) : Number(timestamp) * 1000;
}
