import { expect, test } from 'vitest';
import type { Card } from '../../../src/model/position.ts';
import { compareEvents, type ExpectedEvent, expectEvents, makeEventKey } from '../../../src/tool/audit-events.ts';

const trader = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf';
const token = '0x940181A94a35a4569e4529a3cdfb74e38fd98631';
const hour = 3600;
const now = 1_000 * hour;

const buy = (at: number, usdCost: number, tx: string, more = {}) => ({
  ...{ tokenAmount: 1, usdCost, timestamp: at, transactionHash: tx, direction: 'buy', intent: 'enter', ...more },
});

const card = (trades: object[], itemId = '1'): Card =>
  ({
    ...{ totalCompletions: 0, itemTitle: '', callToActions: [], insights: [], itemId, timestamp: now },
    cardLatestTradeAt: now,
    metrics: { copyCount: 0, likeCount: 0, replyCount: 0, commentCount: 0 },
    actor: { address: trader },
    metadata: {
      ...{ tokenChain: 'base', tokenAddress: token, tokenSymbol: 'AERO', trades },
      positionStats: { boughtUSD: 0, soldUSD: 0, realizedGainsUSD: 0, holdingsCostBasisUSD: 0 },
    },
  }) as unknown as Card;

const shown = ({ kind, why, transactionHash }: ExpectedEvent) => [kind, why, transactionHash];

test('buys that are noteworthy by the rules are expected, over the cards of a token; sells and buys before the time are not', () => {
  const cards = [
    card([buy(now - hour, 500, '0x4'), buy(now - 2 * hour, 300, '0x3'), buy(now - 3 * hour, 10, '0x2')]),
    card([buy(now - 4 * hour, 400, '0x1'), buy(now - 4 * hour, 5, '0x0', { direction: 'sell' })], '2'),
  ];
  expect(expectEvents(cards, (now - 10 * hour) * 1000).map(shown)).toEqual([
    ['new-feed-item', 'repeat-buy', '0x4'],
    ['new-feed-item', 'aped-in', '0x3'],
    ['new-feed-item', 'first-buy', '0x1'],
  ]);
  expect(expectEvents(cards, (now - 1.5 * hour) * 1000).map(shown)).toEqual([['new-feed-item', 'repeat-buy', '0x4']]);
});

test('a comment of the trader is expected, one of somebody else and an old one are not', () => {
  const comment = (uid: string, signerAddress: string, timestamp: number) => ({ uid, signerAddress, timestamp });
  const comments = [
    comment('own', trader.toUpperCase().replace('0X', '0x'), now - hour),
    comment('of another', token, now - hour),
    comment('old', trader, now - 90 * hour),
  ];
  const [one, ...others] = expectEvents(
    [card([buy(now - 90 * hour, 1, '0x1', { comments })])],
    (now - 24 * hour) * 1000,
  );
  expect([one?.kind, one?.comment, others]).toEqual(['comment-created', 'own', []]);
});

test('an event is what its first trade or its comment says, whatever the case of its addresses', () => {
  const [expected] = expectEvents([card([buy(now - hour, 500, '0x4')])], 0);
  const event = { feedItem: card([buy(now - hour, 500, '0x4')]) };
  event.feedItem.actor.address = trader.toUpperCase().replace('0X', '0x');
  expect(makeEventKey({ eventType: 'new-feed-item', event })).toBe(expected?.key);
  expect(makeEventKey({ eventType: 'comment-created', event: { comment: { uid: 'c' } } })).toBe('c');
  expect(makeEventKey({ eventType: 'copyswap', event })).toBeUndefined();
  expect(makeEventKey({ eventType: 'new-feed-item', event: { feedItem: 7 } })).toBeUndefined();
});

const about = { kind: 'comment-created', why: null, trader, chain: 'base', token, symbol: null } as const;
const expected = (key: string, at: number) => ({ ...about, key, at, transactionHash: null, comment: key });
const circumstances = { nowMs: now * 1000, lateMs: 300_000, hours: [] };
const came = (key: string, at: number, eventId = key) => ({ eventId, key, atMs: at * 1000 });

test('late, doubled and pending are told apart, and what came in time is not named', () => {
  const found = compareEvents(
    [
      expected('in time', now - hour),
      expected('late', now - hour),
      expected('twice', now - hour),
      expected('new', now),
    ],
    [
      came('in time', now - hour + 300),
      came('late', now - hour + 301),
      came('twice', now - hour + 2, 'a'),
      came('twice', now - hour + 1, 'b'),
    ],
    circumstances,
  );
  expect(found.map(({ comment, state, delay, eventIds }) => [comment, state, delay, eventIds])).toEqual([
    ['late', 'late', 301, ['late']],
    ['twice', 'doubled', 1, ['a', 'b']],
    ['new', 'pending', null, []],
  ]);
});

test.each([
  ['3 requests of that hour were refused', { hours: [{ hour: now - 2 * hour, refusedSignatures: 3 }] as never }, []],
  ['nothing is stored for this webhook', {}, []],
  ['before the oldest stored delivery', {}, [came('x', now - hour)]],
  ['others came around that time', {}, [came('x', now - 2 * hour + 10)]],
  ['nothing was received for 10 minutes', {}, [came('x', now - 3 * hour), came('y', now - hour)]],
])('missing, because %s', (reason, more, received) => {
  const [found] = compareEvents([expected('lost', now - 2 * hour)], received, { ...circumstances, ...more });
  expect([found?.state, found?.reason]).toEqual(['missing', expect.stringContaining(reason)]);
});
