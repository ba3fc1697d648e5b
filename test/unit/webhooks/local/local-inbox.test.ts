import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Inbox } from '../../../../src/webhooks/inbox.ts';
import { temporaryFolder, until } from '../../../support/harness.ts';
import { changeStore, inboxFolderOf, openInboxOf, wait } from '../../../support/inbox.ts';
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

test('a target that is forwarded to stays, though it could not be marked as used at one time', async () => {
  const data = temporaryFolder();
  let nowMs = Date.UTC(2026, 6, 3);
  const hours: (() => void)[] = [];
  const sleep: typeof wait = (ms, signal) =>
    ms < 3_600_000 ? wait(ms, signal) : new Promise((end) => hours.push(end));
  const inbox = openInboxOf(inboxFolderOf(data), true, { now: () => nowMs, sleep });
  onTestFinished(inbox.close);
  const ignore = () => undefined;
  const refused = async () => ({ ok: false, status: 500, error: '500', late: false, unsendable: false });
  const targets = [{ url: 'http://127.0.0.1:1/in' }];
  const { stop } = await inbox.forward({
    targets,
    post: refused,
    policy: () => 60_000,
    onTry: ignore,
    onError: ignore,
  });
  onTestFinished(stop);
  const nextHour = async () => {
    (await until(() => hours.shift()))();
    await until(() => hours.length > 0);
  };
  changeStore(data, 'ALTER TABLE target RENAME TO away');
  await nextHour();
  changeStore(data, 'ALTER TABLE away RENAME TO target');
  nowMs += 8 * 86_400_000;
  await nextHour();
  const [stored] = await inbox.store([{ webhook: '/#1', atMs: nowMs, headers: [], body: Buffer.from('{}') }]);
  expect(stored?.isWaiting).toBe(true);
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
