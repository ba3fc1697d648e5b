import { normalizeAddress } from '../api/address.ts';
import { dayMs, parseMoment } from '../api/duration.ts';
import { usageError } from '../errors.ts';
import { redactText } from '../lib/files/text-file.ts';
import type { OutboxPolicy } from '../lib/outbox.ts';
import type { PostOutcome } from '../lib/post-delivery.ts';
import { collectNames, type EventSummary } from './events.ts';

/** How long an event that comes again is a repeat; older signatures are refused. */
export const defaultRepeatsMs = 7 * dayMs;

/** A delivery as it came; the signature is of its bytes. */
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

/** The digits in the name of a webhook that identify its secret. */
export function secretDigits(webhook: string): string {
  return webhook.slice(webhook.lastIndexOf('#') + 1);
}

export interface StoredDelivery extends Delivery {
  /** Grows from delivery to delivery, in one webhook at least. */
  seq: number;
  /** The events that no earlier delivery had. */
  events: readonly EventSummary[];
  /** Whether it is for a target; known when it is stored. */
  isWaiting?: boolean;
}

/** Where deliveries are forwarded to: all, or those with an event that fits; see `isFor`. */
export interface Target {
  url: string;
  eventType?: string | undefined;
  /** Conditions of a route, as `readRoute` writes them. */
  where?: string | undefined;
}

/** How a delivery ended at a target: accepted, or set aside. */
export interface Forward {
  url: string;
  outcome: 'forwarded' | 'failed';
  /** HTTP status of the last answer; `null` if there was none. */
  status: number | null;
  /** How long the last answer took. */
  ms: number;
  tries: number;
  error: string | null;
  atMs: number;
}

/** A delivery that a target does not accept at the moment; later ones of its webhook wait behind it. */
export interface Retry extends Pick<Forward, 'url' | 'status' | 'tries' | 'atMs'> {
  error: string;
  /** When it is sent again. */
  nextMs: number;
  webhook: string;
  seq: number;
  /** When the delivery came. */
  arrivedMs: number;
}

/** A target that nobody has forwarded to for so long is forgotten, with the deliveries that wait for it. */
export const targetMs = 7 * dayMs;

/** `failed`: set aside, because a target did not accept it; `null`: it is for no target. */
export const eventStatuses = ['forwarded', 'waiting', 'failed'] as const;
export type EventStatus = (typeof eventStatuses)[number];

/** Filters events; an absent field filters nothing. */
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

/** The deliveries of events, those that came since a time, or those that are set aside; all without one. */
export type DeliveryQuery = { ids: readonly string[] } | { failed: true } | Pick<EventQuery, 'sinceMs'>;

export interface StoredEvent extends EventSummary {
  delivery: StoredDelivery;
  status: EventStatus | null;
  forwards: readonly Forward[];
}

/** Beyond these limits the oldest deliveries are removed, but never those that wait to be forwarded. */
export interface KeepLimits {
  ms?: number | undefined;
  bytes?: number | undefined;
}

/** A try to forward a delivery, and how it was answered. */
export interface ForwardTry {
  delivery: StoredDelivery;
  target: Target;
  outcome: PostOutcome;
  tries: number;
  /** When it ended. */
  atMs: number;
  /** How long the answer took. */
  ms: number;
}

export interface ForwardOptions {
  targets: readonly Target[];
  post: (delivery: StoredDelivery, target: Target, signal: AbortSignal) => Promise<PostOutcome>;
  policy: OutboxPolicy;
  /** Called after each try; if it failed, with the pause before the next one, or without one if the delivery is set aside. */
  onTry: (made: ForwardTry, waitMs: number | undefined) => void;
  /** Called when the inbox cannot be read or written; both are tried again. */
  onError: (error: unknown) => void;
}

export interface Forwarding {
  /** Rejects when nothing can be forwarded any more. */
  broken: Promise<never>;
  stop: () => Promise<void>;
}

/** Stores deliveries, each event once, and forwards them. Errors of each call name the inbox: `local-file`, `network` or `config`. */
export interface Inbox {
  /** As messages name it. */
  name: string;
  /** On a NATS cluster: its events have no status but `failed`. */
  isStream?: true;
  /** The largest body that it takes; absent: any. */
  maxBytes?: number;
  /** How many deliveries are stored, and when the oldest came. */
  summary: () => Promise<{ stored: number; oldestMs: number | undefined }>;
  /**
   * Stores the deliveries that have new events; resolves once all of them are safe. In the given order: the stored
   * delivery with its new events, or `undefined` for a repeat.
   */
  store: (deliveries: readonly Delivery[]) => Promise<(StoredDelivery | undefined)[]>;
  /** Adds targets, which get the deliveries stored from now on; returns those that are new. Errors: `locked` if another process forwards. */
  addTargets: (targets: readonly Target[]) => Promise<Target[]>;
  /**
   * Posts the waiting deliveries to the targets, then new ones, also those that other processes store: in order for each target and
   * webhook. Errors: `locked` if another process forwards.
   */
  forward: (options: ForwardOptions) => Promise<Forwarding>;
  /** The deliveries that are tried again now, or at the next start. */
  retries: () => Promise<Retry[]>;
  /** How many deliveries wait, counted once for each of these targets. */
  waiting: (targets: readonly Target[]) => Promise<number>;
  /** How many are set aside. */
  failed: () => Promise<number>;
  /** The stored events, newest first. */
  events: (query: EventQuery) => AsyncIterable<StoredEvent>;
  /** New events as they are stored, by any process. Ends with the signal. */
  follow: (query: EventQuery, signal: AbortSignal) => AsyncIterable<StoredEvent>;
  /** Deliveries, oldest first. */
  deliveries: (query: DeliveryQuery) => AsyncIterable<StoredDelivery>;
  /** A delivery that was set aside has been accepted after all. */
  markAccepted: (delivery: StoredDelivery) => Promise<void>;
  close: () => Promise<void>;
}

