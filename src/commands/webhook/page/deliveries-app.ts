import { isWalletAddress } from '../../../api/address.ts';
import { isHttpAddress, suggestScheme } from '../../../api/http-address.ts';
import { isObject } from '../../../api/json.ts';
import { curlLine, deliveryRequest } from '../../../client/preview.ts';
import { hideUrlSecrets } from '../../../client/secrets.ts';
import { argumentWord, flagWords, shellLine } from '../../../client/shell.ts';
import type { Context } from '../../../context.ts';
import { readMessage, usageError } from '../../../errors.ts';
import type { Retry } from '../../../lib/forward.ts';
import type {
  DeliveryList,
  DeliveryRow,
  PageFacts,
  PageStatus,
  RefusedRow,
  ReplayOutcome,
  ShownCommand,
  ShownDelivery,
  ShownForward,
  ShownRefusal,
  ShownRequest,
} from '../../../pages/deliveries.ts';
import { createLiveLog } from '../../../pages/live-log.ts';
import type { WebApp } from '../../../pages/serve.ts';
import { findTrader } from '../../../webhooks/events.ts';
import { forward, forwardedHeaders, headerPairs, signatureIn } from '../../../webhooks/forward.ts';
import { type EventQuery, eventStatuses, type Inbox, type StoredEvent, type Target } from '../../../webhooks/inbox.ts';
import type { RefusedRequest } from '../../../webhooks/listener.ts';
import { makeEventQuery } from '../../../webhooks/query.ts';
import { isToken } from '../../../webhooks/route.ts';
import { makeEventRow } from '../event-view.ts';
import type { InboxPlace } from '../open-inbox.ts';
import { type NamedSecret, verificationSteps } from './verification.ts';

export interface PageOptions {
  inbox: Inbox;
  place: InboxPlace;
  secrets: readonly NamedSecret[];
  toleranceMs: number | undefined;
  /** Where deliveries are received. */
  listensOn: string;
  targets: readonly Target[];
  context: Context;
}

/** The latest refused requests are kept, and no more: anybody may send them, and many. */
const maxRefused = 200;
const maxRows = 10_000;
/** Of a body, what is shown. */
const shownBytes = 256 * 1024;

