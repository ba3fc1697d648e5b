import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../../support/harness.ts';

const comment = '2f991d88-4e6a-54f7-b130-a9788a9a06ab';
const token = '0x940181a94a35a4569e4529a3cdfb74e38fd98631';
const wallet = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf';
const perp = '3a66e8bd-8f95-572c-9f76-601286c7a155';

function place() {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const sotra = (argv: string, options = {}) => run(`--sandbox ${argv}`, { env, ...options });
  const copies = async (more = '') => JSON.parse((await sotra(`comment copies --json ${more}`)).out);
  return { env, sotra, copies };
}

const copy = `comment copy ${comment} --token ${token} --chain base --actor-address ${wallet}`;

test('an intent is kept with what became of the position: none, then open, then closed', async () => {
  const { sotra, copies } = place();
  expect(await copies()).toEqual([]);
  const { out } = await sotra(`${copy} --json`);
  const [before] = await copies();
  expect(before).toEqual({
    ...{ at: expect.any(Number), comment, chain: 'base', token, addresses: [wallet], trackExitUntil: null },
    ...{ ...JSON.parse(out), state: 'recorded', position: 'none', itemId: null, boughtUsd: null, realizedUsd: null },
  });
  const trade = `sandbox trade --chain base --trader ${wallet} --token ${token} --amount 5`;
  await sotra(`${trade} --side buy --usd 10`);
  expect(await copies()).toMatchObject([{ position: 'open', boughtUsd: 10, realizedUsd: 0 }]);
  await sotra(`${trade} --side sell --usd 14`);
  expect(await copies()).toMatchObject([{ position: 'closed', boughtUsd: 10, realizedUsd: 4 }]);
});

test('the same intent twice is warned of, asked about on a terminal, and sent without a word with --again', async () => {
  const { sotra, copies } = place();
  await sotra(copy);
  expect(await sotra(copy)).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^warning: this intent was sent at .* already/),
  });
  expect(await sotra(`${copy} --again`)).toMatchObject({ code: 0, err: '' });
  expect(await sotra(copy, { answers: ['n'] })).toMatchObject({ code: 2 });
  expect(await sotra(copy, { answers: ['y'] })).toMatchObject({ code: 0 });
  expect(await sotra(copy.replace(wallet, token))).toMatchObject({ code: 0, err: '' });
  expect(await sotra(copy, { now: Date.now() + 3_600_001 })).toMatchObject({ code: 0, err: '' });
  expect(await copies()).toHaveLength(6);
});

test('--expiring shows the intents whose tracking ends within that time, and not those that ended', async () => {
  const { sotra, copies } = place();
  const tracked = (time: string) =>
    sotra(
      `comment copy ${perp} --token ETH --chain hyperliquid --actor-address ${wallet} --again --track-exit-until ${time}`,
    );
  for (const time of ['12h', '3d', '1s']) expect((await tracked(time)).code).toBe(0);
  const now = Date.now() + 2000;
  const { out } = await sotra('comment copies --json --expiring 24h', { now });
  expect(JSON.parse(out)).toHaveLength(1);
  expect(await copies('--expiring 4d')).toHaveLength(3);
  expect(await sotra('comment copies --expiring soon')).toMatchObject({ code: 2 });
});

test('an intent that was refused is not kept, one whose answer was lost is unknown', async () => {
  const { env } = place();
  const failing = await stub(({ method }, response) => {
    response.statusCode = method === 'GET' ? 200 : failing.requests.length === 1 ? 400 : 503;
    response.setHeader('content-type', 'application/json');
    response.end(method === 'GET' ? '[]' : '{"error":"no"}');
  });
  const all = { ...env, ...failing.env };
  expect((await run(`${copy} --retries 0`, { env: all })).code).toBe(6);
  expect((await run(`${copy} --retries 0`, { env: all })).code).toBe(8);
  const { out } = await run('comment copies --json', { env: all });
  expect(JSON.parse(out)).toMatchObject([{ state: 'unknown', intentIds: [] }]);
  expect(readFileSync(join(env.SOTRA_DATA_DIR, 'comment', 'copies.ndjson'), 'utf8')).not.toContain('stub-key');
});
