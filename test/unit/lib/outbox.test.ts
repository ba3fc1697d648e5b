import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { groupCommits, openDatabase } from '../../../src/lib/files/database.ts';
import {
  addToOutbox,
  type OutboxOptions,
  outboxTable,
  settleOutbox,
  startOutbox,
  stopOutbox,
} from '../../../src/lib/outbox.ts';
import { temporaryFolder, until } from '../../support/harness.ts';

const taken = { ok: true, status: 200, error: null, late: false, unsendable: false };
const answer = (status: number) => ({
  ...taken,
  ok: status < 300,
  status,
  error: status < 300 ? null : `HTTP ${status}`,
});

/** A database with rows, given as `target queue item`. */
function openOutbox(rows: readonly string[]) {
  const options = { pageBytes: 4096, cacheKib: 1024, checkpointPages: 1000, check: () => undefined };
  const db = openDatabase(join(temporaryFolder(), 'outbox.db'), options);
  onTestFinished(() => db.close());
  db.exec(outboxTable);
  for (const row of rows) {
    const [target, queue = '', item] = row.split(' ');
    addToOutbox(db, { item: Number(item), queue }, [Number(target)]);
  }
  const start = (more: Pick<OutboxOptions, 'post'> & Partial<OutboxOptions>) => {
    const sleep = (ms: number, signal: AbortSignal) => delay(Math.min(ms, 50), undefined, { signal });
    const outbox = startOutbox({ db, commit: groupCommits(db), policy: () => 1, now: Date.now, sleep, ...more });
    onTestFinished(() => stopOutbox(outbox));
    return outbox;
  };
  const states = () => db.values<string>('SELECT state FROM outbox ORDER BY id');
  return { db, start, states };
}

test('rows of a queue are posted in order, those of another while one is not answered', async () => {
  const { start, states } = openOutbox(['1 a 1', '1 a 2', '1 b 3', '2 a 4', '2 a 5']);
  const posted: number[] = [];
  let answerFirst = () => {};
  const outbox = start({
    post: async ({ item }) => {
      posted.push(item);
      if (item === 1)
        await new Promise<void>((resolve) => {
          answerFirst = resolve;
        });
      return taken;
    },
  });
  await until(() => posted.length === 4);
  expect(posted.toSorted()).toEqual([1, 3, 4, 5]);
  answerFirst();
  await settleOutbox(outbox);
  expect(posted.at(-1)).toBe(2);
  expect(states()).toEqual(Array(5).fill('delivered'));
});

test('a row is tried until the policy sets it aside, and the next of its queue goes on', async () => {
  const { db, start, states } = openOutbox(['1 a 1', '1 a 2']);
  const tries: string[] = [];
  start({
    post: async ({ item }) => answer(item === 1 ? (tries.length < 2 ? 503 : 308) : 200),
    policy: ({ refusals }) => (refusals < 3 ? 0 : undefined),
    onTry: ({ row, outcome, refusals }, waitMs) => tries.push(`${row.item} ${outcome.status} ${refusals} ${waitMs}`),
  });
  await until(() => states().join() === 'failed,delivered');
  expect(tries).toEqual(['1 503 0 0', '1 503 0 0', '1 308 1 0', '1 308 2 0', '1 308 3 undefined', '2 200 0 undefined']);
  expect(db.get('SELECT tries, status, error FROM outbox WHERE item = 1')).toEqual({
    tries: 5,
    status: 308,
    error: 'HTTP 308',
  });
});

test('a row that cannot be posted at all is set aside at once', async () => {
  const { start, states } = openOutbox(['1 a 1', '1 a 2']);
  const outbox = start({ post: async ({ item }) => (item === 1 ? Promise.reject(new Error('gone')) : taken) });
  await until(() => states().join() === 'failed,delivered');
  await stopOutbox(outbox);
});

test('two that share an outbox by leases post each row once, and one takes over the rows that the other did not finish', async () => {
  const { start, states } = openOutbox(Array.from({ length: 20 }, (_, item) => `${item % 3} a ${item}`));
  const posted: number[] = [];
  const post: OutboxOptions['post'] = async ({ item }) => {
    posted.push(item);
    await delay(1);
    return taken;
  };
  const leaseMs = 10_000;
  const [one, other] = [start({ post, leaseMs }), start({ post, leaseMs })];
  await until(() => states().every((state) => state === 'delivered'));
  await Promise.all([stopOutbox(one), stopOutbox(other)]);
  expect(posted.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, item) => item));
});

test('a row whose answer is cut off by a stop counts as not tried', async () => {
  const { db, start } = openOutbox(['1 a 1']);
  let isPosted = false;
  const outbox = start({
    leaseMs: 60_000,
    post: (_, signal) =>
      new Promise((resolve) => {
        isPosted = true;
        signal.addEventListener('abort', () => resolve({ ...taken, ok: false, status: null, error: 'aborted' }));
      }),
  });
  await until(() => isPosted);
  await stopOutbox(outbox);
  expect(db.get('SELECT state, tries, due_ms AS dueMs FROM outbox')).toEqual({ state: 'waiting', tries: 0, dueMs: 0 });
});
