import { expect } from 'vitest';
import type { PostOutcome } from '../../src/lib/post-delivery.ts';
import type { Delivery, EventQuery, Inbox, StoredDelivery, Target } from '../../src/webhooks/inbox.ts';
import { until } from './harness.ts';

/** Opens the same inbox once more, as another process would; the first of a case is new and the one that listens. */
type OpenInbox = () => Promise<Inbox>;

interface InboxCase {
  name: string;
  run: (open: OpenInbox) => Promise<void>;
}

const cases: InboxCase[] = [];
const add = (name: string, run: InboxCase['run']) => void cases.push({ name, run });

const hour = Date.UTC(2026, 6, 3, 12);
const [wallet, other] = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222'];
const token = '0x3333333333333333333333333333333333333333';

interface Given {
  webhook?: string;
  atMs?: number;
  type?: string;
  wallet?: string;
  token?: string;
}

function eventOf(eventId: string, given: Given) {
  const metadata = { tokenAddress: given.token ?? token };
  const feedItem = { actor: { address: given.wallet ?? wallet }, metadata };
  return { eventId, eventType: given.type ?? 'new-feed-item', walletAddresses: [other], feedItem };
}

function deliveryOf(ids: string | readonly string[], given: Given = {}): Delivery {
  const events = [ids].flat().map((id) => eventOf(id, given));
  const headers = ['Daylight-Signature', 't=1,v1=x', 'X-Two', 'a', 'x-two', 'b'];
  return {
    webhook: given.webhook ?? '/hook#1',
    atMs: given.atMs ?? hour,
    headers,
    body: Buffer.from(JSON.stringify({ events })),
  };
}

async function idsOf(inbox: Inbox, query: EventQuery = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const { eventId } of inbox.events(query)) ids.push(eventId);
  return ids;
}

/** Forwards to a target until told to stop; each delivery waits until the test answers it. A failed one is not tried again within the test, or set aside. */
async function forwarding(inbox: Inbox, target: Target) {
  const posted: { delivery: StoredDelivery; answer: (status: number) => void }[] = [];
  const { stop } = await inbox.forward({
    targets: [target],
    post: (delivery, _, signal) =>
      new Promise<PostOutcome>((resolve) => {
        const answer = (status: number) => resolve(outcomeOf(status));
        signal.addEventListener('abort', () => resolve({ ...outcomeOf(0), status: null }));
        posted.push({ delivery, answer });
      }),
    policy: ({ outcome }) => (outcome.status === 400 ? undefined : 60_000),
    onTry: () => undefined,
    onError: (error) => expect.fail(String(error)),
  });
  return { posted, stop, ids: () => posted.map(({ delivery }) => delivery.events[0]?.eventId) };
}

const outcomeOf = (status: number): PostOutcome => {
  const ok = status === 200;
  return { ok, status, error: ok ? null : `HTTP ${status}`, late: false, unsendable: false };
};
const target = { url: 'http://127.0.0.1:1/in' };

add('each event is stored once, in one batch, in two, and beside a new one', async (open) => {
  const inbox = await open();
  const [first, again, mixed] = await inbox.store([deliveryOf('a'), deliveryOf('a'), deliveryOf(['a', 'b', 'b'])]);
  expect(first?.events.map(({ eventId }) => eventId)).toEqual(['a']);
  expect(again).toBeUndefined();
  expect(mixed?.events.map(({ eventId }) => eventId)).toEqual(['b']);
  expect(await inbox.store([deliveryOf('b')])).toEqual([undefined]);
  expect((await inbox.summary()).stored).toBe(2);
  const second = await open();
  expect(await idsOf(second)).toEqual(['b', 'a']);
});

add('many at once are stored once, and numbered in the order of each webhook', async (open) => {
  const inbox = await open();
  const ids = Array.from({ length: 300 }, (_, index) => `e${index % 150}`);
  const stored = await Promise.all(ids.map(async (id) => (await inbox.store([deliveryOf(id)]))[0]));
  expect(stored.filter((each) => each !== undefined)).toHaveLength(150);
  const seqs = stored.flatMap((each) => each?.seq ?? []);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  expect(await idsOf(inbox)).toHaveLength(150);
});

