import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../../support/harness.ts';
import { fillInbox } from '../../support/inbox.ts';
import { bodyOf, listen, send, signed } from '../../support/listening.ts';
import { until } from '../../support/until.ts';

/** A listener with another clock, or that does not wait. */
async function listenAt(folder: string, forwardTo: string, clock: { now?: number; skipWaits?: boolean }) {
  const listener = await listen(folder, `--forward-to ${forwardTo}`, undefined, {}, clock);
  const deliver = (id: string) => send(listener.url, bodyOf(id), signed(bodyOf(id)));
  return { ...listener, deliver };
}

const idsOf = (requests: readonly { body: string }[]) => requests.map(({ body }) => JSON.parse(body).events[0].eventId);

test('a new target on a store with events: stderr shows how many are not forwarded, and the command that sends them', async () => {
  const folder = temporaryFolder();
  await fillInbox(
    folder,
    ['one', 'two'].map((id) => ({ atMs: Date.UTC(2026, 6, 3, 12), body: Buffer.from(bodyOf(id)) })),
  );
  const target = await stub((_, response) => response.end());
  const { shown, stop } = await listen(folder, `--forward-to ${target.url}/in`);
  const line = `sotra webhook replay --since 2026-07-03T12:00:00Z --to ${target.url}/in`;
  expect(shown.err).toContain(`2 stored deliveries are not forwarded to ${target.url}/in. To send them: ${line}\n`);
  await stop();
  expect(target.requests).toEqual([]);
  const { code } = await run(line.replace('sotra ', ''), { env: { SOTRA_DATA_DIR: folder } });
  expect([code, idsOf(target.requests)]).toEqual([0, ['one', 'two']]);
  const again = await listen(folder, `--forward-to ${target.url}/in`);
  expect(again.shown.err).not.toContain('not forwarded');
});

test('a delivery that fails for a day is set aside and the next is sent; replay --failed sends it again', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const target = await stub(({ body }, response) => response.writeHead(body.includes('"bad"') ? 503 : 200).end());
  const now = Date.now();
  const today = await listenAt(folder, target.url, { now });
  expect([await today.deliver('bad'), await today.deliver('good')]).toEqual([200, 200]);
  await until(() => target.requests.length > 0);
  await today.stop();
  expect(today.shown.err).not.toContain('set aside');
  const before = target.requests.length;
  const tomorrow = await listenAt(folder, target.url, { now: now + 86_400_000 });
  await until(() => idsOf(target.requests).includes('good'));
  expect(idsOf(target.requests).slice(before)).toEqual(['bad', 'good']);
  expect(tomorrow.shown.err).toContain(
    `event bad was not accepted in ${before + 1} tries (HTTP 503): set aside; sotra webhook replay --failed sends it again`,
  );
  const failed = async () => {
    const { out } = await run('webhook events --status failed --json', { env });
    return JSON.parse(out).map(({ eventId }: { eventId: string }) => eventId);
  };
  expect(await failed()).toEqual(['bad']);
  const refusing = await run(`webhook replay --failed --to ${target.url}`, { env, skipWaits: true });
  expect([refusing.code, await failed()]).toEqual([10, ['bad']]);
  const repaired = await stub((_, response) => response.end());
  const sent = await run(`webhook replay --failed --to ${repaired.url}`, { env });
  expect([sent.code, idsOf(repaired.requests), await failed()]).toEqual([0, ['bad'], []]);
});

test('a redirect is not followed, its Location is named, and after ten tries the delivery is set aside', async () => {
  const location = 'https://example.com/new?token=hunter2';
  const target = await stub((_, response) => response.writeHead(308, { location }).end());
  const { shown, deliver } = await listenAt(temporaryFolder(), target.url, { skipWaits: true });
  expect(await deliver('one')).toBe(200);
  await until(() => shown.err.includes('set aside'));
  expect(target.requests).toHaveLength(10);
  expect(shown.err).toContain(
    'event one (HTTP 308, a redirect to https://example.com/new?token=***); it is sent again',
  );
  expect(shown.err).not.toContain('hunter2');
});
