import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson } from '../../support/harness.ts';
import { now, wallet, worldOf } from '../../support/trades.ts';

const [alice, bob, carol, dave, erin, frank] = ['a', 'b', 'c', 'd', 'e', 'f'].map(wallet) as [string, ...string[]];
const gm = `0x${'0'.repeat(38)}61`;

/** One token; its last trade puts the price at 2 USD. */
const oneToken = [
  `2026-11-20T10:00:00Z base ${alice} ${gm} buy 100 200`,
  `2026-11-20T10:05:00Z base ${bob} ${gm} buy 300 600`,
  `2026-11-20T10:10:00Z base ${carol} ${gm} buy 50 100`,
  `2026-11-20T10:20:00Z base ${dave} ${gm} buy 10 20`,
  `2026-11-20T10:30:00Z base ${bob} ${gm} sell 100 250`, // cost 200: +50
  `2026-11-20T10:40:00Z base ${erin} ${gm} buy 0.4 0.8`, // worth 0.80: closed without a sale
  `2026-11-20T11:00:00Z base ${carol} ${gm} sell 50 400`, // +300
  `2026-11-20T11:30:00Z base ${dave} ${gm} sell 10 5`, // -15
  `2026-11-20T12:00:00Z base ${frank} ${gm} buy 1 2`,
];

const list = async (env: Record<string, string>, argv: string) => runJson(`--sandbox ${argv}`, { env, now });
const holders = (cards: { actor: { address: string } }[]) => cards.map((card) => card.actor.address);

test('a token lists who holds it by how much, and who closed it by realized PnL', async () => {
  const env = await worldOf(oneToken);
  expect(holders(await list(env, `token positions base ${gm} open`))).toEqual([bob, alice, frank]);
  expect(holders(await list(env, `token positions base ${gm} closed`))).toEqual([carol, erin, dave]);
});

test('a token lists the latest first: open ones by opening, closed ones by closing', async () => {
  const env = await worldOf(oneToken);
  expect(holders(await list(env, `token positions base ${gm} open --sort latest`))).toEqual([frank, bob, alice]);
  expect(holders(await list(env, `token positions base ${gm} closed --sort latest`))).toEqual([dave, carol, erin]);
});

test('a position card holds the figures that follow from its trades, worked out by hand', async () => {
  const env = await worldOf(oneToken);
  const [card] = await list(env, `profile positions ${bob} open`);
  expect(card).toMatchObject({
    totalCompletions: 6,
    transactionHash: '0xhash4',
    timestamp: 1795170600,
    cardLatestTradeAt: 1795170600,
    metadata: {
      tokenChain: 'base',
      tokenAddress: gm,
      metadataType: 'token',
      positionAmount: 200,
      positionStats: {
        boughtUSD: 600,
        soldUSD: 250,
        realizedGainsUSD: 50,
        holdingsCostBasisUSD: 400,
        receivedCostBasisUSD: 0,
        holdingReceivedCostBasisUSD: 0,
        isOpen: true,
      },
      trades: [
        { direction: 'sell', intent: 'exit', tokenAmount: 100, usdCost: 250, transactionHash: '0xhash4' },
        { direction: 'buy', intent: 'enter', tokenAmount: 300, usdCost: 600, transactionHash: '0xhash1' },
      ],
    },
  });
});

test('token positions leave the transaction of the card and trades without comments out', async () => {
  const env = await worldOf(oneToken);
  for (const card of await list(env, `token positions base ${gm} open`)) {
    expect(card).not.toHaveProperty('transactionHash');
    expect(card.metadata.trades).toEqual([]);
  }
});

const tokens = ['61', '62', '63', '64'].map((end) => `0x${'0'.repeat(38)}${end}`) as [string, string, string, string];
const tokensOf = (cards: { metadata: { tokenAddress: string } }[]) => cards.map((card) => card.metadata.tokenAddress);

test("a trader's closed positions come by realized PnL, those never sold at the bottom", async () => {
  const [a, b, c] = tokens;
  const env = await worldOf([
    `2026-11-20T10:00:00Z base ${alice} ${b} buy 0.5 0.5`, // worth 0.50, never sold
    `2026-11-20T10:01:00Z base ${alice} ${c} buy 10 20`,
    `2026-11-20T10:02:00Z base ${alice} ${c} sell 10 10`, // -10
    `2026-11-20T10:03:00Z base ${alice} ${a} buy 10 20`,
    `2026-11-20T12:00:00Z base ${alice} ${a} sell 10 25`, // +5
  ]);
  expect(tokensOf(await list(env, `profile positions ${alice} closed`))).toEqual([a, c, b]);
  expect(tokensOf(await list(env, `profile positions ${alice} closed --sort latest`))).toEqual([a, c, b]);
  expect(tokensOf(await list(env, `profile positions ${alice} open`))).toEqual([]);
});

