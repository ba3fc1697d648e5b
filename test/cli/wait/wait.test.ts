import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../../support/harness.ts';
import { bodyOf, listen, send, signed } from '../../support/listening.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const tx = `0x${'ab'.repeat(32)}`;
const uid = '2f991d88-4e6a-54f7-b130-a9788a9a06ab';

test('a position is waited for until its last token is sold', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const trade = (side: string) =>
    run(
      `sandbox trade --sandbox --chain base --trader ${wallet} --token ${degen} --side ${side} --amount 5 --usd 100`,
      { env },
    );
  await trade('buy');
  // Now would be too late where the position is closed before it is looked for.
  const sec = Math.floor(Date.now() / 1000);
  const waiting = run(`--sandbox wait position closed ${wallet} base ${degen} ${sec} --interval 100ms --json`, { env });
  await trade('sell');
  const { code, out } = await waiting;
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ actor: { address: wallet }, metadata: { positionStats: { isOpen: false } } });
  const open = await run('--sandbox wait position closed 6527ff56-9ac0-5c42-812c-d84aa9a0cf53 --timeout 9s', {
    env,
    skipWaits: true,
  });
  expect(open).toMatchObject({ code: 124, out: '' });
  expect(open.err).toContain(
    'error: position 6527ff56-9ac0-5c42-812c-d84aa9a0cf53 was not closed within 9 s\nhint: Wait longer: --timeout',
  );
  expect(await run('--sandbox wait position closed 00000000-0000-4000-8000-000000000000', { env })).toMatchObject({
    code: 5,
  });
  expect((await run(`--sandbox wait position closed ${wallet} base`, { env })).code).toBe(2);
});

test('a place on the board is waited for while nobody, a worse place and a failing service come', async () => {
  const answers = [{ ranking: null }, { ranking: 11 }, undefined, { ranking: 10 }];
  const service = await stub((_, response, count) => {
    const answer = answers[count - 1];
    response
      .writeHead(answer === undefined ? 503 : 200)
      .end(JSON.stringify({ ...answer, pnl: { total: 1, perChain: {} } }));
  });
  const { code, out, err } = await run(`wait rank ${wallet} --at-most 10 --chains base --retries 1 --json`, {
    env: service.env,
    skipWaits: true,
  });
  expect([code, JSON.parse(out).ranking]).toEqual([0, 10]);
  expect(err).toBe('');
  expect(service.requests.map(({ url }) => url)).toEqual(
    Array(4).fill(`/v2/leaderboard/ranking?address=${wallet}&chains=base`),
  );
});

test('a service that fails all the time is named when the time is over; a refusal ends the wait at once', async () => {
  const failing = await answering({}, 503);
  const late = await run(`wait rank ${wallet} --at-most 1 --timeout 8s`, { env: failing.env, skipWaits: true });
  expect([late.code, late.err]).toEqual([
    124,
    expect.stringMatching(/did not reach place 1 within 8 s; last: .*HTTP 503/),
  ]);
  const refusing = await answering({}, 401);
  expect((await run(`wait rank ${wallet} --at-most 1`, { env: refusing.env })).code).toBe(4);
  expect(refusing.requests.length).toBe(1);
});

test('a comment is waited for on its swap or its token, or among stored deliveries', async () => {
  const comment = {
    uid,
    transactionHash: tx,
    chain: 'base',
    tokenAddress: degen,
    commentText: 'gm',
    timestamp: 1,
    signerAddress: wallet,
  };
  const service = await stub(({ url }, response, count) => {
    const found = count % 2 === 0 ? [comment] : [];
    response.end(
      JSON.stringify(
        url.startsWith('/v1/tokens') ? found.map((each) => ({ comment: each })) : { [tx]: { comments: found } },
      ),
    );
  });
  for (const place of [`--tx ${tx}`, `--token ${degen}`]) {
    const { code, out } = await run(`wait comment ${uid} --chain base ${place} --json`, {
      env: service.env,
      skipWaits: true,
    });
    expect([code, JSON.parse(out)]).toEqual([0, comment]);
  }
  expect(service.requests.length).toBe(4);
  expect((await run(`wait comment ${uid} --tx ${tx}`, { env: service.env })).code).toBe(2);
  expect((await run(`wait comment ${uid} --timeout 5s`, { env: service.env, skipWaits: true })).code).toBe(124);
});

test('an event is waited for by its type and wallet, from now on where that is asked for', async () => {
  const data = temporaryFolder();
  const env = { SOTRA_DATA_DIR: data };
  const listener = await listen(data);
  await send(listener.url, bodyOf('e1'), signed(bodyOf('e1')));
  const stored = await run('wait webhook event --type new-feed-item --json', { env });
  expect([stored.code, JSON.parse(stored.out).eventId]).toEqual([0, 'e1']);
  const next = run('wait webhook event --since 0s --interval 100ms --json', { env });
  await send(listener.url, bodyOf('e2'), signed(bodyOf('e2')));
  const came = await next;
  expect([came.code, JSON.parse(came.out).eventId]).toEqual([0, 'e2']);
  expect((await run(`wait webhook event --address ${degen} --timeout 5s`, { env, skipWaits: true })).code).toBe(124);
  expect((await run('wait webhook event --type copyswap --timeout 5s', { env, skipWaits: true })).code).toBe(124);
  await listener.stop();
});

test('an upload is waited for until all of it is confirmed', async () => {
  let isUp = false;
  const service = await stub((_, response) => response.writeHead(isUp ? 200 : 503).end(JSON.stringify({ uid })));
  const env = { SOTRA_DATA_DIR: temporaryFolder(), ...service.env };
  const upload = `webhook add-addresses ${uid} --wallet-addresses ${wallet} --retries 0`;
  await run(upload, { env });
  const [{ job }] = JSON.parse((await run('webhook jobs --json', { env })).out);
  expect(await run(`wait job ${job} --timeout 5s`, { env, skipWaits: true })).toMatchObject({ code: 124, out: '' });
  expect((await run('wait job ffffffff', { env })).code).toBe(5);
  const waiting = run(`wait job ${job.slice(0, 6)} --interval 100ms --json`, { env });
  isUp = true;
  expect((await run(upload, { env })).code).toBe(0);
  const { code, out } = await waiting;
  expect([code, JSON.parse(out)]).toMatchObject([0, { job, finished: true, confirmed: 1 }]);
});
