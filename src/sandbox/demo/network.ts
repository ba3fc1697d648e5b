import type { Trade } from '../trade.ts';
import { transactionHash } from './ids.ts';
import type { MadeTrade } from './made-trades.ts';
import type { Member } from './people.ts';
import { randomFrom } from './random.ts';
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

/** Gives the names the people have set, by the cast table; a few without a picture. Never throws. */
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
 * cast) and some by nobody. No edge twice, nobody follows themselves. Never throws.
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

/**
 * Gives the copies of ten comments on spot buys, each with the buy by which it was done: both have the same address, time
 * and USD value, and come within the hour that counts as copying. The trades are not sorted. Never throws.
 */
export function demoCopies(from: {
  comments: readonly DemoComment[];
  made: readonly MadeTrade[];
  members: readonly Member[];
  markets: readonly Market[];
  newestMs: number;
}): { copies: DemoCopy[]; trades: Trade[] } {
  const random = randomFrom('copies');
  const madeByKey = new Map(from.made.map((one) => [one.trade.rowKey, one]));
  const copyable = from.comments.flatMap((comment) => {
    const made = madeByKey.get(comment.tradeRowKey);
    return made && ['enter', 'add', 'dip'].includes(made.part) ? [{ comment, made }] : [];
  });
  const done = Array.from({ length: copiedComments }, () => copyable.splice(random.whole(0, copyable.length - 1), 1))
    .flat()
    .flatMap(({ comment, made }) => {
      const { trade, by } = made;
      const priceAt = from.markets.find(
        ({ token }) => token.chain === trade.chain && token.address === trade.token,
      )?.priceAt;
      const wallets = (member: Member): string[] => (trade.chain === 'solana' ? member.solana : member.evm);
      const able = from.members.filter((member) => member.key !== by.key && wallets(member).length > 0);
      return Array.from({ length: random.whole(1, 7) }, (_, place) => {
        const [copier] = able.splice(random.whole(0, able.length - 1), 1);
        const actorAddress = copier && wallets(copier)[0];
        const atMs = comment.atMs + random.whole(40, 3300) * 1000;
        const wishedUsd = random.between(20, 240) * random.whole(1, 6);
        const partners = (['a', 'b'] as const).filter((partner) => copier?.names[partner] !== undefined);
        const price = priceAt?.(atMs);
        if (actorAddress === undefined || price === undefined || atMs > from.newestMs) return [];
        const usd = Number(wishedUsd.toFixed(2));
        const rowKey = `${trade.rowKey}:copy:${place}`;
        const partner = partners.length > 0 ? random.pick(partners) : random.pick(['a', 'b'] as const);
        const copy: DemoCopy = { commentTradeRowKey: trade.rowKey, actorAddress, usd, atMs, partner };
        const amount = Number((usd / price).toFixed(price < 0.01 ? 0 : 4));
        const tx = transactionHash(trade.chain, rowKey);
        const bought: Trade = { ...trade, trader: actorAddress, amount, usd, atMs, tx, rowKey };
        return [{ copy, bought }];
      }).flat();
    });
  return { copies: done.map(({ copy }) => copy), trades: done.map(({ bought }) => bought) };
}
