import { Agent } from 'node:http';
import { dayMs } from '../api/duration.ts';
import { signatureHeader } from '../api/signature-header.ts';
import { computeBackoff, policies } from '../client/retry.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import type { Context } from '../context.ts';
import { type PostOutcome, postDelivery } from '../lib/post-delivery.ts';
import { nameEvents } from './events.ts';
import type { Delivery, Forwarding, ForwardOptions, ForwardTry, Inbox, Target } from './inbox.ts';

interface ForwarderOptions {
  inbox: Inbox;
  targets: readonly Target[];
  /** Its option `--retries` is how often a delivery is sent again before it is set aside; absent: for a day. */
  context: Context;
  onError: (error: unknown) => void;
  /** Called after each try, as `ForwardOptions` has it. */
  onTry?: ForwardOptions['onTry'];
}

/** 3xx and 4xx answers after which a delivery is set aside. */
const maxRefusals = 10;
const forwardMs = 30_000;

/** Forwards stored deliveries at least once, in order per webhook and target; one that is not accepted within a day is set aside. */
export async function startForwarder({
  inbox,
  targets,
  context,
  onError,
  onTry,
}: ForwarderOptions): Promise<Forwarding> {
  const { retries = Number.POSITIVE_INFINITY } = context.options;
  const agent = new Agent({ keepAlive: true });
  const report = createReporter(context);
  const forwarding = await inbox.forward({
    targets,
    onError,
    post: (delivery, { url }, signal) => forward(url, delivery, { answerMs: forwardMs, agent, signal }),
    policy: ({ tries, refusals, sinceMs, atMs }) =>
      tries > retries || refusals >= maxRefusals || atMs - sinceMs >= dayMs
        ? undefined
        : computeBackoff(policies.forward, tries),
    onTry: (made, waitMs) => {
      report(made, waitMs);
      onTry?.(made, waitMs);
    },
  });
  const stop = async () => {
    await forwarding.stop();
    agent.destroy();
  };
  return { ...forwarding, stop };
}

/** Prints each answer. Why a target does not accept a webhook is a warning when it changes, not for each try. */
function createReporter({ note, warn }: Context) {
  const lastErrors = new Map<string, string | null>();
  return ({ delivery, target, outcome, tries, ms }: ForwardTry, waitMs: number | undefined): void => {
    const name = hideUrlSecrets(target.url);
    const event = nameEvents(delivery.events);
    const { ok, status, error, unsendable } = outcome;
    const line = `-> ${status ?? error} in ${ms} ms ${name} ${event}`;
    const queue = `${name} ${delivery.webhook}`;
    const before = lastErrors.get(queue);
    lastErrors.set(queue, error);
    if (ok) note(line);
    else if (waitMs === undefined) {
      const why = unsendable ? 'cannot be sent' : 'was not accepted';
      const count = tries === 1 ? '' : ` in ${tries} tries`;
      warn(`${name}: ${event} ${why}${count} (${error}): set aside; sotra webhook replay --failed sends it again`);
    } else if (error !== before) warn(`${line}${describeRedirect(outcome)}; it is sent again`);
  };
}

/** The location of a redirect, which `line` lacks. */
function describeRedirect({ status, error }: PostOutcome): string {
  return status !== null && status >= 300 && status < 400 ? ` (${error})` : '';
}

/** Headers of a connection, not of the delivery (RFC 9110 7.6.1), and those that a new request sets itself. */
const connectionHeaders = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
];

export function headerPairs(headers: readonly string[]): { name: string; value: string }[] {
  return Array.from({ length: headers.length >> 1 }, (_, pair) => {
    const [name = '', value = ''] = headers.slice(2 * pair, 2 * pair + 2);
    return { name, value };
  });
}

/** The value of the signature header; several are one. */
export function signatureIn(headers: readonly string[]): string | undefined {
  const values = headerPairs(headers).flatMap(({ name, value }) =>
    name.toLowerCase() === signatureHeader ? [value] : [],
  );
  return values.length === 0 ? undefined : values.join(',');
}

/** The headers to forward, names and values in turn: without those of the connection and those that its `Connection` names. */
export function forwardedHeaders(headers: readonly string[]): string[] {
  const pairs = headerPairs(headers).map(({ name, value }) => ({ key: name.toLowerCase(), name, value }));
  const named = pairs.filter(({ key }) => key === 'connection').flatMap(({ value }) => value.toLowerCase().split(','));
  const dropped = new Set([...connectionHeaders, ...named.map((each) => each.trim())]);
  // Every receiver would refuse a delivery without its signature.
  dropped.delete(signatureHeader);
  return pairs.flatMap(({ key, name, value }) => (dropped.has(key) ? [] : [name, value]));
}

/** Sends one delivery, bytes and headers as they came. */
export function forward(
  url: string,
  { headers, body }: Delivery,
  options: { answerMs: number; agent?: Agent; signal?: AbortSignal },
): Promise<PostOutcome> {
  return postDelivery(url, { headers: forwardedHeaders(headers), body, ...options });
}
