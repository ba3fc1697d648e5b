import { describe, expect, test } from 'vitest';
import { cardOf } from '../support/feed-cards.ts';
import { run, stub } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';
import { startPage } from '../support/served.ts';
import { some } from '../support/size.ts';

const [alice, token, id] = [`0x${'a'.repeat(40)}`, `0x${'4'.repeat(40)}`, '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e'];
const priceUsd = 90;

type Json = Record<string, unknown>;

/** A card with just these figures; what is not given is not there. */
function card(more: Json, positionStats: Json): Json {
  const of = cardOf(id, 1_763_600_000);
  const token = { tokenChain: 'hyperliquid', tokenSymbol: 'ETH', tokenAddress: 'ETH' };
  const stats = { boughtUSD: 0, soldUSD: 0, realizedGainsUSD: 12, holdingsCostBasisUSD: 40, ...positionStats };
  return { ...of, metadata: { ...(of['metadata'] as Json), ...token, ...more, positionStats: stats } };
}

const closed = { isOpen: false, holdingsCostBasisUSDWithLeverage: 400, holdingReceivedCostBasisUSD: 5 };
const open = { isOpen: true, holdingsCostBasisUSDWithLeverage: 1000 };
const perp = (perpPositionType: string, positionAmount: number | null, positionAmountWithLeverage: number | null) => ({
  perpPositionType,
  positionAmount,
  positionAmountWithLeverage,
});

/** What a service may say of a position, and what is shown at 90 USD: side, held, held with leverage, unrealized and total PnL. */
const cards: Readonly<Record<string, readonly [card: Json, shown: string]>> = {
  'a closed long of which an amount is given': [card(perp('long', 2, 20), closed), 'long,0,0,0,12'],
  'a closed short of which an amount is given': [card(perp('short', 2, 20), closed), 'short,0,0,0,12'],
  'a closed short with a sign': [card(perp('short', -2, -20), closed), 'short,0,0,0,12'],
  'a closed perp without figures': [card(perp('short', null, null), { isOpen: false }), 'short,0,0,0,12'],
  'a closed rest of a token': [card({ positionAmount: 0.01 }, closed), 'spot,0.01,,0,12'],
  'a closed token below zero': [card({ positionAmount: -3 }, closed), 'spot,-3,,0,12'],
  'an open short without a sign': [card(perp('short', 1, 10), open), 'short,1,10,100,112'],
  'an open short with a sign': [card(perp('short', -1, -10), open), 'short,-1,-10,100,112'],
  'an open long': [card(perp('long', 1, 10), open), 'long,1,10,-100,-88'],
  'an open long with the sign of a short': [card(perp('long', -1, -10), open), 'long,-1,-10,-100,-88'],
  'an open perp that holds nothing': [
    card(perp('long', 0, 0), { isOpen: true, holdingsCostBasisUSDWithLeverage: 0 }),
    'long,0,0,0,12',
  ],
  'an open perp without its figures': [card(perp('short', null, null), { isOpen: true }), 'short,,,,'],
  'a token of which nobody says whether it is held': [card({ positionAmount: 1 }, {}), 'spot,1,,50,62'],
  'figures that are partly a guess': [card({ positionAmount: 1 }, { ...open, unavailable: true }), 'spot,1,,50,62'],
  'a token without an amount': [card({ positionAmount: null }, open), 'spot,,,,'],
};

const inFeed = (item: Json) => ({ items: [item], pagination: {} });

function aboutComment(item: Json): Json[] {
  const { perpPositionType, positionAmount, positionAmountWithLeverage, positionStats } = item['metadata'] as Json;
  const of = { uid: id, commentText: 'gm', timestamp: 1, transactionHash: '0x1', chain: 'base', tokenAddress: token };
  return [
    {
      itemId: id,
      actor: item['actor'],
      timestamp: 1,
      token: { chain: 'base', address: token },
      comment: { ...of, signerAddress: alice },
      trade: { ...((item['metadata'] as Json)['trades'] as Json[])[0], perpPositionType },
      positionDetails: { perpPositionType, positionAmount, positionAmountWithLeverage, positionStats },
    },
  ];
}

const all = 'side,amount,amountWithLeverage,unrealizedUsd,totalUsd';
/** Each command that shows what a position holds or gained: how a service answers it, and which of those columns it has. */
const commands: Readonly<Record<string, [argv: string, answer: (item: Json) => unknown, columns: string]>> = {
  'token positions': ['token positions hyperliquid ETH open', (item) => [item], all],
  'profile positions': [`profile positions ${alice} open`, (item) => [item], all],
  'position get': [`position get ${id}`, (item) => item, all],
  'position find': [`position find ${alice} hyperliquid ETH 1763600000000`, (item) => item, all],
  'feed home': [`feed home ${alice}`, inFeed, 'side,amount,amountWithLeverage'],
  'feed actor': [`feed actor ${alice}`, inFeed, 'side,amount,amountWithLeverage'],
  'token comments': [`token comments base ${token}`, aboutComment, 'holding'],
};