test("a trader's open positions come by the cost of what was sold of them in 30 days", async () => {
  const [a, b, c, d] = tokens;
  const env = await worldOf([
    `2026-10-01T10:00:00Z base ${alice} ${c} buy 1000 1000`,
    `2026-10-02T10:00:00Z base ${alice} ${c} sell 500 500`, // cost 500, but 49 days ago
    `2026-11-20T10:00:00Z base ${alice} ${d} buy 900 900`, // nothing sold
    `2026-11-20T10:01:00Z base ${alice} ${a} buy 100 100`,
    `2026-11-20T10:02:00Z base ${alice} ${a} sell 50 20`, // cost 50
    `2026-11-20T10:03:00Z base ${alice} ${b} buy 100 200`,
    `2026-11-20T12:00:00Z base ${alice} ${b} sell 50 900`, // cost 100
  ]);
  const shown = await list(env, `profile positions ${alice} open`);
  expect(tokensOf(shown).slice(0, 2)).toEqual([b, a]);
  expect(new Set(tokensOf(shown).slice(2))).toEqual(new Set([c, d]));
  const ties = shown.slice(2).map((card: { itemId: string }) => card.itemId);
  expect(ties).toEqual([...ties].sort());
  expect(tokensOf(await list(env, `profile positions ${alice} open --sort latest`))).toEqual([b, a, d, c]);
});

test('a re-entry is a position of its own, and the one it follows stays closed', async () => {
  const env = await worldOf([
    `2026-11-20T10:00:00Z base ${alice} ${gm} buy 10 10`,
    `2026-11-20T10:01:00Z base ${alice} ${gm} sell 9.5 19`, // leaves 0.5, worth 1 at 2 USD
    `2026-11-20T10:02:00Z base ${alice} ${gm} sell 0.4 0.8`, // leaves 0.1: exited
    `2026-11-20T10:03:00Z base ${alice} ${gm} buy 5 10`,
    `2026-11-20T12:00:00Z base ${bob} ${gm} buy 1 50`, // the dust would be worth 5 USD now
  ]);
  const open = await list(env, `profile positions ${alice} open`);
  const closed = await list(env, `profile positions ${alice} closed`);
  expect(open.map((card: { metadata: { positionAmount: number } }) => card.metadata.positionAmount)).toEqual([5]);
  expect(closed).toHaveLength(1);
  expect(closed[0].metadata.positionStats).toMatchObject({ isOpen: false });
  expect(open[0].itemId).not.toBe(closed[0].itemId);
});

test('perps are left out of a profile unless asked for, but not of the token that they are', async () => {
  const env = await worldOf([
    `2026-11-20T10:00:00Z hyperliquid ${alice} ETH buy 10 20000 long 5`,
    `2026-11-20T12:00:00Z hyperliquid ${bob} ETH sell 20 40000 short 4`,
    `2026-11-20T11:00:00Z polygon ${alice} ${gm} buy 10 20`,
  ]);
  expect(await list(env, `profile positions ${alice} open`)).toEqual([]);
  expect(await list(env, `profile positions ${alice} open --chains hyperliquid`)).toHaveLength(1);
  expect(await list(env, `profile positions ${alice} open --chains polygon,hyperliquid`)).toHaveLength(2);
  expect(await list(env, `profile positions ${alice} open --chains all`)).toHaveLength(2);
  expect(await list(env, `token positions polygon ${gm} open`)).toHaveLength(1);
  expect(await list(env, 'token positions hyperliquid ETH open --chains base')).toEqual([]);
  const [short, long] = await list(env, 'token positions hyperliquid ETH open');
  expect(long.metadata).toMatchObject({
    perpPositionType: 'long',
    perpLeverage: 5,
    positionAmount: 2,
    positionAmountWithLeverage: 10,
    positionStats: { holdingsCostBasisUSD: 4000, holdingsCostBasisUSDWithLeverage: 20000 },
  });
  expect(short.metadata).toMatchObject({
    perpPositionType: 'short',
    perpLeverage: 4,
    positionAmount: -5,
    positionAmountWithLeverage: -20,
    positionStats: { holdingsCostBasisUSD: 10000, holdingsCostBasisUSDWithLeverage: 40000 },
  });
});

