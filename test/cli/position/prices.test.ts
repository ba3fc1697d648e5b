import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';
import { now, wallet, worldOf } from '../../support/trades.ts';

const [alice, bob] = [wallet('a'), wallet('b')];
const [gm, gn] = [`0x${'0'.repeat(37)}abc`, `0x${'0'.repeat(37)}def`];
const twin = `0x${'1'.repeat(37)}abc`;

const world = () =>
  worldOf([
    `2026-11-20T10:00:00Z base ${alice} ${gm} buy 100 200`,
    `2026-11-20T10:10:00Z base ${alice} ${gm} sell 40 100`, // cost 80: +20, 60 left for 120
    `2026-11-20T10:20:00Z base ${alice} ${gn} buy 10 50`,
    `2026-11-20T10:30:00Z hyperliquid ${alice} ETH buy 10 20000 long 5`,
    `2026-11-20T12:00:00Z hyperliquid ${bob} ETH sell 20 44000 short 4`,
  ]);

const money = '--columns token,side,priceUsd,unrealizedUsd,totalUsd';

test('a price adds unrealized and total PnL to the rows', async () => {
  const env = await world();
  const { out } = await run(`--sandbox token positions base ${gm} open --price 3 --format csv ${money}`, { env, now });
  expect(out).toBe('token,side,priceUsd,unrealizedUsd,totalUsd\nbc,spot,3,60,80\n');
});

test('on perps the price meets the figures with leverage, and a short gains what a long loses', async () => {
  const env = await world();
  const { out } = await run(`--sandbox token positions hyperliquid ETH open --price 2100 --format csv ${money}`, {
    env,
    now,
  });
  expect(out).toBe('token,side,priceUsd,unrealizedUsd,totalUsd\nTH,short,2100,2000,2000\nTH,long,2100,1000,1000\n');
});

function pricesFile(content: unknown): string {
  const file = join(temporaryFolder(), 'prices.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

test('a file gives each token its price, by address or by symbol; a token without one has no price, never zero', async () => {
  const env = await world();
  const file = pricesFile({ [`BASE:${gm.toUpperCase().replace('X', 'x')}`]: 3, th: 1900, [`base:${gn}`]: null });
  const argv = `--sandbox profile positions ${alice} open --chains all --sort latest --prices-file ${file}`;
  const rows = await run(`${argv} --format csv ${money}`, { env, now });
  expect(rows.out.split('\n').slice(1, 4)).toEqual(['TH,long,1900,-1000,-1000', 'ef,spot,,,', 'bc,spot,3,60,80']);
  const shown = await run(`${argv} --format table`, { env, now, tty: 200 });
  const line = shown.out.split('\n').find((text) => text.includes(' ef '));
  expect(line?.match(/no price/g)).toHaveLength(2);
  expect(shown.out).toContain('-$1,000.00');
  expect(shown.out).toContain('+$60.00');
});

/** A service whose answer has two tokens of one symbol. */
async function twoOfOneSymbol() {
  const env = await worldOf([
    `2026-11-20T10:00:00Z base ${alice} ${gm} buy 100 200`,
    `2026-11-20T10:10:00Z base ${alice} ${twin} buy 10 100`,
  ]);
  const cards = JSON.parse(
    (await run(`--sandbox profile positions ${alice} open --chains base --json`, { env, now })).out,
  );
  for (const { metadata } of cards) metadata.tokenSymbol = 'PEPE';
  return answering(cards);
}

test('a price for one of two tokens that have the same symbol is refused', async () => {
  const service = await twoOfOneSymbol();
  const { code, out, err } = await run(`profile positions ${alice} open --price 0.2`, { env: service.env });
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(`--price is for one token, and these positions are in PEPE (`);
  expect(err).toContain(twin);
});

test('a file prices two tokens of one symbol by address; a symbol for both is a warning, a key for none is named', async () => {
  const service = await twoOfOneSymbol();
  const columns = '--format csv --columns tokenAddress,priceUsd,unrealizedUsd';
  const show = (content: object, more = '') =>
    run(`profile positions ${alice} open --prices-file ${pricesFile(content)} ${columns} ${more}`, {
      env: service.env,
    });
  const own = await show({ [gm.toUpperCase().replace('X', 'x')]: 3, [`base:${twin}`]: 12, 'base:0x12': 1, DOGE: 2 });
  expect(own.out.split('\n').slice(1, 3).sort()).toEqual([`${gm},3,100`, `${twin},12,20`]);
  expect(own.err).toMatch(/^warning: \S+prices.json: no position shown is in base:0x12, DOGE\n$/);
  const both = await show({ pepe: 3 });
  expect(both.err).toContain('warning: pepe priced 2 tokens: base:0x');
  const walked = await show({ pepe: 3, a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, '--all');
  expect(walked.err).toContain('prices.json: no position shown is in a, b, c, d, e and 1 more\n');
});

test('an address wins over a symbol', async () => {
  const env = await world();
  const file = pricesFile({ bc: 9, [`base:${gm}`]: 2 });
  const { out } = await run(`--sandbox token positions base ${gm} open --prices-file ${file} --format csv ${money}`, {
    env,
    now,
  });
  expect(out.split('\n')[1]).toBe('bc,spot,2,0,20');
});

test('received tokens have a column of their own, which a note explains', async () => {
  const env = await worldOf([
    `2026-11-20T10:00:00Z base ${alice} ${gm} buy 100 200`,
    `2026-11-20T12:00:00Z base ${bob} ${gm} buy 1 2`,
  ]);
  const card = JSON.parse((await run(`--sandbox token positions base ${gm} open --json`, { env, now })).out)[0];
  card.metadata.positionStats.holdingReceivedCostBasisUSD = 30;
  const service = await answering([card]);
  const { out, err } = await run(
    `token positions base ${gm} open --price 3 --format csv --columns unrealizedUsd,unrealizedWithReceivedUsd`,
    { env: service.env },
  );
  expect(out).toBe('unrealizedUsd,unrealizedWithReceivedUsd\n100,70\n');
  expect(err).toContain('1 of these holds received tokens');
});

test('JSON stays as the service sent it, and says so', async () => {
  const env = await world();
  const plain = await run(`--sandbox token positions base ${gm} open --json`, { env, now });
  const withPrice = await run(`--sandbox token positions base ${gm} open --price 3 --json`, { env, now });
  expect(withPrice.out).toBe(plain.out);
  expect(withPrice.err).toContain('unchanged');
});

test.each([
  ['not json', 'not JSON'],
  ['[1,2]', 'must be a JSON object'],
  ['\uFEFF{"ETH": -1}', 'the price of ETH must be a number'],
  ['{"ETH": "1900"}', 'the price of ETH must be a number'],
])('a prices file that holds %s is refused before anything is sent', async (content, said) => {
  const service = await answering([]);
  const argv = `token positions base ${gm} open --prices-file ${pricesFile(content)}`;
  expect(await run(argv, { env: service.env })).toMatchObject({ code: 2, err: expect.stringContaining(said) });
  expect(service.requests).toEqual([]);
});

test('a prices file that is not there is exit 3, a negative price exit 2, nothing sent', async () => {
  const service = await answering([]);
  const code = async (more: string) =>
    (await run(`token positions base ${gm} open ${more}`, { env: service.env })).code;
  expect(await code('--prices-file /nonexistent/prices.json')).toBe(3);
  expect(await code('--prices-file /nonexistent/prices.json --dry-run')).toBe(3);
  expect(await code('--price=-1')).toBe(2);
  expect(await code('--price much')).toBe(2);
  expect(service.requests).toEqual([]);
});
