import { expect, onTestFinished, test } from 'vitest';
import { answering, failure, run, runJson } from '../../support/harness.ts';
import { degen, evmTrader, swaps, tradersWorld } from '../../support/traders.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const swap = (tx: string, more: Record<string, string> = {}) => {
  const fields = { chain: 'base', token: degen, tx, text: 'gm', ...more };
  return Object.entries(fields).flatMap(([flag, value]) => [`--${flag}`, value]);
};

test('a signed comment is posted, and is found by its transaction, by both partners', async () => {
  const { env, keys } = await tradersWorld();
  const text = 'первый 🌊\nпост';
  const words = ['--sandbox', 'comment', 'post', ...swap(swaps.good, { text }), '--key-file', keys.evm];
  const posted = await runJson(words, { env });
  expect(posted).toEqual({
    uid: expect.stringMatching(uuid),
    transactionHash: swaps.good,
    chain: 'base',
    tokenAddress: degen,
    commentText: text,
    timestamp: expect.any(Number),
    isAppUserComment: true,
    metrics: { copyCount: 0, copyVolume: '0.00', likeCount: 0, isLikedByUser: false },
    signerAddress: evmTrader.address.toLowerCase(),
    replies: [],
  });
  const { uid } = posted;
  const list = ['--sandbox', 'comment', 'list', swaps.good, swaps.second, '--chain', 'base'];
  const found = await runJson(list, { env });
  expect(found[swaps.good].comments).toMatchObject([{ uid, isAppUserComment: true, commentText: text }]);
  expect(found[swaps.second]).toEqual({ comments: [], insights: [] });
  const other = await runJson(list, { env: { ...env, SOTRA_API_KEY: 'sandbox-key-b' } });
  expect(other[swaps.good].comments).toMatchObject([{ uid, isAppUserComment: false }]);
  const onToken = await run(['--sandbox', 'token', 'comments', 'base', degen, '--json'], { env });
  expect(onToken.out).toContain(uid);
});

test('each broken rule is refused by name, and nothing is stored', async () => {
  const { env, keys } = await tradersWorld();
  const post = async (words: readonly string[]) => {
    const { code, err, out } = await run(['--sandbox', 'comment', 'post', ...words], { env });
    expect([code, out]).toEqual([6, '']);
    return err.split(' (HTTP 400')[0];
  };
  const key = ['--key-file', keys.evm];
  const unknown = `0x${'99'.repeat(32)}`;
  const trader = evmTrader.address.toLowerCase();
  const refused: [words: readonly string[], says: string][] = [
    [swap(unknown), `transactionHash ${unknown}: no such trade`],
    [swap(swaps.good, { chain: 'ethereum' }), 'chain ethereum: that trade is on base'],
    [swap(swaps.good, { token: evmTrader.address }), `tokenAddress ${trader}: that trade is in ${degen}`],
    [swap(swaps.foreign), `signerAddress ${trader}: that trade is not the signer's own`],
    [swap(swaps.small), 'transactionHash: the trade is worth 9.99 USD, less than 10'],
  ];
  for (const [words, says] of refused) expect(await post([...words, ...key])).toBe(`error: ${says}`);
  expect(await post([...swap(swaps.good), ...key, '--service-name', 'Clicker'])).toMatch(
    /^error: signature: over this text it is the signature of 0x[0-9a-fA-F]{40}, not of 0x7e5f/i,
  );
  expect(await post([...swap(swaps.good), ...key, '--layout', 'blank-line'])).toContain('signature: over this text');
  expect((await run(['--sandbox', 'comment', 'post', ...swap(swaps.good), ...key], { env })).code).toBe(0);
  expect(await post([...swap(swaps.good, { text: 'again' }), ...key])).toBe(
    'error: transactionHash: this trade already has a comment, and there is one per trade',
  );
});

test('likes show for a viewer who is among them; copies show as an insight', async () => {
  const hash = '0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0';
  const listFor = async (viewer: string) =>
    (await runJson(`--sandbox comment list ${hash} --chain base --viewer-addresses ${viewer}`))[hash];
  const fan = await listFor('0x8221d32f9028096af37d8c6011bc2e7526ca5aee');
  expect(fan.comments[0].metrics).toMatchObject({ likeCount: 18, isLikedByUser: true, copyCount: 5 });
  expect(fan.insights).toEqual([{ text: 'Copied 5 times' }]);
  const other = await listFor('0x3a7a40cebb20bcb399e97a38213b4c29fbef4ea2');
  expect(other.comments[0].metrics).toMatchObject({ likeCount: 18, isLikedByUser: false });
});