test('one wallet of a profile alone, or all of them', async () => {
  const { env } = newUser();
  const count = async (argv: string) => (await list(env, `profile positions ${argv} --chains all --limit 100`)).length;
  const { addresses } = await list(env, 'profile get 0x143cf5cccbc8447504a99413dec7ea93ec228432');
  expect(addresses).toHaveLength(2);
  const [all, first, second] = await Promise.all([
    count(`${addresses[0]} closed`),
    count(`${addresses[0]} closed --provided-addresses-only`),
    count(`${addresses[1]} closed --provided-addresses-only`),
  ]);
  expect(Math.min(first, second)).toBeGreaterThan(0);
  expect(all).toBe(first + second);
  expect(await count(`${addresses[1]} closed --no-provided-addresses-only`)).toBe(all);
});

test('pages of any size hold each position once, in one order, whatever ties there are', async () => {
  const many = Array.from({ length: 60 }, (_, index) => {
    const trader = `0x${String(index + 1).padStart(40, '0')}`;
    return `2026-11-20T12:00:00Z base ${trader} ${gm} buy 10 20`;
  });
  const env = await worldOf(many);
  for (const sort of ['value', 'latest']) {
    const pages = await Promise.all(
      [1, 2, 3, 4, 5].map((page) =>
        list(env, `token positions base ${gm} open --sort ${sort} --page ${page} --limit 13`),
      ),
    );
    const ids = pages.flat().map((card: { itemId: string }) => card.itemId);
    expect(pages.map((page) => page.length)).toEqual([13, 13, 13, 13, 8]);
    expect(ids).toEqual([...new Set(ids)].sort());
    const walked = await list(env, `token positions base ${gm} open --sort ${sort} --all --limit 7`);
    expect(walked).toEqual(pages.flat());
  }
  expect(await list(env, `token positions base ${gm} open`)).toHaveLength(20);
});

test('an unknown token and an unseen wallet have no positions, an unknown profile is not found', async () => {
  const none = await run(`--sandbox token positions base ${gm} open`);
  expect(none).toEqual({ code: 0, out: '', err: 'No such positions in this token.\n' });
  const perhaps = (name: string) => `\nUpper and lower case may matter to the service: perhaps ${name}.\n`;
  const typed = '0x4ED4E862860BED51A9570B96D89AF5E1B0EFEFEE';
  for (const command of [`positions base ${typed} open`, `comments base ${typed}`])
    expect((await run(`--sandbox token ${command}`)).err).toMatch(
      perhaps('0x4ed4e862860bed51a9570b96d89af5e1b0efefee'),
    );
  const exact = await answering([]);
  const { err } = await run('token positions hyperliquid xyz:nvda open', { env: exact.env });
  expect(err).toMatch(perhaps('xyz:NVDA'));
  for (const command of [`profile positions ${wallet('9')} open`, `feed actor ${wallet('9')}`])
    expect(await run(`--sandbox ${command}`)).toEqual(
      failure(0, ' Perps need --chains hyperliquid or --chains all.\n'),
    );
  const unknown = await run('--sandbox profile positions 3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11 open');
  expect(unknown.code).toBe(5);
});

