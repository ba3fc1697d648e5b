import { expect } from 'vitest';
import type { Claim, Delivery, EventQuery, Inbox, Target } from '../../src/webhooks/inbox.ts';
import { until } from './until.ts';

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

/** Takes deliveries of a target until told to stop; a claim stays held until the test settles it. */
function taking(inbox: Inbox, target: Target) {
  const stopping = new AbortController();
  const claims: Claim[] = [];
  const ended = (async () => {
    for await (const claim of inbox.take(target, stopping.signal)) claims.push(claim);
  })();
  ended.catch(() => undefined);
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  const taken = () => claims.map(({ delivery }) => delivery.events[0]?.eventId);
  return { claims, taken, stop, ended };
}

const taken = { outcome: 'forwarded', status: 200, ms: 5, tries: 1, error: null, atMs: hour + 40 } as const;
const refused = { outcome: 'refused', status: 400, ms: 7, tries: 10, error: 'HTTP 400', atMs: hour + 50 } as const;
const target = { url: 'http://127.0.0.1:1/in' };

add('a try that failed is known to others until the delivery is taken', async (open) => {
  const [inbox, reader] = [await open(), await open()];
  const target = { url: 'http://user:pass@127.0.0.1:1/in' };
  await inbox.addTargets([target]);
  const { claims, stop } = taking(inbox, target);
  await inbox.store([deliveryOf('one')]);
  await until(() => claims.length === 1);
  claims[0]?.failed({ status: 500, error: 'HTTP 500', tries: 2, atMs: hour + 5, nextMs: hour + 25 });
  const failed = { status: 500, error: 'HTTP 500', tries: 2, atMs: hour + 5, nextMs: hour + 25 };
  const shown = { ...failed, url: 'http://***@127.0.0.1:1/in', webhook: '/hook#1', arrivedMs: hour };
  await expect.poll(() => reader.retries()).toMatchObject([shown]);
  await claims[0]?.settle({ outcome: 'forwarded', status: 200, ms: 5, tries: 3, error: null, atMs: hour + 30 });
  await expect.poll(() => reader.retries()).toEqual([]);
  await stop();
});

add('each event is stored once, in one batch, in two, and beside a new one', async (open) => {
  const inbox = await open();
  const [first, again, mixed] = await inbox.store([deliveryOf('a'), deliveryOf('a'), deliveryOf(['a', 'b', 'b'])]);
  expect(first?.events.map(({ eventId }) => eventId)).toEqual(['a']);
  expect(again).toBeUndefined();
  expect(mixed?.events.map(({ eventId }) => eventId)).toEqual(['b']);
  expect(await inbox.store([deliveryOf('b')])).toEqual([undefined]);
  expect(await inbox.count()).toBe(2);
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
  await inbox.store([deliveryOf('before')]);
  await inbox.addTargets([target]);
  await inbox.store([deliveryOf('a1'), deliveryOf('b1', { webhook: '/b#1' }), deliveryOf('a2')]);
  const { claims, taken: ids, stop } = taking(inbox, target);
  const claimOf = (id: string) => claims[ids().indexOf(id)];
  await until(() => claims.length === 2);
  await inbox.store([deliveryOf('b2', { webhook: '/b#1' })]);
  // Between webhooks there is no order.
  expect(ids().sort()).toEqual(['a1', 'b1']);
  await claimOf('b1')?.settle(taken);
  await until(() => claims.length === 3);
  await claimOf('a1')?.settle(refused);
  await until(() => claims.length === 4);
  expect(ids().slice(2)).toEqual(['b2', 'a2']);
  expect(await inbox.waiting([target])).toBeGreaterThanOrEqual(2);
  for (const claim of claims.slice(2)) await claim.settle(taken);
  await stop();
});

add('what was settled is not taken again, what was not is, and both are told by the events', async (open) => {
  const inbox = await open();
  await inbox.store([deliveryOf('unforwarded')]);
  await inbox.addTargets([target]);
  await inbox.store(['a', 'b', 'c'].map((id) => deliveryOf(id)));
  const first = taking(inbox, target);
  await until(() => first.claims.length === 1);
  await first.claims[0]?.settle(taken);
  await until(() => first.claims.length === 2);
  await first.claims[1]?.settle(refused);
  await until(() => first.claims.length === 3);
  first.claims[2]?.release();
  await first.stop();
  await inbox.close();
  const again = await open();
  const second = taking(again, target);
  await until(() => second.claims.length === 1);
  expect(second.taken()).toEqual(['c']);
  second.claims[0]?.release();
  await second.stop();
  const events: unknown[] = [];
  for await (const { eventId, status, forwards } of again.events({})) events.push([eventId, status, forwards]);
  expect(events).toEqual([
    ['c', 'waiting', []],
    ['b', 'refused', [{ url: target.url, ...refused }]],
    ['a', 'forwarded', [{ url: target.url, ...taken }]],
    ['unforwarded', null, []],
  ]);
  expect(await idsOf(again, { status: 'waiting' })).toEqual(['c']);
  expect(await idsOf(again, { status: 'refused' })).toEqual(['b']);
  expect(await idsOf(again, { status: 'forwarded' })).toEqual(['a']);
  expect(await again.waiting([target])).toBe(1);
});

add('a target of one type gets deliveries with such events alone', async (open) => {
  const inbox = await open();
  const copies = { ...target, eventType: 'copyswap' };
  await inbox.addTargets([copies]);
  await inbox.store([deliveryOf('a'), deliveryOf('b', { type: 'copyswap' }), deliveryOf('c')]);
  const { claims, taken: ids, stop } = taking(inbox, copies);
  await until(() => claims.length === 1);
  expect(ids()).toEqual(['b']);
  expect(await inbox.waiting([copies])).toBe(1);
  await claims[0]?.settle(taken);
  await stop();
  expect(await inbox.waiting([copies])).toBe(0);
});

add(
  'a target with conditions gets deliveries that fit them alone, and others of its address get theirs',
  async (open) => {
    const inbox = await open();
    const [its, rest] = [{ ...target, where: `address=${wallet} and token=${token}` }, target];
    await inbox.addTargets([its, rest]);
    const third = '0x4444444444444444444444444444444444444444';
    await inbox.store([deliveryOf('a'), deliveryOf('b', { wallet: third }), deliveryOf('c', { token: third })]);
    expect([await inbox.waiting([its]), await inbox.waiting([rest])]).toEqual([1, 3]);
    const { claims, taken: ids, stop } = taking(inbox, its);
    await until(() => claims.length === 1);
    expect(ids()).toEqual(['a']);
    await claims[0]?.settle(taken);
    await stop();
    expect([await inbox.waiting([its]), await inbox.waiting([rest])]).toEqual([0, 3]);
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
