import { expect, test } from 'vitest';
import { answering, run, stub } from '../../support/harness.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const trader = `0x${'1'.repeat(40)}`;
const cat = `0x${'c'.repeat(40)}`;
const atSec = (text: string) => Date.parse(`2026-11-${text}Z`) / 1000;

const images = { raw: null, xs: null, sm: null };
const card = (itemId: string, symbol: string, token: string, figures: object, trades: { timestamp: number }[]) => ({
  ...{ totalCompletions: 1, itemTitle: 'ann', callToActions: [], insights: [], metrics: {}, itemId },
  ...{ timestamp: trades[0]?.timestamp, actor: { address: trader, images }, transactionHash: '0x1' },
  metadata: {
    ...{ tokenChain: 'base', tokenSymbol: symbol, tokenAddress: token, positionAmount: 0, ...figures },
    positionStats: {
      ...{ boughtUSD: 0, soldUSD: 0, realizedGainsUSD: 0, holdingsCostBasisUSD: 0, isOpen: false },
      ...('positionStats' in figures ? (figures.positionStats as object) : {}),
    },
    trades,
  },
});
const swap = (direction: string, time: string, tokenAmount: number, usdCost: number) => ({
  ...{ direction, timestamp: atSec(time), tokenAmount, usdCost },
});

/** Held: bought at 2. Sold: bought at 1, sold at 3, half an hour later. */
const open = card(
  ...(['held', 'CAT', cat] as const),
  { positionAmount: 10, positionStats: { boughtUSD: 20, holdingsCostBasisUSD: 20, isOpen: true } },
  [swap('buy', '19T10:00:00', 10, 20)],
);
const closed = card(
  ...(['sold', 'DOG', `0x${'d'.repeat(40)}`] as const),
  { positionStats: { boughtUSD: 50, soldUSD: 150, realizedGainsUSD: 100 } },
  [swap('sell', '18T10:30:00', 50, 150), swap('buy', '18T10:00:00', 50, 50)],
);

/** Another trader bought CAT at 2.5 three minutes later, and said so. */
const comment = {
  ...{ itemId: 'c', actor: { address: trader }, timestamp: atSec('19T10:03:00') },
  comment: {
    uid: 'u',
    transactionHash: '0x2',
    chain: 'base',
    tokenAddress: cat,
    commentText: 'gm',
    timestamp: 1,
    signerAddress: trader,
  },
  trade: swap('buy', '19T10:03:00', 2, 5),
  token: { chain: 'base', symbol: 'CAT', name: 'Cat', address: cat, commentCount: 1 },
};

const serve = () =>
  stub(({ url }, response) => {
    const answer = /positions\/open/.test(url) ? [open] : /positions\/closed/.test(url) ? [closed] : [comment];
    response.end(JSON.stringify(url.includes('dddd') ? [] : answer));
  });

test('a copy is computed of two lists and a call for each token, and says on which prices it rests', async () => {
  const { env, requests } = await serve();
  const { code, out, err } = await run(`backtest copy ${trader} --usd 100 --delay 2m --format csv`, { env, now });
  expect(code).toBe(0);
  // CAT: 100 / 2.5 = 40, worth 2.5 each; DOG: 100 at 1, sold at 3.
  expect(out).toBe(
    'token,chain,side,enteredAt,entries,exits,investedUsd,returnedUsd,heldUsd,heldPriceAt,pnlUsd,pnlPercent,ownPnlUsd,ownPnlPercent,prices\n' +
      'CAT,base,spot,1795082520,1,0,100,0,100,1795082580,0,0,5,25,later\n' +
      'DOG,base,spot,1794996120,1,1,100,300,0,,200,200,100,200,own\n',
  );
  expect(err).toBe(
    'In all $200.00 invested in 2 positions, $300.00 returned, $100.00 still held: PnL +$200.00 (+100.0%). ' +
      "The trader's own: +$105.00 (+150.0%).\n" +
      "3 copied trades: 1 at the price of a later trade, 2 at the trader's own, where no trade that is shown is nearer in " +
      'time to the copy: there the delay changes nothing.\n' +
      'What is held has the price of the last trade shown of its token, the oldest of 2026-11-19 10:03:00Z: ' +
      'the price now is not known.\n',
  );
  expect(requests.map(({ url }) => url)).toEqual([
    `/v1/addresses/${trader}/positions/open?sort=latest&chains=all&page=1&limit=51`,
    `/v1/addresses/${trader}/positions/closed?sort=latest&chains=all&page=1&limit=51`,
    `/v1/tokens/base/${cat}/comments?limit=100`,
    `/v1/tokens/base/0x${'d'.repeat(40)}/comments?limit=100`,
  ]);
});

