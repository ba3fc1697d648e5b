import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answering, run } from '../../support/harness.ts';
import { degen, evmTrader, swaps, tradersWorld } from '../../support/traders.ts';

const uid = '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11';
const copier = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';

test('an intent followed by a buy within the hour is a copy: count and volume go up, once', async () => {
  const { env, folder, keys } = await tradersWorld();
  const fields = ['--chain', 'base', '--token', degen, '--tx', swaps.good];
  const post = ['--sandbox', 'comment', 'post', ...fields, '--text', 'gm', '--key-file', keys.evm, '--json'];
  const comment = JSON.parse((await run(post, { env })).out);
  const wallets = `${copier},0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252,${evmTrader.address}`;
  const copy = ['--sandbox', 'comment', 'copy', comment.uid, '--token', degen, '--actor-addresses', wallets, '--json'];
  const intents = JSON.parse((await run(copy, { env })).out).intentIds;
  expect(intents).toHaveLength(2);
  const buy = (tx: string, usd: number) => {
    const time = '2026-11-20T12:00:00Z';
    return { time, chain: 'base', trader: copier, token: degen, side: 'buy', amount: 10, usd, tx };
  };
  const file = join(folder, 'copies.ndjson');
  const buys = [buy(`0x${'a1'.repeat(32)}`, 123.45), buy(`0x${'a2'.repeat(32)}`, 1000)];
  writeFileSync(file, buys.map((each) => `${JSON.stringify(each)}\n`).join(''));
  expect((await run(['sandbox', 'import', file, '--own-time'], { env })).code).toBe(0);
  const list = ['--sandbox', 'comment', 'list', swaps.good, '--chain', 'base', '--json'];
  const found = JSON.parse((await run(list, { env })).out)[swaps.good];
  expect(found.comments[0].metrics).toMatchObject({ copyCount: 1, copyVolume: '123.45' });
  expect(found.insights).toEqual([{ text: 'Copied 1 time' }]);
});

test('what cannot be tracked is refused before anything is sent', async () => {
  const service = await answering({ intentIds: [] });
  const copy = async (words: string, token = 'ETH') => {
    const { code, err } = await run(`comment copy ${uid} --token ${token} ${words}`, {
      env: service.env,
      now: 1_800_000_000_000,
    });
    expect(code).toBe(2);
    return err;
  };
  expect(await copy('')).toContain('--actor-address or --actor-addresses is required');
  const actor = `--actor-address ${copier}`;
  expect(await copy(`${actor} --track-exit-until 7d`)).toContain('Add --chain hyperliquid.');
  expect(await copy(`${actor} --chain base --track-exit-until 7d`, copier)).toContain(
    'on hyperliquid only, not on base',
  );
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
  const base = ['--sandbox', 'comment', 'copy'];
  const actor = ['--actor-address', copier];
  expect((await run([...base, uid, '--token', degen, ...actor], { env })).code).toBe(5);
  const fields = ['--chain', 'base', '--token', degen, '--tx', swaps.good, '--text', 'gm', '--key-file', keys.evm];
  const comment = JSON.parse((await run(['--sandbox', 'comment', 'post', ...fields, '--json'], { env })).out);
  const other = await run([...base, comment.uid, '--token', copier, ...actor], { env });
  expect(other.code).toBe(6);
  expect(other.err).toContain(`tokenAddress ${copier}: the comment is about ${degen}`);
});
