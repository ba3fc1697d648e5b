import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import { signatureHeader } from '../api/signature-header.ts';
import { computeBackoff, policies } from '../client/retry.ts';
import { hideUrlSecrets } from '../client/url-secrets.ts';
import type { Context } from '../context.ts';
import type { Forward } from '../lib/forward.ts';
import { type PostOutcome, postDelivery } from '../lib/post-delivery.ts';
import type { Claim, Delivery, Inbox, Target } from './inbox.ts';

interface ForwarderOptions {
  inbox: Inbox;
  targets: readonly Target[];
  /** Its option `--retries` is how often a delivery is sent again before it is skipped; absent: until it is accepted. */
  context: Context;
  onDiskError: (error: unknown) => void;
}

/** Refusals (4xx) after which a delivery is skipped, so that it does not hold up the others. */
const maxRefusals = 10;
const forwardMs = 30_000;
const diskWaitMs = 1000;

/**
 * Forwards stored deliveries at least once, in order per webhook and target. The next start continues; a new target starts with the next
 * delivery. `broken` rejects where deliveries cannot be taken.
 */
export async function startForwarder({ inbox, targets, context, onDiskError }: ForwarderOptions) {
  const { note, warn, io, options } = context;
  const { sleep, now } = io;
  const retries = options.retries ?? Number.POSITIVE_INFINITY;
  const stopping = new AbortController();
  // One listener for each webhook and target.
  setMaxListeners(0, stopping.signal);
  const agent = new Agent({ keepAlive: true });
  const workers = new Set<Promise<void>>();
  const wait = (ms: number) => sleep(ms, stopping.signal).catch(() => undefined);

  /** Why a target does not take a webhook: said when it changes, not for each delivery. */
  const told = new Map<string, string | null>();

  /** How it ended; `undefined` where the forwarder stops before. */
  const send = async (
    { delivery, lost, failed }: Claim,
    { url }: Target,
  ): Promise<Omit<Forward, 'url'> | undefined> => {
    const name = hideUrlSecrets(url);
    const event = eventNames(delivery.events.map(({ eventId }) => eventId));
    let refusals = 0;
    const queue = `${name} ${delivery.webhook}`;
    for (let tries = 1; !stopping.signal.aborted && lost?.aborted !== true; tries += 1) {
      const sentMs = now();
      const outcome = await forward(url, delivery, { answerMs: forwardMs, agent, signal: stopping.signal });
      const atMs = now();
      const ms = atMs - sentMs;
      const { status, error } = outcome;
      const line = `-> ${status ?? error} in ${ms} ms ${name} ${event}`;
      const answer = { status, ms, tries, atMs };
      const skip = (why: string) => {
        warn(`${name}: ${event} ${why}: skipped; sotra webhook replay sends it again`);
        return { outcome: 'refused' as const, error, ...answer };
      };
      if (outcome.ok) {
        told.delete(queue);
        note(line);
        return { outcome: 'forwarded', error: null, ...answer };
      }
      if (stopping.signal.aborted) return undefined;
      if (outcome.unsendable) return skip(`cannot be sent (${error})`);
      if (tries > retries) return skip(`was not accepted (${error})`);
      if (error !== told.get(queue)) warn(`${line}; it is sent again until it is accepted`);
      told.set(queue, error);
      if (isRefusal(status ?? 0)) refusals += 1;
      if (refusals >= maxRefusals) return skip(`is refused (${error})`);
      const waitMs = computeBackoff(policies.forward, tries);
      failed({ status, tries, atMs, error: error ?? '', nextMs: atMs + waitMs });
      await wait(waitMs);
    }
    return undefined;
  };
  /** On a full disk the webhook waits: without its mark a delivery would be sent twice after a restart. */
  const settle = async (claim: Claim, forwarded: Omit<Forward, 'url'>): Promise<void> => {
    for (;;)
      try {
        return await claim.settle(forwarded);
      } catch (error) {
        onDiskError(error);
        if (stopping.signal.aborted) return;
        await wait(diskWaitMs);
      }
  };
  const work = async (claim: Claim, target: Target): Promise<void> => {
    const forwarded = await send(claim, target);
    if (forwarded === undefined) claim.release();
    else await settle(claim, forwarded);
  };
  const takeAll = async (target: Target): Promise<void> => {
    for await (const claim of inbox.take(target, stopping.signal)) {
      const worker: Promise<void> = work(claim, target)
        .catch((error) => {
          warn(`${hideUrlSecrets(target.url)}: ${error}; the next start forwards what waits`);
          claim.release();
        })
        .finally(() => workers.delete(worker));
      workers.add(worker);
    }
  };
  await inbox.addTargets(targets);
  const taking = targets.map(takeAll);
  const broken = Promise.all(taking).then(() => new Promise<never>(() => undefined));
  broken.catch(() => undefined);
  return {
    broken,
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(taking);
      await Promise.allSettled(workers);
      agent.destroy();
    },
  };
}

/** A client error that is not about the moment. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}

function eventNames(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : '';
  return `event ${ids.slice(0, 3).join(', ')}${more}`;
}

/** Headers of a connection, not of the delivery (RFC 9110 7.6.1), and those that a new request sets itself. */
const connectionHeaders = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'host', 'content-length', 'expect'],
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
  // Without its signature every receiver would refuse it.
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