test('JSON has every copied trade, the sums and what was asked for', async () => {
  const { env } = await serve();
  const line = `backtest copy ${trader} --usd 100 --delay 0s --since 2026-11-19 --fee 1% --json`;
  const { code, out, err } = await run(line, { env, now });
  expect([code, err]).toEqual([0, '']);
  const { positions, total, ...asked } = JSON.parse(out);
  expect(asked).toEqual({
    ...{ trader, usdPerEntry: 100, delaySec: 0, feePercent: 1, since: '2026-11-19T00:00:00.000Z', hasMore: false },
  });
  // 99 USD buy 49.5 at 2, worth 2.5 each.
  expect(total).toMatchObject({ entries: 1, exits: 0, laterPrices: 0, heldUsd: 123.75, pnlUsd: 23.75 });
  expect(positions).toMatchObject([
    { itemId: 'held', trades: [{ action: 'enter', priceUsd: 2, priceOf: 'own', usd: 100, gainUsd: null }] },
  ]);
});

test('a narrow terminal keeps the token, its PnL and that of the trader; a chart adds the days up', async () => {
  const { env } = await serve();
  const line = `backtest copy ${trader} --usd 100 --delay 2m --quiet`;
  // Two positions of one token differ in when they were entered.
  expect((await run(line, { env, now, tty: 64 })).out).toBe(`\
Token  Entered           PnL    PnL %   Own PnL    Own %  Prices
────────────────────────────────────────────────────────────────
CAT    11-19 10:02     $0.00     0.0%    +$5.00   +25.0%  later
DOG    11-18 10:02  +$200.00  +200.0%  +$100.00  +200.0%  own
`);
  expect((await run(line, { env, now, tty: 45 })).out).toBe(`\
Token       PnL    PnL %   Own PnL    Own %
───────────────────────────────────────────
CAT       $0.00     0.0%    +$5.00   +25.0%
DOG    +$200.00  +200.0%  +$100.00  +200.0%
`);
  const chart = await run(`${line} --chart`, { env, now, tty: 60 });
  expect(chart.out).toMatch(/^2026-11-18 +\+\$200.00 +│█+$/m);
  expect(chart.out).toMatch(/^with what is held +\+\$200.00 +│█+$/m);
});

test('the latest positions are copied, and more are said', async () => {
  const { env } = await serve();
  const { out, err } = await run(`backtest copy ${trader} --usd 100 --delay 2m --limit 1 --format csv`, { env, now });
  expect(out.split('\n').map((row) => row.split(',')[0])).toEqual(['token', 'CAT', '']);
  expect(err).toContain('There may be more positions: --limit takes up to 250.\n');
});

test('a trader without positions has an empty table', async () => {
  const { env } = await answering([]);
  const { code, out, err } = await run(`backtest copy ${trader} --usd 100 --delay 2m`, { env, tty: 80 });
  expect([code, out, err]).toEqual([0, '', 'This trader has no entry to copy.\n']);
});

test('in the sandbox a copy without delay and fee of one entry and its exit makes what the trader made', async () => {
  const board = await run('--sandbox leaderboard list --json');
  const [first] = JSON.parse(board.out).traders;
  const line = `--sandbox backtest copy ${first.profile.addresses[0]} --usd 100 --delay 0s --json`;
  const { positions } = JSON.parse((await run(line)).out);
  const simple = positions.filter(
    (each: Record<string, unknown>) => each['entries'] === 1 && each['heldUsd'] === 0 && each['isPartial'] === false,
  );
  expect(simple.length).toBeGreaterThan(2);
  for (const { pnlPercent, ownPnlPercent } of simple) expect(pnlPercent).toBeCloseTo(ownPnlPercent, 6);
});

test('what was traded a minute ago is copied, also where the clock of the service is ahead', async () => {
  const { env } = await serve();
  const early = Date.parse('2026-11-17T00:00:00Z');
  const { out } = await run(`backtest copy ${trader} --usd 100 --delay 2m --columns token,entries`, {
    env,
    now: early,
  });
  expect(out).toBe('CAT\t1\nDOG\t1\n');
});
