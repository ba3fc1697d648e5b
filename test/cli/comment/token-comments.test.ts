import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';

const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const world = () => ({ SOTRA_DATA_DIR: temporaryFolder() });

test('comments on a token come newest first, each with its trade and the position behind it', async () => {
  const env = world();
  const { out } = await run(`--sandbox token comments base ${degen} --json`, { env });
  const items = JSON.parse(out);
  const times = items.map((item: { timestamp: number }) => item.timestamp);
  expect(times).toEqual([...times].sort((a, b) => b - a));
  expect(items[0]).toMatchObject({
    itemId: '6527ff56-9ac0-5c42-812c-d84aa9a0cf53',
    actor: { type: 'user', address: '0x465bdc4499e12488c05fd6b60f545ff5d781e755', name: 'bagelfutures.alpha.test' },
    comment: { commentText: 'Topped up DEGEN: same thesis, lower price.', chain: 'base', tokenAddress: degen },
    trade: { direction: 'buy', classification: 'spot', intent: 'enter', tokenAmount: 4749537, usdCost: 21736.19 },
    positionDetails: { positionAmount: 6319082, positionStats: { boughtUSD: 57235.53, soldUSD: 21190.68 } },
    token: { chain: 'base', symbol: 'DEGEN', name: 'Degen', address: degen, commentCount: items.length },
  });
  expect(items[0].timestamp).toBe(items[0].comment.timestamp);
  expect(items[0].trade).not.toHaveProperty('comments');
  expect(items[0].comment).not.toHaveProperty('replies');
});

test('a limit cuts the list and says so, and an address in capitals is the same token', async () => {
  const env = world();
  const { out, err } = await run(`--sandbox token comments base ${degen.toUpperCase().replace('X', 'x')} --limit 2`, {
    env,
  });
  expect(out.trimEnd().split('\n')).toHaveLength(2);
  expect(err).toBe('There may be more: a larger --limit shows it.\n');
});

test('a token nobody has commented on is an empty list', async () => {
  const none = await run('--sandbox token comments base 0x0000000000000000000000000000000000000001', { env: world() });
  expect(none).toMatchObject({ code: 0, out: '', err: 'Nobody has commented on this token.\n' });
});

test('a wrong chain and a limit of zero are refused before any request', async () => {
  const service = await answering([]);
  const wrong = await run(`token comments Base ${degen}`, { env: service.env });
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean base?') });
  expect((await run(`token comments base ${degen} --limit 0`, { env: service.env })).code).toBe(2);
  expect(service.requests).toEqual([]);
});
