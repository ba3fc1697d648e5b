import { expect, test } from 'vitest';
import { idsIn } from '../../support/feed-cards.ts';
import { answering, failure, newUser, run, runJson } from '../../support/harness.ts';
import { ask, serveSandbox } from '../../support/served.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const alice = `0x${'a1'.repeat(20)}`;
const bob = `0x${'b0'.repeat(20)}`;
const carol = `0x${'c4'.repeat(20)}`;
const [cat, dog, fox] = ['1', '2', '3'].map((end) => `0x${end.padStart(40, '0')}`) as [string, string, string];
const header = 'time,chain,trader,token,symbol,side,amount,usd,tx,supply,direction,leverage';

interface Card {
  itemId: string;
  cardLatestTradeAt: number;
  actor: { address: string };
  metadata: { tokenSymbol: string; tokenChain: string; trades: { usdCost: number }[] };
  forYouTrade?: { usdCost: number; alphaTags: Record<string, number>; maxAlphaScore: number; comments?: unknown };
}

interface Feed {
  items: Card[];
  pagination: Record<'olderCursor' | 'olderItemsURL' | 'newerCursor' | 'newerItemsURL', string | null>;
}

/** A sandbox that holds these trades and nothing else; gives what its feed commands answer. */
async function sandboxOf(lines: readonly string[]) {
  const { env } = newUser();
  const stdin = `${header}\n${lines.join('\n')}\n`;
  expect(await run('sandbox import -', { env, now, stdin })).toMatchObject({ code: 0 });
  const asked = (argv: string) => run(`--sandbox ${argv} --strict`, { env, now });
  const feed = async (argv: string): Promise<Feed> => {
    const { out, err } = await asked(`feed actor ${argv} --json`);
    expect(err).not.toContain('error');
    return JSON.parse(out);
  };
  const symbols = async (argv: string) => (await feed(argv)).items.map(({ metadata }) => metadata.tokenSymbol);
  return { env, ask: asked, feed, symbols };
}

const line = (minute: number, trader: string, token: string, symbol: string, usd: number, more = ',,') =>
  `2026-11-20T11:${String(minute).padStart(2, '0')}:00Z,base,${trader},${token},${symbol},buy,10,${usd},0x${minute}${symbol},${more}`;

const world = [
  line(1, alice, cat, 'CAT', 600, '50000,,'),
  line(2, alice, dog, 'DOG', 90, '100000,,'),
  line(3, alice, fox, 'FOX', 1000),
  line(4, alice, cat, 'CAT', 20, '50000,,'),
  `2026-11-20T11:59:00Z,hyperliquid,${alice},ETH,ETH,buy,1,2000,9001,,long,5`,
  line(30, bob, cat, 'CAT', 5, '50000,,'),
];

test('cards come newest first by their latest trade; perps only when their chain is requested', async () => {
  const { symbols, feed } = await sandboxOf(world);
  expect(await symbols(alice)).toEqual(['CAT', 'FOX', 'DOG']);
  expect(await symbols(`${alice} --chains all`)).toEqual(['ETH', 'CAT', 'FOX', 'DOG']);
  expect(await symbols(`${alice} --chains hyperliquid`)).toEqual(['ETH']);
  const [first] = (await feed(alice)).items;
  expect(first).toMatchObject({
    cardLatestTradeAt: Date.parse('2026-11-20T11:05:00Z') / 1000,
    transactionHash: '0x4CAT',
    metadata: { trades: [{ usdCost: 20 }, { usdCost: 600 }] },
  });
});

test('cards of one second are ordered by their id', async () => {
  const lines = Array.from({ length: 40 }, (_, index) =>
    line(5, alice, `0x${String(index).padStart(40, '0')}`, `T${index}`, 10 + index),
  );
  const { feed } = await sandboxOf(lines);
  const { items } = await feed(`${alice} --limit 40`);
  const ids = items.map(({ itemId }) => itemId);
  expect(ids).toEqual([...ids].sort());
  expect(ids).toHaveLength(40);
  expect((await feed(alice)).items).toHaveLength(25);
});

test('--min-trade-usd keeps cards with at least one trade worth that much', async () => {
  const { symbols } = await sandboxOf(world);
  expect(await symbols(`${alice} --min-trade-usd 500`)).toEqual(['CAT', 'FOX']);
  expect(await symbols(`${alice} --min-trade-usd 1000`)).toEqual(['FOX']);
});

