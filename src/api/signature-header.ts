import { timeText } from './duration.ts';

/** The header that carries the signature; names are read regardless of case. Source: wire-facts 4.2. */
export const signatureHeader = 'daylight-signature';

/** Secrets are changed one at a time, and each signature is compared with every secret. */
const maxSignatures = 16;
const signatureForm = /^[\w-]{43}$/;

/** A signature header, taken apart. */
export interface SignatureHeader {
  /** As written: it is part of the signed text. */
  timestamp: string;
  signatures: string[];
}

/**
 * The parts of a `t=<timestamp>,v1=<signature>` header with one v1 or several, or why a delivery with it is refused. It may start with its
 * name.
 */
export function readHeader(header: string | undefined): SignatureHeader | string {
  if (header === undefined) return 'unsigned: there is no daylight-signature header';
  const refuse = (why: string) => `malformed header: ${why}`;
  const text = header.trim().replace(/^daylight-signature:\s*/i, '');
  if (text === '') return refuse('it is empty');
  const pairs = text.split(',').map((part) => {
    const [key = '', ...rest] = part.split('=').map((each) => each.trim());
    return { key, value: rest.length === 0 ? undefined : rest.join('=') };
  });
  const invalid = pairs.find(({ value }) => value === undefined);
  if (invalid) return refuse(`${JSON.stringify(invalid.key.slice(0, 40))} is not <name>=<value>`);
  const times = pairs.filter(({ key }) => key === 't').map(({ value = '' }) => value);
  const signatures = pairs.filter(({ key }) => key === 'v1').map(({ value = '' }) => value);
  const [timestamp] = times;
  if (timestamp === undefined) return refuse('t=<timestamp> is missing');
  if (times.length > 1) return refuse('t= appears twice');
  if (!/^\d{1,16}$/.test(timestamp)) return refuse(`t=${timestamp.slice(0, 40)} is not a time in whole seconds`);
  if (signatures.length === 0) {
    const others = pairs.filter(({ key }) => key !== 't').map(({ key }) => key);
    if (others.length === 0) return refuse('v1=<signature> is missing');
    return refuse(`v1= is missing; it has only ${others.join(', ').slice(0, 80)}`);
  }
  if (signatures.length > maxSignatures) return refuse(`it has more than ${maxSignatures} v1= signatures`);
  return { timestamp, signatures };
}

/** Whether any of the signatures has the form of one. */
export function hasSignature({ signatures }: SignatureHeader): boolean {
  return signatures.some((each) => signatureForm.test(each));
}

/** The part of the signed text before the body. */
export function signedPrefix(timestamp: string): string {
  return `${timestamp}.`;
}

/** The Unix milliseconds of a timestamp in seconds, or from 12 digits up in milliseconds. Assumed: the unit is not stated. */
export function timestampMs(timestamp: string): number {
  return timestamp.length >= 12 ? Number(timestamp) : Number(timestamp) * 1000;
}

export interface Tolerance {
  nowMs: number;
  /** `undefined`: any age. */
  toleranceMs: number | undefined;
}

/** Why the time in a header is outside the tolerance; `undefined` if it is not. */
export function untimelyReason({ timestamp }: SignatureHeader, { nowMs, toleranceMs }: Tolerance): string | undefined {
  const atMs = timestampMs(timestamp);
  if (toleranceMs === undefined || Math.abs(nowMs - atMs) <= toleranceMs) return undefined;
  const age = Math.round(Math.abs(nowMs - atMs) / 1000);
  const [word, where] = atMs < nowMs ? ['old', 'ago'] : ['new', 'ahead of this clock'];
  const at = timeText(Math.floor(atMs / 1000));
  return `too ${word}: signed at ${at}, ${age} s ${where}; the tolerance is ${toleranceMs / 1000} s`;
}

/** Why a delivery is refused whose signature is another. */
export const noSignatureFits =
  'wrong secret or body changed: no signature in the header matches this body with the given secrets';
