import { matchingSecret, parseHeader, type SignatureHeader, timestampMs } from '../../../model/webhook-signature.ts';
import { formatTime } from '../../../output/format.ts';
import { eventsOf } from './delivery.ts';
import { reasonFor } from './diagnosis.ts';

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

/** The moment of a check, and how far from it a signature may have been made. */
export interface Tolerance {
  nowMs: number;
  toleranceMs: number | undefined;
}

/** Whether a delivery is signed by one of the secrets and, with a tolerance, recent; where not, the most exact reason that can be told. */
export function verifyDelivery({ header, body }: Delivery, secrets: readonly string[], tolerance: Tolerance): Verdict {
  const eventIds = eventsOf(body).map(({ eventId }) => eventId);
  const refuse = (reason: string, timestamp: number | null = null) => ({ valid: false, reason, eventIds, timestamp });
  const parsed = readHeader(header);
  if (typeof parsed === 'string') return refuse(parsed);
  const timestamp = Math.floor(timestampMs(parsed.timestamp) / 1000);
  if (matchingSecret(parsed, body, secrets) === -1) return refuse(reasonFor(parsed, body, secrets), timestamp);
  const untimely = untimelyReason(parsed, tolerance);
  return untimely === undefined ? { valid: true, eventIds, timestamp } : refuse(untimely, timestamp);
}

/** The parts of a signature header, or why there are none. */
export function readHeader(header: string | undefined): SignatureHeader | string {
  if (header === undefined) return 'unsigned: there is no daylight-signature header';
  const parsed = parseHeader(header);
  return 'malformed' in parsed ? `malformed header: ${parsed.malformed}` : parsed;
}

/** Why the time in a header is outside of the tolerance; `undefined` where it is not. */
export function untimelyReason({ timestamp }: SignatureHeader, { nowMs, toleranceMs }: Tolerance): string | undefined {
  const atMs = timestampMs(timestamp);
  if (toleranceMs === undefined || Math.abs(nowMs - atMs) <= toleranceMs) return undefined;
  const age = Math.round(Math.abs(nowMs - atMs) / 1000);
  const [word, where] = atMs < nowMs ? ['old', 'ago'] : ['new', 'ahead of this clock'];
  const at = formatTime(Math.floor(atMs / 1000));
  return `too ${word}: signed at ${at}, ${age} s ${where}; the tolerance is ${toleranceMs / 1000} s`;
}