test('market cap bounds look at the latest trade: the upper one is exclusive, an unknown cap is left out', async () => {
  // CAT: 2 USD x 50,000 = 100,000 (it was 3,000,000 at its first trade); DOG: 9 USD x 100,000 = 900,000; FOX: no supply.
  const { symbols } = await sandboxOf(world);
  expect(await symbols(`${alice} --min-market-cap 100000`)).toEqual(['CAT', 'DOG']);
  expect(await symbols(`${alice} --max-market-cap 100000`)).toEqual([]);
  expect(await symbols(`${alice} --max-market-cap 1000000`)).toEqual(['CAT', 'DOG']);
  expect(await symbols(`${alice} --min-market-cap 1000000 --max-market-cap 10000000`)).toEqual([]);
});

test('links are absolute, keep every other parameter and lead both ways; null if nothing follows', async () => {
  const { feed } = await sandboxOf(world);
  const top = await feed(`${alice} --limit 1 --chains base`);
  expect(top.pagination).toMatchObject({ newerCursor: null, newerItemsURL: null });
  const cursor = top.pagination.olderCursor ?? '';
  expect(top.pagination.olderItemsURL).toBe(
    `http://sandbox.localhost/v1/feed/actor?identifier=${alice}&chains=base&limit=1&olderThan=${cursor}`,
  );
  const middle = await feed(`${alice} --limit 1 --chains base --cursor ${cursor}`);
  const end = await feed(`${alice} --limit 1 --chains base --cursor ${middle.pagination.olderCursor}`);
  const walked = [top, middle, end].flatMap(({ items }) => items.map(({ metadata }) => metadata.tokenSymbol));
  expect(walked).toEqual(['CAT', 'FOX', 'DOG']);
  expect(end.pagination).toMatchObject({ olderCursor: null, olderItemsURL: null });
  expect(end.pagination.newerItemsURL).toContain('&newerThan=');
  const back = await feed(`${alice} --limit 1 --chains base --newer-than ${end.pagination.newerCursor}`);
  expect(back.items).toEqual(middle.items);
});

test('a time is accepted instead of a cursor, in both directions and exclusively', async () => {
  const { symbols } = await sandboxOf(world);
  expect(await symbols(`${alice} --newer-than 2026-11-20T11:04:00Z`)).toEqual(['CAT']);
  expect(await symbols(`${alice} --newer-than 2026-11-20T11:03:59Z`)).toEqual(['CAT', 'FOX']);
  expect(await symbols(`${alice} --older-than 2026-11-20T11:04:00Z`)).toEqual(['DOG']);
  const justAfter = Date.parse('2026-11-20T11:04:01Z') / 1000;
  expect(await symbols(`${alice} --older-than ${justAfter}`)).toEqual(['FOX', 'DOG']);
  expect(await symbols(`${alice} --newer-than 2026-11-21`)).toEqual([]);
});

test('a time without a zone is sent as UTC, and what is no time is refused before any request', async () => {
  const service = await answering({ items: [], pagination: null });
  const feed = (words: readonly string[]) => run(['feed', 'actor', 'ext:a', ...words], { env: service.env });
  expect(await feed(['--newer-than', '2026-11-20 11:04'])).toMatchObject({ code: 0 });
  expect(service.requests.map(({ url }) => url)).toEqual([
    '/v1/feed/actor?identifier=ext%3Aa&newerThan=2026-11-20T11%3A04%3A00.000Z',
  ]);
  expect(await feed(['--older-than', '2026-02-30'])).toEqual(failure(2, '--older-than 2026-02-30: not a time'));
  expect(service.requests).toHaveLength(1);
});

test('since a time the newest cards come first, and --all gives those of the window and no others', async () => {
  const { ask } = await sandboxOf(world);
  const down = await ask(`feed actor ${alice} --chains all --limit 1 --all --json`);
  const since = (time: string, more: string) =>
    ask(`feed actor ${alice} --chains all --limit 1 --newer-than ${time} ${more} --json`);
  expect(idsIn(down.out)).toHaveLength(4);
  expect(idsIn((await since('2020-01-01', '--all')).out)).toEqual(idsIn(down.out));
  const times = JSON.parse(down.out).map(({ timestamp }: { timestamp: number }) => timestamp);
  const window = await since(String(times[2]), '--all');
  expect(idsIn(window.out)).toEqual(idsIn(down.out).slice(0, 2));
  const first = await since(String(times[2]), '');
  expect(JSON.parse(first.out).items[0].itemId).toBe(idsIn(down.out)[0]);
  expect(first.err).toMatch(/^Showing \d+; more with --cursor \S+ or --all$/m);
});

