import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, stub } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';
import { startPage } from '../support/page.ts';
import { some } from '../support/size.ts';

const [alice, token, id] = [`0x${'a'.repeat(40)}`, `0x${'4'.repeat(40)}`, '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e'];
const priceUsd = 90;

type Json = Record<string, unknown>;

/** A card with just these figures; what is not given is not there. */
function card(metadata: Json, positionStats: Json): Json {
  const trade = { tokenAmount: 1, usdCost: 1, marketCap: null, timestamp: 1_763_600_000, direction: 'buy' };
  const actor = { type: 'user', address: alice, name: 'alice' };
  return {
    itemId: id,
    itemTitle: 'alice',
    totalCompletions: 1,
    callToActions: [],
    insights: [],
    actor,
    timestamp: 1_763_600_000,
    metrics: { copyCount: 0, replyCount: 0, commentCount: 0 },
    metadata: {
      tokenChain: 'hyperliquid',
      tokenSymbol: 'ETH',
      tokenAddress: 'ETH',
      trades: [trade],
      ...metadata,
      positionStats: { boughtUSD: 0, soldUSD: 0, realizedGainsUSD: 12, holdingsCostBasisUSD: 40, ...positionStats },
    },
  };
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
  const comment = {
    uid: id,
    commentText: 'gm',
    timestamp: 1,
    transactionHash: '0x1',
    chain: 'base',
    tokenAddress: token,
  };
  return [
    {
      itemId: id,
      actor: item['actor'],
      timestamp: 1,
      token: { chain: 'base', address: token },
      comment: { ...comment, signerAddress: alice },
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

interface Shown {
  metadata: { perpPositionType?: string; positionStats: { isOpen: boolean; realizedGainsUSD: number }; trades: Json[] };
}

const now = Date.parse('2026-11-20T12:00:00Z');
const chains = ['base', 'solana', 'ethereum', 'hyperliquid'];
const windows = { '7d': 7, '30d': 30 } as const;
const add = (values: Iterable<unknown>) => [...values].reduce<number>((sum, value) => sum + Number(value ?? 0), 0);
const isNear = (one: number, two: number) => Math.abs(one - two) <= 1e-9 * Math.max(1, Math.abs(one), Math.abs(two));

/** A served demo world whose clock stands still, and what is asked of it. */
async function demoWorld(flags: string) {
  const { env } = await startPage(`sandbox start --port 0 --as-of ${now / 1000} ${flags}`.trim());
  const ask = async <T>(argv: string): Promise<T> => {
    const { out, err, code } = await run(`${argv} --json`, { env });
    if (code !== 0) throw new Error(`${argv}: ${err}`);
    return JSON.parse(out);
  };
  return { env, ask };
}

describe.each(['', '--wire clicker'])('in the demo world, started with %j,', (flags) => {
  test.each([
    ['30d', chains],
    ['7d', ['base', 'hyperliquid']],
    ['30d', ['solana']],
  ] as const)(
    'a board of %s on %s sums the chains that were asked for, and each column has its field',
    async (timeframe, asked) => {
      const { ask } = await demoWorld(flags);
      const board = `--chains ${asked.join()} --timeframe ${timeframe}`;
      const { traders } = await ask<{ traders: Trader[] }>(`leaderboard list ${board} --limit 250`);
      const columns = [
        ...asked.map((chain) => `${chain}Usd`),
        ...'pnlUsd roiPercent7d roiPercent30d winRate7d winRate30d trades7d trades30d'.split(' '),
      ];
      const rows = await ask<Json[]>(`leaderboard list ${board} --limit 250 --columns ${columns.join()}`);
      expect(traders.length).toBeGreaterThan(3);
      for (const [index, { profile, pnl }] of traders.entries()) {
        const { metadata, id } = profile;
        expect([id, pnl.total, Object.keys(pnl.perChain).filter((chain) => !asked.includes(chain as never))]).toEqual([
          ...[id, expect.toSatisfy((total: number) => isNear(total, add(Object.values(pnl.perChain))))],
          [],
        ]);
        const perChain = metadata[`perChainPnl${timeframe}`] as Json;
        expect(Object.fromEntries(asked.map((chain) => [chain, perChain[chain]]))).toEqual(
          // The deployment leaves a chain without trades out.
          Object.fromEntries(asked.map((chain) => [chain, pnl.perChain[chain] ?? (flags === '' ? null : undefined)])),
        );
        expect(rows[index]).toEqual({
          ...Object.fromEntries(asked.map((chain) => [`${chain}Usd`, pnl.perChain[chain] ?? null])),
          pnlUsd: pnl.total,
          ...Object.fromEntries(
            Object.keys(windows).flatMap((days) => [
              [`roiPercent${days}`, metadata[`roiPercent${days}`]],
              [`winRate${days}`, metadata[`winRate${days}`]],
              [`trades${days}`, metadata[`tradeCount${days}`]],
            ]),
          ),
        });
      }
      const totals = traders.map(({ pnl }) => pnl.total);
      expect(totals).toEqual([...totals].sort((one, other) => other - one));
      const third = traders[2];
      expect(await ask(`leaderboard rank ${third?.profile.id} ${board}`)).toEqual({ ranking: 3, pnl: third?.pnl });
      if (asked.length !== 1) return;
      const { sections } = await ask<{ sections: { commenters: Json[]; others: Json[] }[] }>(
        `leaderboard sections --sections chain-${asked[0]} --timeframe ${timeframe} --limit 250`,
      );
      const entries = sections.flatMap(({ commenters, others }) => [...commenters, ...others]);
      expect(entries.map(({ id, reason }) => [id, (reason as Json)['value']]).sort()).toEqual(
        traders.map(({ profile, pnl }) => [profile.id, String(pnl.total)]).sort(),
      );
    },
  );

  test('a profile sums its chains and wallets, and counts the closing trades that its positions list', async () => {
    const { ask } = await demoWorld(flags);
    const { traders } = await ask<{ traders: Trader[] }>('leaderboard list --limit 5');
    const perps = await ask<{ traders: Trader[] }>('leaderboard list --chains hyperliquid --limit 3');
    for (const { profile } of [...traders, ...perps.traders]) {
      const { metadata } = await ask<Trader['profile']>(`profile get ${profile.id}`);
      const cards = (
        await Promise.all(
          ['open', 'closed'].map((status) =>
            ask<Shown[]>(`profile positions ${profile.id} ${status} --chains all --all`),
          ),
        )
      ).flat();
      const closing = cards.flatMap(({ metadata: { trades } }) => trades).filter(({ intent }) => intent === 'exit');
      for (const [days, count] of Object.entries(windows)) {
        const sums = [add(Object.values(metadata[`perChainPnl${days}`] as Json))];
        if (days === '30d') sums.push(add(Object.values(metadata['perAddressPnl30d'] as Json)));
        expect([profile.id, days, ...sums.map((sum) => isNear(sum, Number(metadata[`pnl${days}`])))]).toEqual([
          ...[profile.id, days],
          ...sums.map(() => true),
        ]);
        const from = now / 1000 - count * 86_400;
        // The deployment has milliseconds for perps.
        const toSec = (time: number) => (time > 1e12 ? time / 1000 : time);
        const exits = closing.filter(({ timestamp }) => toSec(Number(timestamp)) > from).length;
        expect([profile.id, days, metadata[`tradeCount${days}`]]).toEqual([profile.id, days, exits]);
        expect(metadata[`winRate${days}`] === null).toBe(exits === 0);
      }
    }
  });

  test('a closed position gains nothing more, a total is its parts, and the side is that of the position', async () => {
    const { ask, env } = await demoWorld(flags);
    const { traders } = await ask<{ traders: Trader[] }>('leaderboard list --chains hyperliquid --limit 4');
    const prices = join(env['SOTRA_DATA_DIR'] ?? '', 'prices.json');
    let [closedPerps, shorts] = [0, 0];
    for (const { profile } of traders)
      for (const status of ['open', 'closed']) {
        const line = `profile positions ${profile.id} ${status} --chains all --limit 100`;
        const cards = await ask<Shown[]>(line);
        writeFileSync(prices, JSON.stringify(Object.fromEntries(cards.map((card) => [symbolOf(card), 3]))));
        const columns = 'side,status,realizedUsd,priceUsd,unrealizedUsd,totalUsd,amount,amountWithLeverage';
        const rows = await ask<Json[]>(`${line} --prices-file ${prices} --columns ${columns}`);
        for (const [index, { metadata }] of cards.entries()) {
          const { side, realizedUsd, unrealizedUsd, totalUsd, priceUsd, amount, ...row } = rows[index] ?? {};
          const { perpPositionType, positionStats } = metadata;
          expect([side, row['status'], realizedUsd, priceUsd]).toEqual([
            perpPositionType ?? 'spot',
            status,
            positionStats.realizedGainsUSD,
            3,
          ]);
          expect(positionStats.isOpen).toBe(status === 'open');
          expect(isNear(Number(totalUsd), Number(realizedUsd) + Number(unrealizedUsd))).toBe(true);
          if (status === 'closed') expect(unrealizedUsd).toBe(0);
          if (perpPositionType === undefined) continue;
          if (perpPositionType === 'short') shorts += 1;
          for (const trade of metadata.trades) expect(trade['perpPositionType']).toBe(perpPositionType);
          if (status === 'open') continue;
          closedPerps += 1;
          expect([amount, row['amountWithLeverage']]).toEqual([0, 0]);
        }
      }
    expect([closedPerps > 3, shorts > 0]).toEqual([true, true]);
  });
});

function symbolOf({ metadata }: Shown): string {
  return String((metadata as unknown as Json)['tokenSymbol']);
}