add('bytes and headers come back as they were, also of what is no JSON', async (open) => {
  const inbox = await open();
  const bodies = [Buffer.from([0, 255, 10, 128]), Buffer.alloc(0), Buffer.alloc(200_000, 'x'), deliveryOf('é').body];
  await inbox.store(bodies.map((body) => ({ ...deliveryOf('a'), body })));
  const seen: { headers: readonly string[]; body: Buffer }[] = [];
  for await (const { headers, body } of inbox.deliveries({})) seen.push({ headers, body });
  expect(seen.map(({ body }) => body.toString('base64'))).toEqual(bodies.map((body) => body.toString('base64')));
  expect(seen[3]?.headers).toEqual(['Daylight-Signature', 't=1,v1=x', 'X-Two', 'a', 'x-two', 'b']);
});

add('events are found by time, type, address, token, webhook and the start of an id', async (open) => {
  const inbox = await open();
  await inbox.store([
    deliveryOf('aa', { atMs: hour }),
    deliveryOf('ab', { atMs: hour + 60_000, type: 'copyswap', webhook: '/hook#2' }),
    deliveryOf('b', { atMs: hour + 7_200_000, wallet: other, token: wallet, webhook: '/two#1' }),
  ]);
  expect(await idsOf(inbox, { sinceMs: hour + 60_000 })).toEqual(['b', 'ab']);
  expect(await idsOf(inbox, { untilMs: hour + 60_000 })).toEqual(['ab', 'aa']);
  expect(await idsOf(inbox, { sinceMs: hour + 1, untilMs: hour + 60_000 })).toEqual(['ab']);
  expect(await idsOf(inbox, { type: 'copyswap' })).toEqual(['ab']);
  expect(await idsOf(inbox, { address: wallet })).toEqual(['ab', 'aa']);
  expect(await idsOf(inbox, { address: other })).toEqual(['b', 'ab', 'aa']);
  expect(await idsOf(inbox, { token: wallet })).toEqual(['b']);
  expect(await idsOf(inbox, { token: wallet, address: wallet })).toEqual([]);
  expect(await idsOf(inbox, { webhook: '/hook#2' })).toEqual(['ab']);
  expect(await idsOf(inbox, { webhook: '/hook' })).toEqual(['ab', 'aa']);
  expect(await idsOf(inbox, { webhook: '/nowhere' })).toEqual([]);
  expect((await idsOf(inbox, { idStart: 'a' })).sort()).toEqual(['aa', 'ab']);
});

add('a target gets what comes after it was added, one of each webhook at a time, in order', async (open) => {
  const inbox = await open();
  await inbox.store([deliveryOf('before', { webhook: '/a#1' })]);
  expect(await inbox.addTargets([target])).toEqual([target]);
  expect(await inbox.addTargets([target])).toEqual([]);
  await inbox.store(['a1', 'a2', 'b1'].map((id) => deliveryOf(id, { webhook: `/${id[0]}#1` })));
  const { posted, ids, stop } = await forwarding(inbox, target);
  const answer = (id: string, status: number) => posted[ids().indexOf(id)]?.answer(status);
  await until(() => posted.length === 2);
  await inbox.store([deliveryOf('b2', { webhook: '/b#1' })]);
  // Between webhooks there is no order.
  expect(ids().sort()).toEqual(['a1', 'b1']);
  answer('b1', 200);
  await until(() => posted.length === 3);
  answer('a1', 400);
  await until(() => posted.length === 4);
  expect(ids().slice(2)).toEqual(['b2', 'a2']);
  expect(await inbox.waiting([target])).toBeGreaterThanOrEqual(2);
  answer('b2', 200);
  answer('a2', 200);
  await expect.poll(() => inbox.waiting([target])).toBe(0);
  await stop();
});

add('forwarding that is stopped as it begins ends', async (open) => {
  const inbox = await open();
  await inbox.addTargets([target]);
  const { stop, posted } = await forwarding(inbox, target);
  await stop();
  expect(posted).toEqual([]);
});