test.each([
  ['--older-than yesterday', 'olderThan "yesterday": neither a cursor of a feed nor a time in ISO 8601'],
  ['--newer-than WzEsbnVsbF0', 'newerThan "WzEsbnVsbF0": neither a cursor of a feed nor a time in ISO 8601'],
])('%s is refused by the service with its reason', async (flags, message) => {
  const { ask } = await sandboxOf(world);
  const { code, err } = await ask(`feed actor ${alice} ${flags} --json`);
  expect(code).toBe(6);
  expect(JSON.parse(err).error.message).toContain(message);
});

/** Carol makes the most; her entries are 100, 100, 100 and 900 USD, three times the average of 300. */
const traders = [
  line(1, alice, cat, 'CAT', 10),
  line(2, alice, dog, 'DOG', 10),
  line(3, carol, dog, 'DOG', 100),
  line(4, carol, fox, 'FOX', 100),
  line(5, carol, fox, 'FOX', 100),
  line(6, carol, cat, 'CAT', 900),
  line(7, bob, cat, 'CAT', 5000),
  `2026-11-20T11:20:00Z,base,${carol},${fox},FOX,sell,10,5000,0xgain,,,`,
];

test('--include-for-you adds big entries of the best traders in tokens that the actor trades, and says why', async () => {
  const { feed } = await sandboxOf(traders);
  const plain = await feed(alice);
  expect(plain.items.map(({ actor }) => actor.address)).toEqual([alice, alice]);
  expect(plain.items.every((card) => card.forYouTrade === undefined)).toBe(true);
  const { items } = await feed(`${alice} --include-for-you`);
  expect(items.map(({ actor, metadata }) => [actor.address, metadata.tokenSymbol])).toEqual([
    [carol, 'CAT'],
    [alice, 'DOG'],
    [alice, 'CAT'],
  ]);
  expect(items.map((card) => card.forYouTrade !== undefined)).toEqual([true, false, false]);
  expect(items[0]?.forYouTrade).toMatchObject({ usdCost: 900, alphaTags: { big_entry: 3 }, maxAlphaScore: 3 });
  expect(items[0]?.forYouTrade?.comments).toBeUndefined();
});

test('a walk with --include-for-you shows each card once', async () => {
  const { ask } = await sandboxOf(traders);
  const { out } = await ask(`feed actor ${alice} --include-for-you --limit 1 --all --json`);
  expect(new Set(idsIn(out)).size).toBe(3);
  expect(idsIn(out)).toHaveLength(3);
});

test("the home feed shows the followed profiles' wallets, all of them, in this partner's graph alone", async () => {
  const { env } = newUser();
  const follower = `0x${'f0'.repeat(20)}`;
  // A person of the built-in world with two wallets, followed by one of them.
  const [evm, solana] = ['0x8226303aa35cc55720ae9a65143c373564957020', 'A2dGE1Z62DK1Dmpz9KNS3ZAeG5sZj2DSsqZbgCUpaTm5'];
  const home = (key: string, flags = ''): Promise<(Card & { metrics: { commentCount: number } })[]> =>
    runJson(`--sandbox feed home ${follower} --all ${flags}`, { env: { ...env, SOTRA_API_KEY: key } });
  expect(await home('sandbox-key-a')).toEqual([]);
  await run(`--sandbox follow add ${follower} ${evm}`, { env });
  const cards = await home('sandbox-key-a');
  expect(new Set(cards.map(({ actor }) => actor.address))).toEqual(new Set([evm, solana]));
  expect(await home('sandbox-key-b')).toEqual([]);
  const commented = await home('sandbox-key-a', '--only-with-comments');
  expect(commented).toEqual(cards.filter(({ metrics }) => metrics.commentCount > 0));
  await run(`--sandbox follow remove ${follower} ${solana}`, { env });
  expect(await home('sandbox-key-a')).toEqual([]);
});

test('over HTTP, other names for the identifier are understood', async () => {
  const service = await serveSandbox();
  const account = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  for (const name of ['identifier', 'address', 'addressOrUid', 'addresses']) {
    const { body } = await ask(service, 'GET', `/v1/feed/actor?${name}=${account}&chains=all&limit=1&minTradeUsd=100`);
    expect((body as Feed).items).toMatchObject([{ actor: { address: account } }]);
    expect((body as Feed).pagination.olderItemsURL).toContain(`${service.url}/v1/feed/actor?${name}=${account}&`);
  }
});
