import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Inbox } from '../../../../src/webhooks/inbox.ts';
import { temporaryFolder } from '../../../support/harness.ts';
import { openInboxOf } from '../../../support/inbox.ts';
import { inboxCases } from '../../../support/inbox-cases.ts';

test.each(inboxCases)('$name', async ({ run }) => {
  const folder = join(temporaryFolder(), 'store');
  const opened: Inbox[] = [];
  onTestFinished(async () => {
    for (const inbox of opened.reverse()) await inbox.close();
  });
  await run(async () => {
    // One process at a time listens: the others read.
    const inbox = openInboxOf(folder, opened.length === 0);
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

test('what waits for a target that nobody forwards to for a week is forgotten', async () => {
  const folder = join(temporaryFolder(), 'store');
  let nowMs = Date.UTC(2026, 6, 3);
  const before = openInboxOf(folder, true, { now: () => nowMs });
  const target = { url: 'http://127.0.0.1:1/in' };
  const store = (inbox: Inbox, eventId: string) =>
    inbox.store([{ webhook: '/#1', atMs: nowMs, headers: [], body: Buffer.from(JSON.stringify({ eventId })) }]);
  await before.addTargets([target]);
  await store(before, 'a');
  expect(await before.waiting([target])).toBe(1);
  await before.close();
  nowMs += 8 * 86_400_000;
  const inbox = openInboxOf(folder, true, { now: () => nowMs });
  onTestFinished(inbox.close);
  await store(inbox, 'b');
  await expect.poll(() => inbox.waiting([target])).toBe(0);
});

test('deliveries beyond an age are removed, but never those that wait', async () => {
  const folder = join(temporaryFolder(), 'store');
  const [startMs, nowMs] = [Date.UTC(2026, 6, 3), Date.UTC(2026, 6, 3, 10)];
  const deliveryOf = (eventId: string, atMs: number) => ({
    webhook: '/#1',
    atMs,
    headers: [],
    body: Buffer.from(JSON.stringify({ eventId })),
  });
  const before = openInboxOf(folder, true);
  await before.store([deliveryOf('old', startMs), deliveryOf('young', nowMs - 1000)]);
  await before.addTargets([{ url: 'http://127.0.0.1:1/in' }]);
  await before.store([deliveryOf('waits', startMs), deliveryOf('newest', nowMs)]);
  await before.close();
  const inbox = openInboxOf(folder, true, { keep: { ms: 3_600_000 } });
  onTestFinished(inbox.close);
  const ids = async () => {
    const found: string[] = [];
    for await (const { eventId } of inbox.events({})) found.push(eventId);
    return found;
  };
  await expect.poll(ids).toEqual(['newest', 'waits']);
  expect(await inbox.store([deliveryOf('waits', startMs)])).toEqual([undefined]);
});
