import { createHash } from 'node:crypto';
import { stripSecret, type Target } from '../inbox.ts';

/** How many parts an inbox is forwarded in: so many forwarders share the work of a target at most. */
export const partitions = 16;

/** The subjects of an inbox, each of which holds one message; a change here is another inbox. */
export function nameSubjects(name: string) {
  return {
    stream: [`${name}.event.*.*`, `${name}.part.*`, `${name}.forward.*.*`],
    /** Each holds a delivery, by the first of its new events. */
    deliveries: `${name}.event.*.*`,
    ofPartition: (partition: number) => `${name}.event.${partition}.*`,
    event: (partition: number, eventId: string) => `${name}.event.${partition}.${encodeEventId(eventId)}`,
    /** Another event of a delivery: names the subject of that. */
    part: (eventId: string) => `${name}.part.${encodeEventId(eventId)}`,
    parts: `${name}.part.`,
    /** Wherever it is. */
    anyOf: (eventId: string) => [`${name}.event.*.${encodeEventId(eventId)}`, `${name}.part.${encodeEventId(eventId)}`],
    /** How a delivery ended at a target. */
    forward: (seq: number, target: string) => `${name}.forward.${seq}.${target}`,
    /** Those who share the work of a target hear this; it is not stored. */
    members: (target: string) => `${name}.members.${target}`,
  };
}

export type Subjects = ReturnType<typeof nameSubjects>;

/** Deliveries of a path are in one: so are those of each webhook, also while its secret is changed. */
export function choosePartition(webhook: string): number {
  return createHash('sha256').update(stripSecret(webhook)).digest().readUInt32BE() % partitions;
}

export function targetId({ url, eventType = '', where = '' }: Target): string {
  return createHash('sha256').update(`${eventType} ${where} ${url}`).digest('hex').slice(0, 16);
}

/** An id as a part of a subject: itself where it may be one. */
export function encodeEventId(eventId: string): string {
  return /^[\w-]{1,80}$/.test(eventId) ? eventId : `=${createHash('sha256').update(eventId).digest('base64url')}`;
}
