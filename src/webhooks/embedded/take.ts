import { type EventEmitter, once } from 'node:events';
import type { Claim, StoredDelivery } from '../inbox.ts';
import { readDelivery, readWebhooks } from './rows.ts';
import type { Store } from './store.ts';
import type { NewDelivery, Writer } from './writer.ts';

/** What happens in a store: a delivery that this process stored, something that others did; after either, a change. */
export type StoreNews = EventEmitter<{ stored: [NewDelivery]; others: []; change: [] }>;

/** Resolves at the next change, or with the signal. */
export async function awaitChange(news: StoreNews, signal: AbortSignal): Promise<void> {
  await once(news, 'change', { signal }).catch(() => undefined);
}

/** The deliveries of one webhook for one target. */
interface Lane {
  webhookId: number;
  webhook: string;
  /** In hand, in order; behind them come those that wait in the store, if `hasMore`. */
  hand: StoredDelivery[];
  hasMore: boolean;
  /** The last one that came out, or lies in hand. */
  last: number;
  isBusy: boolean;
}

/** What one target may have in hand; the rest is read when its turn comes. */
const maxHandBytes = 16 * 1024 * 1024;

interface TakeOptions {
  store: Store;
  writer: Writer;
  news: StoreNews;
  now: () => number;
  signal: AbortSignal;
}

/** Hands a target one delivery of each webhook at a time: those that were just stored as they are, the others from the store. */
export async function* takeDeliveries(
  targetId: number,
  { store, writer, news, now, signal }: TakeOptions,
): AsyncGenerator<Claim> {
  const { db } = store;
  const lanes = new Map<number, Lane>();
  const due = new Set<Lane>();
  let handBytes = 0;
  const findLane = (webhookId: number, webhook: string): Lane => {
    const lane = lanes.get(webhookId) ?? { webhookId, webhook, hand: [], hasMore: false, last: 0, isBusy: false };
    lanes.set(webhookId, lane);
    due.add(lane);
    return lane;
  };
  const next = (lane: Lane): StoredDelivery | undefined => {
    const inHand = lane.hand.shift();
    handBytes -= inHand?.body.length ?? 0;
    if (inHand !== undefined) return inHand;
    while (lane.hasMore) {
      const sql = 'SELECT min(seq) FROM waiting WHERE target_id = ? AND webhook_id = ? AND seq > ?';
      const seq = db.value<number>(sql, [targetId, lane.webhookId, lane.last]);
      lane.hasMore = seq !== undefined;
      if (seq === undefined) break;
      lane.last = seq;
      const delivery = readDelivery(store, seq);
      if (delivery !== undefined) return delivery;
      giveUp(lane, seq);
    }
    return undefined;
  };
  /** A delivery that cannot be read would wait for ever. */
  const giveUp = ({ webhookId, webhook }: Lane, seq: number): void => {
    const delivery = { seq, webhook, atMs: now(), headers: [], body: Buffer.alloc(0), events: [] };
    const forward = { status: null, ms: 0, tries: 0, error: 'it cannot be read', atMs: now() };
    writer.settle({ targetId, webhookId, delivery }, { outcome: 'refused', ...forward });
  };
  const makeClaim = (lane: Lane, delivery: StoredDelivery): Claim => {
    const place = { targetId, webhookId: lane.webhookId, delivery };
    let isMarked = false;
    return {
      delivery,
      settle: async (forward) => {
        if (!isMarked) writer.settle(place, forward);
        isMarked = true;
        writer.settled();
        lane.isBusy = false;
        due.add(lane);
        news.emit('change');
      },
      failed: (failedTry) => writer.retry(place, failedTry),
      release: () => {
        lane.isBusy = false;
      },
    };
  };
  /** Deliveries may wait in the store that were not offered. */
  const lookAgain = (): void => {
    for (const { id, name } of readWebhooks(db)) findLane(id, name).hasMore = true;
  };
  const offer = ({ webhookId, delivery, targets }: NewDelivery): void => {
    if (!targets.some(({ id }) => id === targetId)) return;
    const lane = findLane(webhookId, delivery.webhook);
    lane.hasMore ||= handBytes >= maxHandBytes;
    if (lane.hasMore) return;
    lane.hand.push(delivery);
    lane.last = delivery.seq;
    handBytes += delivery.body.length;
  };
  news.on('stored', offer).on('others', lookAgain);
  try {
    lookAgain();
    while (!signal.aborted) {
      const changed = awaitChange(news, signal);
      for (const lane of due) {
        due.delete(lane);
        const delivery = lane.isBusy ? undefined : next(lane);
        if (delivery === undefined) continue;
        lane.isBusy = true;
        yield makeClaim(lane, delivery);
        if (signal.aborted) return;
      }
      await changed;
    }
  } finally {
    news.off('stored', offer).off('others', lookAgain);
  }
}
