import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyDemo } from '../../support/demo.ts';
import { run, stub, temporaryFolder } from '../../support/harness.ts';
import { listen } from '../../support/listening.ts';

/** A listener of the tool, and events sent to it as they should not come. */
async function receiver(more = '') {
  const folder = temporaryFolder();
  copyDemo(join(folder, 'sandbox.db'), Date.now());
  const { url, shown } = await listen(folder, more);
  const env = { SOTRA_DATA_DIR: folder };
  const trigger = async (words: string) => {
    const argv = `webhook trigger new-feed-item --sandbox --to ${url}/hook --secret-file ${join(folder, 'secret')} --json`;
    const { code, out } = await run(`${argv} ${words}`, { env });
    return { code, sent: JSON.parse(out) };
  };
  const stored = async () => JSON.parse((await run('webhook events --json', { env })).out);
  return { trigger, stored, shown };
}

test('a bad signature is refused, and so is a delivery that is too old where the receiver looks', async () => {
  const { trigger, stored } = await receiver('--tolerance 5m');
  for (const as of ['bad-signature', 'stale'])
    expect(await trigger(`--as ${as}`)).toMatchObject({ code: 0, sent: [{ delivered: false, status: 401 }] });
  expect(await stored()).toEqual([]);
});

test('a receiver that takes what is too old, or what another signed, is told with exit 12', async () => {
  const { trigger } = await receiver();
  expect(await trigger('--as stale')).toMatchObject({ code: 12, sent: [{ delivered: true, status: 200 }] });
  const careless = await stub((_, response) => response.end());
  const secret = join(temporaryFolder(), 'none');
  const words = `webhook trigger copyswap --sandbox --to ${careless.url} --as bad-signature`;
  expect((await run(`${words} --secret-file ${secret}`)).code).toBe(3);
  writeFileSync(secret, 'whsec_x\n', { mode: 0o600 });
  expect((await run(`${words} --secret-file ${secret}`)).code).toBe(12);
  const broken = await stub((_, response) => response.writeHead(500).end());
  const elsewhere = words.replace(careless.url, broken.url);
  expect((await run(`${elsewhere} --secret-file ${secret}`)).code).toBe(9);
});

test('a duplicate is sent twice and stored once; out of order the newer event comes first', async () => {
  const { trigger, stored } = await receiver();
  const twice = await trigger('--as duplicate');
  expect(twice).toMatchObject({ code: 0, sent: [{ delivered: true }, { delivered: true }] });
  expect(twice.sent[0].eventId).toBe(twice.sent[1].eventId);
  expect(await stored()).toHaveLength(1);
  const { code, sent } = await trigger('--as out-of-order');
  expect(code).toBe(0);
  expect(sent[0].eventId).not.toBe(sent[1].eventId);
  const tradedAt = ({ event }: { event: { feedItem: { cardLatestTradeAt: number } } }) =>
    event.feedItem.cardLatestTradeAt;
  const [older, newer] = await stored();
  expect([newer.eventId, older.eventId]).toEqual(sent.map(({ eventId }: { eventId: string }) => eventId));
  expect(tradedAt(newer)).toBeGreaterThanOrEqual(tradedAt(older));
});

test('without --to nothing is sent otherwise than the service would; a dry run shows the first delivery', async () => {
  const { code, err } = await run('webhook trigger new-feed-item --sandbox --as stale');
  expect([code, err]).toEqual([2, expect.stringContaining('--as stale needs --to')]);
  const { trigger, stored } = await receiver();
  await expect(trigger('--as duplicate --dry-run')).resolves.toMatchObject({ code: 0 });
  expect(await stored()).toEqual([]);
});
