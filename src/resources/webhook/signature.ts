import { createHmac, timingSafeEqual } from 'node:crypto';

/** The header that carries the signature; names are read regardless of case. Source: wire-facts 4.2. */
export const signatureHeader = 'daylight-signature';

export interface ParsedHeader {
  /** As it stands in the header: it is part of what is signed. */
  timestamp: string;
  signatures: string[];
}

/**
 * The parts of a `t=<timestamp>,v1=<signature>` header, several v1 among them; or why it is malformed. A header copied with its name is
 * taken too. Never throws.
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
      malformed: others.length === 0 ? 'v1=<signature> is missing' : `v1= is missing; it has only ${others.join(', ')}`,
    };
  }
  return { timestamp, signatures };
}

/** The signature of a body: that of `<timestamp>.<body>`. Never throws. Source: wire-facts 4.2. */
export function signBody(secret: string | Uint8Array, timestamp: string, body: Uint8Array): string {
  return signDetached(secret, Buffer.from(`${timestamp}.`), body);
}

/** HMAC-SHA256 of some bytes as base64url without padding: 43 characters. Never throws. */
export function signDetached(secret: string | Uint8Array, ...parts: readonly Uint8Array[]): string {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('base64url');
}

/** Whether one of the signatures is the body's under one of the secrets; every pair is compared in constant time. Never throws. */
export function matchingSecret(
  { timestamp, signatures }: ParsedHeader,
  body: Uint8Array,
  secrets: readonly (string | Uint8Array)[],
): number {
  let found = -1;
  secrets.forEach((secret, index) => {
    const wanted = Buffer.from(signBody(secret, timestamp, body));
    for (const signature of signatures) if (sameBytes(Buffer.from(signature), wanted) && found === -1) found = index;
  });
  return found;
}

function sameBytes(given: Buffer, wanted: Buffer): boolean {
  const comparable = given.length === wanted.length ? given : Buffer.alloc(wanted.length);
  return timingSafeEqual(comparable, wanted) && given.length === wanted.length;
}

/** Unix milliseconds of a header's timestamp: seconds, or milliseconds from 12 digits up. Never throws. Assumed: the unit is not stated. */
export function timestampMs(timestamp: string): number {
  return timestamp.length >= 12 ? Number(timestamp) : Number(timestamp) * 1000;
}
