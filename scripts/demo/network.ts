import { type Random, randomFrom } from '../../src/sandbox/seeded.ts';
import type { Trade } from '../../src/sandbox/trades/trade.ts';
import { transactionHash } from './ids.ts';
import type { MadeTrade } from './made-trades.ts';
import type { Member } from './people.ts';
import type { Market } from './rounds.ts';
import type { DemoComment } from './talk.ts';

/** One address follows another, as seen by one partner. */
export interface DemoFollow {
  follower: string;
  target: string;
  partner: 'a' | 'b';
}

/** A name set through a partner's app, without the partner's suffix. */
export interface DemoName {
  address: string;
  partner: 'a' | 'b';
  name: string;
  avatarUrl: string | null;
}

/** A buy made after the copy button under a comment was pressed. */
export interface DemoCopy {
  commentTradeRowKey: string;
  actorAddress: string;
  usd: number;
  atMs: number;
  partner: 'a' | 'b';
}

const copiedComments = 10;

/** Gives the names the people have set, by the cast table; a few without a picture. */
export function demoNames(members: readonly Member[]): DemoName[] {
  return members.flatMap(({ key, person, names }) =>
    (['a', 'b'] as const).flatMap((partner) => {
      const name = names[partner];
      if (name === undefined) return [];
      const avatarUrl = person.images.raw === null ? null : `https://pictures.sotra.example/${key}-${partner}.png`;
      return [{ address: person.addresses[0] ?? '', partner, name, avatarUrl }];
    }),
  );
}

/**
 * Gives who follows whom: users of a partner's app follow within it, some people are followed by many (those early in the
 * cast) and some by nobody. No edge twice, nobody follows themselves.
 */
export function demoFollows(members: readonly Member[]): DemoFollow[] {
  const random = randomFrom('follows');
  return members.flatMap((member) =>
    (['a', 'b'] as const).flatMap((partner) => {
      if (member.names[partner] === undefined) return [];
      const others = members.filter(({ key }) => key !== member.key);
      const eagerness = random.between(0.05, 0.45);
      return others.flatMap((other, place) => {
        if (!random.chance(eagerness * (1.3 - (1.2 * place) / others.length))) return [];
        return [{ follower: member.person.addresses[0] ?? '', target: other.person.addresses[0] ?? '', partner }];
      });
    }),
  );
}

/** What copying is drawn from: what was said, the trades it was said about, the people, the prices. */
interface CopySource {
  comments: readonly DemoComment[];
  made: readonly MadeTrade[];
  members: readonly Member[];
  markets: readonly Market[];
  newestMs: number;
}

/**
 * Gives the copies of ten comments on spot buys, each with the buy by which it was done: both have the same address, time
 * and USD value, and come within the hour that counts as copying. The trades are not sorted.
 */
export function demoCopies(source: CopySource): { copies: DemoCopy[]; trades: Trade[] } {
  const random = randomFrom('copies');
  const madeByKey = new Map(source.made.map((one) => [one.trade.rowKey, one]));
  const copyable = source.comments.flatMap((comment) => {
    const made = madeByKey.get(comment.tradeRowKey);
    return made && ['enter', 'add', 'dip'].includes(made.part) && made.trade.direction === null
      ? [{ comment, made }]
      : [];
  });
  const chosen = Array.from({ length: copiedComments }, () => take(copyable, random)).flat();
  const done = chosen.flatMap(({ comment, made }) => copiesOf(comment, made, source, random));
  return { copies: done.map(({ copy }) => copy), trades: done.map(({ trade }) => trade) };
}

function copiesOf(
  comment: DemoComment,
  { trade: copied, by }: MadeTrade,
  { members, markets, newestMs }: CopySource,
  random: Random,
): { copy: DemoCopy; trade: Trade }[] {
  const market = markets.find(({ token }) => token.chain === copied.chain && token.address === copied.token);
  const able = members.flatMap((member) => {
    const actorAddress = (copied.chain === 'solana' ? member.solana : member.evm)[0];
    return member.key !== by.key && actorAddress !== undefined ? [{ actorAddress, names: member.names }] : [];
  });
  return Array.from({ length: random.whole(1, 7) }, () => take(able, random))
    .flat()
    .flatMap(({ actorAddress, names }, place) => {
      const atMs = comment.atMs + random.whole(40, 3300) * 1000;
      const usd = Number((random.between(20, 240) * random.whole(1, 6)).toFixed(2));
      const partner = random.pick((['a', 'b'] as const).filter((one) => names[one] ?? Object.keys(names).length === 0));
      if (market === undefined || atMs > newestMs) return [];
      const price = market.priceAt(atMs);
      const amount = Number((usd / price).toFixed(price < 0.01 ? 0 : 4));
      const rowKey = `${copied.rowKey}:copy:${place}`;
      const tx = transactionHash(copied.chain, rowKey);
      return [
        {
          copy: { commentTradeRowKey: copied.rowKey, actorAddress, usd, atMs, partner },
          trade: { ...copied, trader: actorAddress, amount, usd, atMs, tx, rowKey },
        },
      ];
    });
}

/** Takes one item out of the list, as a list that is empty when the other one was. */
function take<T>(list: T[], random: Random): T[] {
  return list.splice(random.whole(0, list.length - 1), 1);
}
