import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Inbox } from '../../../../src/webhooks/inbox.ts';
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

test('a target that is forwarded to for longer than a week goes on holding back what is removed', async () => {
  const [dayMs, startMs] = [86_400_000, Date.UTC(2026, 6, 3)];
  let nowMs = startMs;
  const [hours, looks]: (() => void)[][] = [[], []];
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (ms === 3_600_000) hours?.push(resolve);
      if (ms === 10_000) looks?.push(resolve);
      signal.addEventListener('abort', reject, { once: true });
    });
  const keep = { ms: dayMs };
  const inbox = openInboxOf(join(temporaryFolder(), 'store'), true, { now: () => nowMs, sleep, keep });
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
  hours?.[0]?.();
  await until(() => hours?.length === 2);
  looks?.[0]?.();
  await until(() => looks?.length === 2);
  expect(await statuses()).toEqual(['waiting', 'waiting', 'waiting']);
});

test('what exceeds an age is removed, and never what waits', async () => {
  const folder = join(temporaryFolder(), 'store');
  const [startMs, nowMs] = [Date.UTC(2026, 6, 3), Date.UTC(2026, 6, 3, 10)];
  const deliveryOf = (eventId: string, atMs: number) => ({
    ...{ webhook: '/#1', atMs, headers: [] },
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