const [anna, ben] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`];
const token = `0x${'4'.repeat(40)}`;

/** Trades and positions of a world of its own. */
function world() {
  const { env } = newUser();
  const json = async (argv: string) => {
    const { out, err, code } = await run(`--sandbox ${argv} --json`, { env });
    return { code, err, ...(out === '' ? {} : JSON.parse(out)) };
  };
  const trade = (trader: string, side: string, amount: number, usd: number, more = '') =>
    json(
      `sandbox trade --chain base --trader ${trader} --token ${token} --side ${side} --amount ${amount} --usd ${usd} ${more}`,
    );
  const ids = async (status: string) => {
    const cards: { itemId: string }[] = await runJson(`--sandbox profile positions ${anna} ${status}`, { env });
    return cards.map(({ itemId }) => itemId);
  };
  const card = async (id: string) => {
    const { positionAmount, positionStats } = (await json(`position get ${id}`)).metadata;
    return [positionAmount, positionStats.holdingsCostBasisUSD, positionStats.realizedGainsUSD];
  };
  return { trade, ids, card };
}

test('a position that its price alone closed stays closed: who buys again enters a new one', async () => {
  const { trade, ids } = world();
  const first = await trade(anna, 'buy', 100, 200);
  expect(await ids('open')).toEqual([first.positionId]);
  await trade(ben, 'buy', 1000, 1);
  expect([await ids('open'), await ids('closed')]).toEqual([[], [first.positionId]]);
  const second = await trade(anna, 'buy', 10, 50);
  expect(second.positionId).not.toBe(first.positionId);
  expect([await ids('open'), await ids('closed')]).toEqual([[second.positionId], [first.positionId]]);
  // The price rises, and the old one does not come back.
  await trade(ben, 'buy', 1, 10);
  expect(await ids('closed')).toEqual([first.positionId]);
});

test('what was left when the price closed a position begins the next one, at its cost', async () => {
  const { trade, card } = world();
  const first = await trade(anna, 'buy', 100, 200);
  await trade(ben, 'buy', 1000, 1);
  const second = await trade(anna, 'buy', 10, 50);
  expect([...(await card(first.positionId)), ...(await card(second.positionId))]).toEqual([0, 0, 0, 110, 250, 0]);
  // The oldest tokens go first: 100 that cost 200, and 5 that cost 25.
  await trade(anna, 'sell', 105, 525);
  expect(await card(second.positionId)).toEqual([5, 25, 300]);
});

test('the same transaction twice is one trade; with other figures it is refused', async () => {
  const { trade, ids } = world();
  const tx = `--tx 0x${'5'.repeat(64)}`;
  const first = await trade(anna, 'buy', 100, 200, tx);
  const again = await trade(anna, 'buy', 100, 200, tx.toUpperCase().replace('--TX 0X', '--tx 0x'));
  expect([first.isRepeated, again.isRepeated, again.positionId]).toEqual([false, true, first.positionId]);
  expect([again.deliveries, again.timestamp]).toEqual([0, first.timestamp]);
  const other = await trade(anna, 'buy', 100, 300, tx);
  expect(other.err).toContain('already exists, with 100 tokens for 200 USD');
  // Another swap of the transaction.
  expect((await trade(anna, 'sell', 50, 120, tx)).isRepeated).toBe(false);
  expect(await ids('open')).toEqual([first.positionId]);
});

/** A position of the built-in world: four trades, one of them commented, three replies. */
const known = '6527ff56-9ac0-5c42-812c-d84aa9a0cf53';

test('one position shows its trades newest first, then each comment with its replies', async () => {
  const { out } = await run(`--sandbox position get ${known}`, { tty: 100 });
  const order = ['Trader ', 'Realized ', 'Trades', ' sell ', ' buy ', 'Comment on the buy of ', 'Replies', 'ondine'];
  const places = order.map((text) => out.indexOf(text));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(out).toContain('Comment  Topped up DEGEN: same thesis, lower price.');
  expect(out).toContain('Reply  Good luck. Honestly.');
});

test('replies come with a single position and with nothing else', async () => {
  const comments = async (argv: string) => {
    const answer = [await runJson(`--sandbox ${argv}`)].flat();
    const cards = answer.filter((card) => card.itemId === known);
    return cards.flatMap((card) => card.metadata.trades.flatMap((trade: { comments: object[] }) => trade.comments));
  };
  const [single] = await comments(`position get ${known}`);
  const first = { text: 'Been in since last week, welcome.', author: { type: 'user' } };
  expect(single.replies).toMatchObject([first, {}, {}]);
  const [listed] = await comments('token positions base 0x4ed4e862860bed51a9570b96d89af5e1b0efefed open');
  expect(listed).toMatchObject({ uid: single.uid, commentText: single.commentText });
  expect(listed).not.toHaveProperty('replies');
});

test('viewer addresses say what they like, on comments and replies', async () => {
  const liked = async (more: string) => {
    const { metadata } = await runJson(`--sandbox position get ${known} ${more}`);
    const [comment] = metadata.trades.flatMap((trade: { comments: object[] }) => trade.comments);
    return [comment, ...comment.replies].filter((one) => one.isLikedByUser ?? one.metrics.isLikedByUser).length;
  };
  expect(await liked('')).toBe(0);
  const followers = await runJson('--sandbox profile followers 0x465bdc4499e12488c05fd6b60f545ff5d781e755');
  const fans = followers.items.map((fan: { addresses: string[] }) => fan.addresses[0]);
  const counts = await Promise.all(fans.map((fan: string) => liked(`--viewer-addresses ${fan}`)));
  expect(Math.max(...counts)).toBeGreaterThan(0);
});

test('a list is one line a card, with side and leverage on perps and the sign of the PnL', async () => {
  const argv = '--sandbox profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 closed --chains hyperliquid';
  const { out } = await run(`${argv} --limit 1`, { tty: 140, now });
  const [head = '', , row = ''] = out.split('\n');
  expect(head.trim()).toMatch(/^Trader +Token +Chain +Side +Realized +Holding +Cost +Comments +Last trade +Position$/);
  expect(row.trim()).toMatch(
    /^0xb7b6…17b2 +SUI +hyperliquid +short ×1 +\+\$10\.60 +0 +\$0\.00 +0 +2026-11-20 09:04Z +b953f4c4-6fe9-5d81-8dbf-/,
  );
  const narrow = await run(`${argv} --limit 1`, { tty: 60 });
  expect(narrow.out).toMatch(/^Trader +Token +Side +Realized +Holding +Cost *\n/);
});