test('each command that shows what a position holds or gained is looked at here', async () => {
  const showing = outlines
    .filter(({ columns }) => columns.some(({ key }) => ['costUsd', 'unrealizedUsd', 'holding'].includes(key)))
    .map(({ words }) => words.join(' '));
  expect(showing.sort()).toEqual(Object.keys(commands).sort());
});

test.each(Object.entries(cards))('%s is shown by every command as it is', async (_, [item, shown]) => {
  const isClosed = ((item['metadata'] as Json)['positionStats'] as Json)['isOpen'] === false;
  const keys = all.split(',');
  for (const [name, [argv, answer, columns]] of some(Object.entries(commands), 4)) {
    const { env } = await stub((_, response) => response.end(JSON.stringify(answer(item))));
    const hasPrice = outlines.some(
      ({ words, fields }) => words.join(' ') === name && fields.some(({ key }) => key === 'price'),
    );
    const line = `${argv} --columns ${columns} --format csv ${hasPrice ? `--price ${priceUsd}` : ''}`;
    const { out, err } = await run(line, { env });
    const expected = columns
      .replace('holding', 'amount')
      .split(',')
      .map((key) => shown.split(',')[keys.indexOf(key)] ?? '');
    // Without a price only what is closed is known to gain nothing.
    if (columns === all && !hasPrice && !isClosed) expected.fill('', 3);
    expect([name, out.trim().split('\n')[1] ?? err]).toEqual([name, expected.join(',')]);
  }
});

interface Trader {
  profile: { id: string; metadata: Json };
  pnl: { total: number; perChain: Record<string, number> };
}

const now = Date.parse('2026-11-20T12:00:00Z');
const add = (values: object) => Object.values(values).reduce<number>((sum, value) => sum + Number(value ?? 0), 0);
const near = (sum: number) => expect.closeTo(sum, 5);

describe.each(['', '--wire clicker'])('in the demo world, started with %j,', (flags) => {
  test('a board sums the chains that were asked for, best first; a profile its chains, wallets and closing trades', async () => {
    const { env } = await startPage(`sandbox start --port 0 --as-of ${now / 1000} ${flags}`.trim());
    const ask = async (argv: string) => {
      const { out, err, code } = await run(`${argv} --json`, { env });
      if (code !== 0) throw new Error(`${argv}: ${err}`);
      return JSON.parse(out);
    };
    const board = '--chains base,hyperliquid --timeframe 7d';
    const { traders }: { traders: Trader[] } = await ask(`leaderboard list ${board} --limit 250`);
    expect(traders.length).toBeGreaterThan(3);
    for (const { profile, pnl } of traders) {
      expect([profile.id, pnl.total]).toEqual([profile.id, add(pnl.perChain)]);
      expect(Object.keys(pnl.perChain).filter((chain) => !['base', 'hyperliquid'].includes(chain))).toEqual([]);
      expect(profile.metadata['perChainPnl7d']).toMatchObject(pnl.perChain);
    }
    const totals = traders.map(({ pnl }) => pnl.total);
    expect(totals).toEqual([...totals].sort((one, other) => other - one));
    const third = traders[2];
    expect(await ask(`leaderboard rank ${third?.profile.id} ${board}`)).toEqual({ ranking: 3, pnl: third?.pnl });
    for (const { profile } of traders.slice(0, 5)) {
      const { metadata }: Trader['profile'] = await ask(`profile get ${profile.id}`);
      const positions = await Promise.all(
        ['open', 'closed'].map((status) => ask(`profile positions ${profile.id} ${status} --chains all --all`)),
      );
      const trades: Json[] = positions.flat().flatMap((card) => card.metadata.trades);
      const closing = trades.filter(({ intent }) => intent === 'exit').map(({ timestamp }) => Number(timestamp));
      expect(add(metadata['perAddressPnl30d'] as object)).toEqual(near(Number(metadata['pnl30d'])));
      for (const days of [7, 30]) {
        expect(add(metadata[`perChainPnl${days}d`] as object)).toEqual(near(Number(metadata[`pnl${days}d`])));
        // The deployment has milliseconds for perps.
        const toSec = (time: number) => (time > 1e12 ? time / 1000 : time);
        const exits = closing.filter((time) => toSec(time) > now / 1000 - days * 86_400).length;
        const { [`tradeCount${days}d`]: count, [`winRate${days}d`]: winRate } = metadata;
        expect([profile.id, days, count, winRate === null]).toEqual([profile.id, days, exits, exits === 0]);
      }
    }
  });
});
