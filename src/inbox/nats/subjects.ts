import { createHash } from 'node:crypto';
import { pathOf, type Target } from '../inbox.ts';

/** How many parts an inbox is forwarded in: so many forwarders share the work at most. */
export const partitions = 16;

/** The subjects of an inbox; a change here is another inbox. */
export function subjectsOf(name: string) {
  const [state, places] = [`${name}_state`, `${name}_place`];
  return {
    events: name,
    state,
    places,
    all: `${name}.event.*.*`,
    ofPartition: (partition: number) => `${name}.event.${partition}.*`,
    event: (partition: number, eventId: string) => `${name}.event.${partition}.${tokenOf(eventId)}`,
    /** The body of several events. */
    body: (partition: number, webhook: string, body: Uint8Array) =>
      `${name}.event.${partition}.body=${createHash('sha256').update(`${webhook}\n`).update(body).digest('base64url')}`,
    /** Says the partition that an event is in, for those who get it on another path. */
    place: (eventId: string) => `${name}.place.${tokenOf(eventId)}`,
    target: (target: string) => `${state}.target.${target}`,
    targets: `${state}.target.*`,
    /** Behind which number a target gets what comes, as each process says that adds it at the same moment. */
    start: (target: string, member: string) => `${state}.start.${target}.${member}`,
    starts: (target: string) => `${state}.start.${target}.*`,
    /** How a delivery ended at a target. */
    forward: (delivery: { key: string }, target: string) => `${state}.forward.${delivery.key}.${target}`,
    /** Up to where all of a partition is settled at a target. */
    floor: (target: string, partition: number) => `${state}.floor.${target}.${partition}`,
    /** Who forwards what; for one target. */
    work: (target: string) => `${state}.work.${target}.*.*`,
    lease: (target: string, partition: number) => `${state}.work.${target}.lease.${partition}`,
    member: (target: string, member: string) => `${state}.work.${target}.member.${member}`,
    hours: `${state}.hour.*.*.*`,
    hour: (hour: number, webhook: string, member: string) => `${state}.hour.${hour}.${shortHash(webhook)}.${member}`,
    streams: { [name]: [`${name}.event.>`], [places]: [`${name}.place.>`], [state]: [`${state}.>`] },
  };
}

export type Subjects = ReturnType<typeof subjectsOf>;

/** Deliveries of a path are in one: so are those of each webhook, also while its secret is changed. */
export function partitionOf(webhook: string): number {
  return createHash('sha256').update(pathOf(webhook)).digest().readUInt32BE() % partitions;
}

export function targetId({ url, eventType = '', where = '' }: Target): string {
  return shortHash(`${eventType} ${where} ${url}`);
}

/** An id as a part of a subject: itself where it may be one. */
function tokenOf(eventId: string): string {
  return /^[\w-]{1,80}$/.test(eventId) ? eventId : `=${createHash('sha256').update(eventId).digest('base64url')}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