/** The page of what an inbox holds, live. `addRefused` shows a request that was refused; `broken` rejects where the inbox cannot be read. */
export function createDeliveriesApp(options: PageOptions & { hasService: boolean }) {
  const { inbox, place, context, targets, listensOn } = options;
  const { io } = context;
  const live = createLiveLog();
  const refused: (RefusedRequest & { number: number })[] = [];
  let refusedCount = 0;
  const stop = new AbortController();
  const follow = async () => {
    for await (const event of inbox.follow({}, stop.signal)) live.add('row', deliveryRow(event));
  };
  const following = follow();
  const broken = following.then(() => new Promise<never>(() => undefined));
  broken.catch(() => undefined);
  const line = (words: string, flags: Readonly<Record<string, string | undefined>> = {}) =>
    commandLine(words, { ...flags, name: place.name, inbox: place.inbox });

  const find = async (id: string | null): Promise<StoredEvent> => {
    if (id !== null) for await (const event of inbox.events({ idStart: id })) if (event.eventId === id) return event;
    throw usageError(`event ${id}: is not stored any more`);
  };
  const list = async (query: URLSearchParams): Promise<DeliveryList> => {
    const asked = parseFilters(query);
    const text = query.get('text')?.toLowerCase() ?? '';
    const rows: DeliveryRow[] = [];
    let hasMore = false;
    for await (const event of inbox.events(asked)) {
      if (!holdsText(event, text)) continue;
      hasMore = rows.length === maxRows;
      if (hasMore) break;
      rows.push(deliveryRow(event));
      // The listener answers in between.
      if (rows.length % 250 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const { type, address, token, webhook, status } = asked;
    const flags = { type, address, token, webhook, status };
    return { rows, hasMore, commands: [{ name: 'This list', line: line('webhook events', flags) }] };
  };
  const makeShownRequest = (
    from: Pick<RefusedRequest, 'atMs' | 'headers' | 'body'>,
    storedSecret?: string,
  ): ShownRequest => ({
    atMs: from.atMs,
    headers: headerPairs(from.headers),
    body: from.body?.subarray(0, shownBytes).toString('base64') ?? null,
    bodyBytes: from.body?.length ?? null,
    verification: verificationSteps(
      { header: signatureIn(from.headers), body: from.body, atMs: from.atMs, ...(storedSecret && { storedSecret }) },
      options,
    ),
  });
  const show = async (query: URLSearchParams): Promise<ShownDelivery> => {
    const [event, retries] = [await find(query.get('id')), await inbox.retries()];
    const { delivery, forwards, eventId } = event;
    const to = forwards[0]?.url ?? targets[0]?.url ?? 'http://127.0.0.1:3000/hook';
    const commands: ShownCommand[] = [
      { name: 'This event', line: line(`webhook show ${argumentWord(eventId)}`) },
      { name: 'Send it again', line: line(`webhook replay ${argumentWord(eventId)}`, { to: hideUrlSecrets(to) }) },
    ];
    const { body, headers, webhook } = delivery;
    if (body.length <= shownBytes) {
      const request = deliveryRequest(hideUrlSecrets(to), forwardedHeaders(headers), body.toString());
      commands.push({ name: 'As curl', line: curlLine(request).trim() });
    }
    return {
      row: deliveryRow(event),
      ...makeShownRequest(delivery, webhook.slice(webhook.lastIndexOf('#') + 1)),
      forwards: describeForwards(event, knownTargets(event, retries), retries),
      commands,
      links: options.hasService ? makeLinks(event.event) : [],
    };
  };
  /** Where deliveries of a webhook go, as far as it is known here. */
  const knownTargets = ({ forwards, delivery }: StoredEvent, retries: readonly Retry[]): string[] => {
    const failing = retries.filter(({ webhook }) => webhook === delivery.webhook);
    // Of those that are stored a secret may be hidden already.
    const urls = [...targets, ...forwards, ...failing].map(({ url }) => url);
    return urls.filter(
      (url, index) => urls.findIndex((other) => hideUrlSecrets(other) === hideUrlSecrets(url)) === index,
    );
  };
  const replay = async (body: unknown): Promise<ReplayOutcome> => {
    const { id, to: shown } = isObject(body) ? body : {};
    const event = await find(String(id));
    const { delivery } = event;
    // A secret in the address of a known one is not on the page.
    const to = knownTargets(event, await inbox.retries()).find((url) => hideUrlSecrets(url) === shown) ?? shown;
    if (typeof to !== 'string' || !isHttpAddress(to))
      throw usageError(
        `target ${String(to).slice(0, 200)}: must be an http or https address${suggestScheme(String(to))}`,
      );
    const startedMs = io.now();
    const sent = { answerMs: context.options.timeoutMs, signal: AbortSignal.any([io.signal, stop.signal]) };
    const { ok: taken, status, error } = await forward(to, delivery, sent);
    return { taken, status, error, ms: io.now() - startedMs };
  };
  const readStatus = async (): Promise<PageStatus> => ({
    stored: (await inbox.summary()).stored,
    waiting: await inbox.waiting(targets),
    retries: (await inbox.retries()).map((each) => ({ ...each, url: hideUrlSecrets(each.url) })),
  });
  const showRefused = async (query: URLSearchParams): Promise<ShownRefusal> => {
    const found = refused.find(({ number }) => number === Number(query.get('number')));
    if (found === undefined) throw usageError('this request is not kept any more', 'The latest 200 are.');
    return { row: refusedRow(found), ...makeShownRequest(found) };
  };
  const facts = async (): Promise<PageFacts> => ({
    inbox: inbox.name,
    listensOn,
    targets: targets.map(({ url }) => hideUrlSecrets(url)),
  });
  const rows = async (query: URLSearchParams): Promise<DeliveryRow[]> => {
    const found: DeliveryRow[] = [];
    for (const id of query.getAll('id').slice(0, 100)) {
      const event = await find(id).catch(() => undefined);
      if (event !== undefined) found.push(deliveryRow(event));
    }
    return found;
  };
  const app: WebApp = {
    name: 'deliveries',
    title: 'Deliveries · sotra',
    live,
    routes: {
      'GET facts': facts,
      'GET list': list,
      'GET rows': rows,
      'GET event': show,
      'GET status': readStatus,
      'GET refused': async () => refused.map(refusedRow).reverse(),
      'GET refused-request': showRefused,
      'POST replay': (_, body) => replay(body),
    },
  };
  return {
    app,
    broken,
    addRefused: (request: RefusedRequest) => {
      refusedCount += 1;
      const kept = { ...request, number: refusedCount };
      refused.push(kept);
      if (refused.length > maxRefused) refused.shift();
      live.add('refused', refusedRow(kept));
    },
    stop: async () => {
      stop.abort();
      await following.catch((error: unknown) => context.warn(readMessage(error)));
    },
  };
}

function describeForwards(
  { delivery, forwards, status }: StoredEvent,
  urls: readonly string[],
  retries: readonly Retry[],
): ShownForward[] {
  return urls.map(hideUrlSecrets).map((url) => {
    const isTo = (each: { url: string }) => hideUrlSecrets(each.url) === url;
    const ended = forwards.find(isTo);
    if (ended !== undefined) return { ...ended, url, state: ended.outcome, nextMs: null };
    const failing = retries.find((each) => isTo(each) && each.webhook === delivery.webhook);
    if (failing?.seq === delivery.seq) return { ...failing, url, state: 'waiting', ms: null };
    const none = { url, status: null, tries: 0, ms: null, atMs: null, nextMs: null };
    if (status !== 'waiting') return { ...none, state: null, error: null };
    return {
      ...none,
      state: 'waiting',
      error: failing === undefined ? null : 'queued behind one that is not accepted',
    };
  });
}

/** Where the page of the service shows the trader of an event. */
function makeLinks(event: Record<string, unknown>): ShownDelivery['links'] {
  const trader = findTrader(event);
  return trader === undefined ? [] : [{ name: 'Trader', href: `/service#/trader/${encodeURIComponent(trader)}` }];
}

function deliveryRow(event: StoredEvent): DeliveryRow {
  const { eventId: id, eventType: type, webhook, about, status } = makeEventRow(event);
  return { id, type, atMs: event.delivery.atMs, webhook, about, status };
}

function refusedRow({ number, atMs, method, path, status, reason }: RefusedRequest & { number: number }): RefusedRow {
  return { number, atMs, method, path: path.slice(0, 500), status, reason };
}

function holdsText({ event, eventId, delivery }: StoredEvent, text: string): boolean {
  return text === '' || `${eventId} ${delivery.webhook} ${JSON.stringify(event)}`.toLowerCase().includes(text);
}

/** Errors: `usage` naming the filter. */
function parseFilters(query: URLSearchParams): EventQuery {
  const given = (key: string) => query.get(key)?.trim() || undefined;
  const [address, token, status] = [given('wallet'), given('token'), given('status')];
  if (address !== undefined && !isWalletAddress(address) && !address.startsWith('ext:'))
    throw usageError(`wallet ${address.slice(0, 80)}: must be an EVM or Solana address or ext:<id>`);
  if (token !== undefined && !isToken(token))
    throw usageError(`token ${token.slice(0, 80)}: must be an EVM or Solana address, or a coin`);
  const [type, webhook] = [given('type'), given('webhook')];
  return makeEventQuery({ type, webhook, address, token, status: eventStatuses.find((each) => each === status) });
}

function commandLine(words: string, flags: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(flags).flatMap(([flag, value]) =>
    value === undefined ? [] : [shellLine(flagWords(`--${flag}`, value))],
  );
  return ['sotra', words, ...given].join(' ');
}
