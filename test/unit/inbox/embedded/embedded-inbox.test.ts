import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Inbox } from '../../../../src/inbox/inbox.ts';
import { temporaryFolder } from '../../../support/harness.ts';
import { openInboxOf } from '../../../support/inbox.ts';
import { inboxCases } from '../../../support/inbox-cases.ts';
import { until } from '../../../support/until.ts';

test.each(inboxCases)('$name', async ({ run }) => {
  const folder = join(temporaryFolder(), 'store');
  const opened: Inbox[] = [];
  onTestFinished(async () => {
    for (const inbox of opened.reverse()) await inbox.close();
  });
  await run(async () => {
    // One process at a time listens: the others read.
    const inbox = await openInboxOf(folder, opened.length === 0);
    const { close } = inbox;
    let closing: Promise<void> | undefined;
    inbox.close = () => {
      closing ??= close();
      return closing;
    };
    opened.push(inbox);
    return inbox;
  });
});

test('a target that is forwarded to for longer than a week goes on holding back what is removed', async () => {
  const [dayMs, startMs] = [86_400_000, Date.UTC(2026, 6, 3)];
  let nowMs = startMs;
  const hours: (() => void)[] = [];
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (ms === 3_600_000) hours.push(resolve);
      signal.addEventListener('abort', reject, { once: true });
    });
  const inbox = await openInboxOf(join(temporaryFolder(), 'store'), true, { now: () => nowMs, sleep });
  onTestFinished(inbox.close);
  const target = { url: 'http://127.0.0.1:1/in' };
  await inbox.addTargets([target]);
  const store = (eventId: string) =>
    inbox.store([{ webhook: '/#1', atMs: startMs, headers: [], body: Buffer.from(JSON.stringify({ eventId })) }]);
  for (const eventId of ['a', 'b', 'c']) await store(eventId);
  const statuses = async () => {
    const found: unknown[] = [];
    for await (const { status } of inbox.events({})) found.push(status);
    return found;
  };
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const claims = inbox.take(target, stopping.signal)[Symbol.asyncIterator]();
  await claims.next();
  nowMs += 8 * dayMs;
  expect(await statuses()).toEqual([null, null, null]);
  hours[0]?.();
  await until(() => hours.length === 2);
  expect(await inbox.keep({ ms: dayMs }, nowMs)).toBe(0);
  expect(await statuses()).toEqual(['waiting', 'waiting', 'waiting']);
});

test('signatures that did not fit are counted soon, though nothing else comes', async () => {
  const folder = join(temporaryFolder(), 'store');
  const inbox = await openInboxOf(folder, true);
  onTestFinished(inbox.close);
  inbox.countRefused('/x', Date.UTC(2026, 6, 3));
  const reader = await openInboxOf(folder, false);
  onTestFinished(reader.close);
  let rows: readonly { webhook: string; refusedSignatures: number }[] = [];
  for (; rows.length === 0; rows = await reader.stats({})) await delay(5);
  expect(rows).toMatchObject([{ webhook: '(other paths)', refusedSignatures: 1, received: 0 }]);
});

test('the log goes into the store while deliveries go on being stored, and is empty at the end', async () => {
  const folder = join(temporaryFolder(), 'store');
  const inbox = await openInboxOf(folder, true, { logBytes: 1_000_000 });
  const stored: string[] = [];
  // The log counts how often it has begun anew; left to itself it does so after 512 MB.
  const begins = () => readFileSync(join(folder, 'inbox.db-wal')).readUInt32BE(12);
  let first: number | undefined;
  for (let wave = 0; first === undefined || begins() < first + 3; wave += 1) {
    expect(wave).toBeLessThan(1000);
    const ids = Array.from({ length: 64 }, () => randomUUID());
    const body = (eventId: string) => Buffer.from(JSON.stringify({ eventId, pad: 'x'.repeat(2000) }));
    await inbox.store(ids.map((id) => ({ webhook: '/#1', atMs: wave, headers: [], body: body(id) })));
    stored.push(...ids);
    first ??= begins();
  }
  await inbox.close();
  expect(statSync(join(folder, 'inbox.db-wal')).size).toBe(0);
  const again = await openInboxOf(folder);
  onTestFinished(again.close);
  const found: string[] = [];
  for await (const { events } of again.deliveries({})) found.push(...events.map(({ eventId }) => eventId));
  expect(found).toEqual(stored);
});