test('comments on a token come newest first, each with its trade and the position behind it', async () => {
  const items = await runJson(`--sandbox token comments base ${degen}`);
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
  const { out, err } = await run(`--sandbox token comments base ${degen.toUpperCase().replace('X', 'x')} --limit 2`);
  expect(out.trimEnd().split('\n')).toHaveLength(2);
  expect(err).toBe('Showing 2; more with --limit\n');
});

test('a token nobody has commented on is an empty list', async () => {
  const none = await run('--sandbox token comments base 0x0000000000000000000000000000000000000001');
  expect(none).toMatchObject({ code: 0, out: '', err: 'Nobody has commented on this token.\n' });
});

const uid = '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11';
const copier = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';

test('an intent followed by a buy within the hour is a copy: count and volume go up, once', async () => {
  const { env, keys } = await tradersWorld();
  const post = ['--sandbox', 'comment', 'post', ...swap(swaps.good), '--key-file', keys.evm];
  const { uid } = await runJson(post, { env });
  const wallets = `${copier},0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252,${evmTrader.address}`;
  const copy = `--sandbox comment copy ${uid} --token ${degen} --actor-addresses ${wallets}`;
  expect((await runJson(copy, { env })).intentIds).toHaveLength(2);
  const header = 'time,chain,trader,token,side,amount,usd,tx';
  const buy = (usd: number) => `2026-11-20T12:00:00Z,base,${copier},${degen},buy,10,${usd},0x${usd}`;
  const stdin = [header, buy(123.45), buy(1000)].join('\n');
  expect((await run('sandbox import - --own-time', { env, stdin })).code).toBe(0);
  const found = (await runJson(`--sandbox comment list ${swaps.good} --chain base`, { env }))[swaps.good];
  expect(found.comments[0].metrics).toMatchObject({ copyCount: 1, copyVolume: '123.45' });
  expect(found.insights).toEqual([{ text: 'Copied 1 time' }]);
});

test('what cannot be tracked is refused before anything is sent', async () => {
  const service = await answering({ intentIds: [] });
  const copy = async (words: string, token = 'ETH') => {
    const line = `comment copy ${uid} --token ${token} ${words}`;
    const { code, err } = await run(line, { env: service.env, now: 1_800_000_000_000 });
    expect(code).toBe(2);
    return err;
  };
  expect(await copy('')).toContain('--actor-address or --actor-addresses is required');
  const actor = `--actor-address ${copier}`;
  expect(await copy(`${actor} --track-exit-until 7d`)).toContain('Add --chain hyperliquid.');
  const onBase = await copy(`${actor} --chain base --track-exit-until 7d`, copier);
  expect(onBase).toContain('on hyperliquid only, not on base');
  const perp = `${actor} --chain hyperliquid --track-exit-until`;
  expect(await copy(`${perp} 8d`)).toContain('--track-exit-until 8d: is more than 7 days ahead');
  expect(await copy(`${perp} 2027-01-22T08:00:01Z`)).toContain('is more than 7 days ahead');
  expect(await copy(`${perp} 2020-01-01T00:00:00Z`)).toContain('is not in the future');
  expect(await copy(`${perp} 2026-02-30`)).toContain('must be a time such as 7d, 12h or 2026-11-20T12:00:00Z');
  expect(service.requests).toEqual([]);
});

test.each([
  ['2027-01-20T08:00:00', '2027-01-20T08:00:00.000Z'],
  ['2027-01-20T08:00+02:00', '2027-01-20T06:00:00.000Z'],
  ['7d', '2027-01-22T08:00:00.000Z'],
])('exits are tracked until %s in UTC, whatever the zone of the machine', async (typed, sent) => {
  const zone = process.env['TZ'];
  onTestFinished(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
  process.env['TZ'] = 'America/New_York';
  const service = await answering({ intentIds: ['x'] });
  const words = `comment copy ${uid} --token ETH --chain hyperliquid --actor-address ${copier} --track-exit-until`;
  expect((await run([...words.split(' '), typed], { env: service.env, now: 1_800_000_000_000 })).code).toBe(0);
  expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({
    tokenAddress: 'ETH',
    chain: 'hyperliquid',
    actorAddress: copier,
    trackExitUntil: sent,
  });
});

test('an intent for an unknown comment is 404, one for another token 400', async () => {
  const { env, keys } = await tradersWorld();
  const copy = (of: string, token: string) =>
    run(`--sandbox comment copy ${of} --token ${token} --actor-address ${copier}`, { env });
  expect((await copy(uid, degen)).code).toBe(5);
  const comment = await runJson(['--sandbox', 'comment', 'post', ...swap(swaps.good), '--key-file', keys.evm], { env });
  expect(await copy(comment.uid, copier)).toEqual(failure(6, `tokenAddress ${copier}: the comment is about ${degen}`));
});
