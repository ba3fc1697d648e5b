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
  tryOnce,
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
      if (item === 1) await new Promise<void>((resolve) => (answerFirst = resolve));
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
  const row = db.get('SELECT tries, status, error FROM outbox WHERE item = 1');
  expect(row).toEqual({ tries: 5, status: 308, error: 'HTTP 308' });
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

test.each([...[299, 408, 425, 429, 500].map((status) => [status, 1]), ...[300, 404, 499].map((status) => [status, 2])])(
  'a try that is answered %i is counted, of one refusal before it there are then %i',
  async (status, refusals) => {
    const times = [100, 110];
    const clock = { now: () => times.shift() ?? 0, signal: new AbortController().signal };
    const made = await tryOnce({ tries: 2, refusals: 1, sinceMs: 5 }, async () => answer(status), clock);
    expect(made).toEqual({ outcome: answer(status), tries: 3, refusals, sinceMs: 5, atMs: 110, ms: 10 });
  },
);

test('an answer that comes as posts are cut off counts', async () => {
  const cut = { now: () => 7, signal: AbortSignal.abort() };
  const made = await tryOnce({ tries: 0, refusals: 0, sinceMs: null }, async () => taken, cut);
  expect(made).toMatchObject({ tries: 1, sinceMs: 7 });
});

test('rows are posted when they are due, and the table is looked at again when the next one is', async () => {
  const { db, start } = openOutbox(['1 a 1', '1 b 2', '1 c 3', '1 c 4', '1 c 5']);
  for (const [item, dueMs] of Object.entries({ 1: 1030, 2: 1060, 3: 1000, 4: 1000, 5: 1050 }))
    db.run('UPDATE outbox SET due_ms = ? WHERE item = ?', [dueMs, item]);
  const [posted, waits]: [number[], number[]] = [[], []];
  start({
    post: async ({ item }) => answer(posted.push(item) === 2 ? 503 : 200),
    policy: () => 40,
    now: () => 1000,
    // It ends only when it is woken.
    sleep: (ms, signal) => {
      waits.push(ms);
      return new Promise((_, reject) => signal.addEventListener('abort', reject));
    },
  });
  await until(() => waits.length === 2);
  expect([...posted, ...waits]).toEqual([3, 4, 30, 30]);
  expect(db.values('SELECT due_ms FROM outbox ORDER BY id')).toEqual([1030, 1060, 1000, 1040, 1050]);
});

test('an outbox is settled once nothing is due or being posted; rows of another process are not waited for', async () => {
  const { db, start, states } = openOutbox(['2 a 1']);
  let polls = 0;
  const sleep = (ms: number, signal: AbortSignal) => {
    polls += ms === 10 ? 1 : 0;
    return delay(1, undefined, { signal });
  };
  const post = async () => {
    const before = polls;
    await until(() => polls > before + 1);
    return taken;
  };
  const outbox = start({ post, sleep, now: () => 1000, leaseMs: 10, postsTo: (target) => target === 1 });
  await settleOutbox(outbox);
  addToOutbox(db, { item: 2, queue: 'a' }, [1]);
  db.run('UPDATE outbox SET due_ms = 1000');
  await settleOutbox(outbox);
  expect(states()).toEqual(['waiting', 'delivered']);
});

test('256 queues are posted at once, and of each 33 rows before the first of them is committed', async () => {
  const rows = (queue: string, count: number) => Array.from({ length: count }, (_, item) => `1 ${queue} ${item}`);
  const { start, states } = openOutbox([
    ...rows('a', 40),
    ...rows('q', 256).map((id, at) => id.replace('q', `q${at}`)),
  ]);
  let commitAll = () => {};
  const held = new Promise<void>((resolve) => (commitAll = resolve));
  let posts = 0;
  const post = async () => {
    posts += 1;
    return taken;
  };
  start({ post, commit: (change) => held.then(change) });
  await until(() => posts >= 33 + 255);
  expect(posts).toBe(33 + 255);
  commitAll();
  await until(() => states().every((state) => state === 'delivered'));
});

test.each([true, false])(
  'a table that cannot be read or written is tried again a second later, with somebody who is told: %s',
  async (isTold) => {
    const { db, start, states } = openOutbox(['1 a 1']);
    db.exec('ALTER TABLE outbox RENAME TO gone');
    const [errors, waits]: [string[], number[]] = [[], []];
    let [posts, failures] = [0, 0];
    start({
      post: async () => taken,
      onTry: () => {
        posts += 1;
        if (posts === 1) throw new Error('odd');
      },
      commit: async (change) => {
        failures += 1;
        if (failures < 3) throw new Error('full');
        return change();
      },
      sleep: (ms, signal) => delay(waits.push(ms) && 1, undefined, { signal }),
      ...(isTold && { onError: (error) => errors.push((error as Error).message) }),
    });
    await until(() => waits.length > 0);
    db.exec('ALTER TABLE gone RENAME TO outbox');
    await until(() => states().join() === 'delivered');
    expect([posts, waits[0]]).toEqual([2, 1000]);
    const told = [...new Set(errors)].map((error) => error.replace(/.*(no such table).*/, '$1'));
    expect(told).toEqual(isTold ? ['no such table', 'odd', 'full'] : []);
  },
);

test('a stop does not wait until the table can be written', async () => {
  const { start, states } = openOutbox(['1 a 1']);
  let tried = 0;
  const commit = async () => {
    tried += 1;
    throw new Error('full');
  };
  const outbox = start({ post: async () => taken, commit });
  await until(() => tried > 0);
  await stopOutbox(outbox);
  expect(states()).toEqual(['waiting']);
});
