import { dayMs } from '../api/duration.ts';
import type { FailedTry, Forward, Retry } from '../lib/forward.ts';
import type { EventSummary } from './event-facts.ts';

/** How long an event that comes again is a repeat; what is older is refused. */
export const defaultRepeatsMs = 7 * dayMs;

/** A delivery as it came; its bytes are what is signed. */
export interface Delivery {
  /**
   * Which webhook it belongs to: the path and query it was sent to, `#`, and 8 hex digits for the secret that signed it. Deliveries of one
   * stay in order.
   */
  webhook: string;
  atMs: number;
  /** Names and values in turn. */
  headers: readonly string[];
  body: Buffer;
}

/** The path and query that deliveries of a webhook are sent to. */
export function stripSecret(webhook: string): string {
  return webhook.replace(/#[^#]*$/, '');
}

export interface StoredDelivery extends Delivery {
  /** Grows from delivery to delivery, in one webhook at least. */
  seq: number;
  /** The events that no earlier delivery had. */
  events: readonly EventSummary[];
}

/** Where deliveries are forwarded to: all, or those with an event that fits; see `isFor`. */
export interface Target {
  url: string;
  eventType?: string | undefined;
  /** Conditions of a route, as `readRoute` writes them. */
  where?: string | undefined;
}

/** A target that nobody has forwarded to for so long is waited for no more. */
export const targetMs = 7 * dayMs;

/** One delivery for one target, held until it is settled or released. */
export interface Claim {
  delivery: StoredDelivery;
  /**
   * Says how it ended: the next delivery of the webhook may go. The mark outlives this process soon, so that a crash repeats a few
   * deliveries and loses none. Errors: `local-file` where marks cannot be stored; then the same call is made again.
   */
  settle: (forward: Omit<Forward, 'url'>) => Promise<void>;
  /** Says that a try failed, so that other processes can tell; known soon, and until it is settled. */
  failed: (failedTry: FailedTry) => void;
  /** Leaves it to whoever takes next. */
  release: () => void;
  /** Another process took it over: this one need not go on. */
  lost?: AbortSignal;
}

/** `waiting`: a target has not got it yet; `refused`: a target did not take it; `null`: it was forwarded to nobody. */
export type EventStatus = 'forwarded' | 'waiting' | 'refused';

/** Which events; what is absent restricts nothing. */
export interface EventQuery {
  /** An event id, or its start. */
  idStart?: string | undefined;
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  type?: string | undefined;
  /** A wallet, or `ext:<id>`, that the event names: its trader, an author, its audience. */
  address?: string | undefined;
  token?: string | undefined;
  /** A webhook, or the path of several. */
  webhook?: string | undefined;
  status?: EventStatus | undefined;
}

/** The deliveries of events, or those that came since a time; all without one. */
export type DeliveryQuery = { ids: readonly string[] } | Pick<EventQuery, 'sinceMs'>;

export interface StoredEvent extends EventSummary {
  delivery: StoredDelivery;
  status: EventStatus | null;
  forwards: readonly Forward[];
}

/** What is kept; the older part of what exceeds it is removed, never what waits to be forwarded. */
export interface KeepLimits {
  ms?: number | undefined;
  bytes?: number | undefined;
}

/** Called with a sentence that names a record that cannot be read: it is left out, and the rest goes on. */
export type OnDamaged = (what: string) => void;

/**
 * Stores deliveries, each event once, and hands them to those who forward them. Errors of every call: `local-file` or `config` naming the
 * store, where it cannot be used.
 */
export interface Inbox {
  /** As messages name it. */
  name: string;
  /** The largest body that it takes; absent: any. */
  maxBytes?: number;
  /** The stored deliveries. */
  count: () => Promise<number>;
  /**
   * Stores the deliveries that have events which are not known yet; resolves once all of it is safe. In the given order: the stored
   * delivery with its new events, or `undefined` for a repeat.
   */
  store: (deliveries: readonly Delivery[]) => Promise<(StoredDelivery | undefined)[]>;
  /** From now on deliveries wait for these targets too, a new one's from the next delivery on. */
  addTargets: (targets: readonly Target[]) => Promise<void>;
  /**
   * The deliveries that a target has not got yet, and then the new ones as they come, also those that other processes store: one of each
   * webhook at a time, in order. Ends with the signal. Errors: `locked` where another process takes them.
   */
  take: (target: Target, signal: AbortSignal) => AsyncIterable<Claim>;
  /** What is sent again just now, or will be at the next start. */
  retries: () => Promise<Retry[]>;
  /** How many deliveries wait for these targets, one counted for each. */
  waiting: (targets: readonly Target[]) => Promise<number>;
  /** The stored events, newest first. */
  events: (query: EventQuery) => AsyncIterable<StoredEvent>;
  /** New events as they are stored, by any process. Ends with the signal. */
  follow: (query: EventQuery, signal: AbortSignal) => AsyncIterable<StoredEvent>;
  /** Deliveries, oldest first. */
  deliveries: (query: DeliveryQuery) => AsyncIterable<StoredDelivery>;
  close: () => Promise<void>;
}