add('following that is stopped as it begins ends', async (open) => {
  const inbox = await open();
  const stop = new AbortController();
  const next = inbox.follow({}, stop.signal)[Symbol.asyncIterator]().next();
  stop.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

add('what ended is not posted again, what did not is, and the events have the status of each', async (open) => {
  const inbox = await open();
  await inbox.store([deliveryOf('unforwarded')]);
  await inbox.addTargets([target]);
  await inbox.store(['a', 'b', 'c'].map((id) => deliveryOf(id)));
  const first = await forwarding(inbox, target);
  for (const [index, status] of [200, 400].entries()) {
    await until(() => first.posted.length === index + 1);
    first.posted[index]?.answer(status);
  }
  await until(() => first.posted.length === 3);
  await first.stop();
  await inbox.close();
  const again = await open();
  const second = await forwarding(again, target);
  await until(() => second.posted.length === 1);
  expect(second.ids()).toEqual(['c']);
  await second.stop();
  const events: unknown[] = [];
  for await (const { eventId, status, forwards } of again.events({})) {
    const failed = forwards.filter(({ outcome }) => outcome === 'failed');
    events.push([eventId, status, failed.map(({ url, tries, error }) => [url, tries, error])]);
  }
  const isLocal = !again.isStream;
  // The consumers of a stream know what waits and what was forwarded, and the events do not.
  expect(events).toEqual([
    ['c', isLocal ? 'waiting' : null, []],
    ['b', 'failed', [[target.url, 1, 'HTTP 400']]],
    ['a', isLocal ? 'forwarded' : null, []],
    ['unforwarded', null, []],
  ]);
  expect(await idsOf(again, { status: 'waiting' })).toEqual(isLocal ? ['c'] : []);
  expect(await idsOf(again, { status: 'failed' })).toEqual(['b']);
  expect(await idsOf(again, { status: 'forwarded' })).toEqual(isLocal ? ['a'] : []);
  expect([await again.waiting([target]), await again.failed()]).toEqual([1, 1]);
});

add('what was set aside is found, and is not any more once it is settled', async (open) => {
  const inbox = await open();
  await inbox.addTargets([target]);
  await inbox.store(['a', 'b'].map((id) => deliveryOf(id)));
  const { posted, stop } = await forwarding(inbox, target);
  await until(() => posted.length === 1);
  posted[0]?.answer(400);
  await until(() => posted.length === 2);
  posted[1]?.answer(200);
  await expect.poll(() => inbox.waiting([target])).toBe(0);
  await stop();
  const failed: StoredDelivery[] = [];
  for await (const delivery of inbox.deliveries({ failed: true })) failed.push(delivery);
  expect(failed.map(({ events }) => events[0]?.eventId)).toEqual(['a']);
  for (const delivery of failed) await inbox.markAccepted(delivery);
  expect(await idsOf(inbox, { status: 'failed' })).toEqual([]);
  expect(await inbox.failed()).toBe(0);
});

add(
  'a target with conditions gets deliveries that fit them alone, and others of its address get theirs',
  async (open) => {
    const inbox = await open();
    const third = '0x4444444444444444444444444444444444444444';
    const its = { ...target, where: `address=${wallet} and token=${token}` };
    const copies = { ...target, eventType: 'copyswap' };
    const before = await open();
    await before.addTargets([its, copies]);
    await before.close();
    await inbox.store([
      deliveryOf('a', { wallet: third }),
      deliveryOf('b'),
      deliveryOf('c', { token: third }),
      deliveryOf('d', { wallet: third, type: 'copyswap' }),
    ]);
    for (const [to, id] of [
      [its, 'b'],
      [copies, 'd'],
    ] as const) {
      const inboxOf = await open();
      const { posted, ids, stop } = await forwarding(inboxOf, to);
      await until(() => posted.length === 1);
      expect(ids()).toEqual([id]);
      posted[0]?.answer(200);
      await expect.poll(() => inbox.waiting([to])).toBe(0);
      expect(posted).toHaveLength(1);
      await stop();
      await inboxOf.close();
    }
  },
);

add('new events are followed from elsewhere as they come', async (open) => {
  const inbox = await open();
  await inbox.store([deliveryOf('old')]);
  const reader = await open();
  const stopping = new AbortController();
  const seen: string[] = [];
  const ended = (async () => {
    for await (const { eventId } of reader.follow({ type: 'copyswap' }, stopping.signal)) seen.push(eventId);
  })();
  const types = ['copyswap', 'new-feed-item', 'copyswap'];
  await inbox.store(types.map((type, index) => deliveryOf(`e${index}`, { type })));
  await until(() => seen.length === 2);
  expect(seen).toEqual(['e0', 'e2']);
  stopping.abort();
  await ended;
});

add('deliveries are replayed oldest first, by time or by ids', async (open) => {
  const inbox = await open();
  await inbox.store(['a', 'b', 'c'].map((id, index) => deliveryOf(id, { atMs: hour + index })));
  const replay = async (query: Parameters<Inbox['deliveries']>[0]) => {
    const ids: (string | undefined)[] = [];
    for await (const { events } of inbox.deliveries(query)) ids.push(events[0]?.eventId);
    return ids;
  };
  expect(await replay({ sinceMs: hour + 1 })).toEqual(['b', 'c']);
  expect(await replay({ ids: ['c', 'a', 'nobody'] })).toEqual(['a', 'c']);
});

/** What every inbox does. */
export const inboxCases: readonly InboxCase[] = cases;