/** The events of a delivery that a query asks for, whatever their status; none if its time or its webhook does not match. */
export function askedEvents(delivery: StoredDelivery, query: EventQuery): EventSummary[] {
  const { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY, webhook, address, token } = query;
  if (delivery.atMs < sinceMs || delivery.atMs > untilMs) return [];
  if (webhook !== undefined && !isWebhook(delivery.webhook, webhook)) return [];
  return delivery.events.filter(
    ({ eventType, eventId, event }) =>
      (query.type === undefined || eventType === query.type) &&
      (query.idStart === undefined || eventId.startsWith(query.idStart)) &&
      (address === undefined || collectNames(event).addresses.has(address)) &&
      (token === undefined || collectNames(event).tokens.has(token)),
  );
}

/** Whether a webhook has this name, or this path. */
function isWebhook(webhook: string, asked: string): boolean {
  return webhook === asked || stripSecret(webhook) === asked;
}

/** The times of `--since` and `--until`. Errors: `usage` if nothing lies between them. */
export function readTimes(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  nowMs: number,
): Pick<EventQuery, 'sinceMs' | 'untilMs'> {
  const read = (text: string | undefined) => (text === undefined ? undefined : parseMoment(text, nowMs, 'ago'));
  const [sinceMs, untilMs] = [read(since), read(until)];
  if (sinceMs !== undefined && untilMs !== undefined && untilMs < sinceMs)
    throw usageError(`--until ${until} is before --since ${since}`, 'Exchange the two, or give an earlier --since.');
  return { sinceMs, untilMs };
}

type TypedQuery = { [K in 'address' | 'token' | 'type' | 'webhook' | 'status']?: EventQuery[K] | undefined };

/** The query of typed options, addresses as the service writes them. */
export function makeEventQuery({ address, token, type, webhook, status }: TypedQuery): EventQuery {
  const normalize = (given: string | undefined) => (given === undefined ? undefined : normalizeAddress(given));
  return { type, webhook, status, address: normalize(address), token: normalize(token) };
}

/** Where a distributed inbox is: servers of one cluster, and its name there. */
export interface NatsAddress {
  /** `host:port` each. */
  servers: readonly string[];
  tls: boolean;
  /** The name of its stream. */
  name: string;
}

const example = 'nats://127.0.0.1:4222/INBOX, or several servers of a cluster: tls://a:4222,b:4222,c:4222/INBOX';
const defaultPort = 4222;

/** Reads `nats://host:4222,host:4222/NAME` or `tls://...`. Errors: `usage` naming the part that is wrong; a password in it is not repeated. */
export function readNatsAddress(text: string): NatsAddress {
  const refuse = (why: string) =>
    usageError(`--inbox ${/@/.test(text) ? '(hidden)' : redactText(text)}: ${why}`, `Such as ${example}.`);
  const [, scheme, hosts, path] = /^([a-z+]+):\/\/([^/]*)(?:\/(.*))?$/i.exec(text) ?? [];
  if (scheme === undefined || hosts === undefined) throw refuse('is not an address');
  if (scheme !== 'nats' && scheme !== 'tls') throw refuse(`${scheme}: must be nats or tls`);
  if (hosts.includes('@'))
    throw usageError(
      '--inbox: holds a user or a password, which other users on this machine could read',
      'Write two lines, user: <name> and password: <password>, to a file, and name it with --inbox-creds or SOTRA_NATS_CREDS.',
    );
  if (path === undefined || path === '') throw refuse('has no name of an inbox after the servers');
  if (!/^[\w-]{1,48}$/.test(path)) throw refuse('the name must be letters, digits, - and _, 48 at most');
  const servers = hosts.split(',').map((each) => {
    const [, host, port] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d+))?$/i.exec(each) ?? [];
    if (host === undefined) throw refuse(each === '' ? 'names no server' : `${each} is not a server`);
    const number = Number(port ?? defaultPort);
    if (number < 1 || number > 65_535) throw refuse(`${each}: a port is from 1 to 65535`);
    return `${host}:${number}`;
  });
  return { servers, tls: scheme === 'tls', name: path };
}
