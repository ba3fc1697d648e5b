import { SotraError } from '../../errors.ts';
import { parseJson } from '../../model/json.ts';
import { demoWorld, type World } from '../demo/world.ts';
import type { Partner } from '../http/service.ts';
import { seedLikes } from '../social/comments.ts';
import { addWallet, findProfile } from '../social/profiles.ts';
import { addTrades } from '../trades/add-trades.ts';
import { getMeta, sandboxNow, setMeta } from './clock.ts';
import { digestOf, uuidOf } from './ids.ts';
import type { Db } from './store.ts';

/** The two partners of every sandbox: each with its key and the suffix of the names it sets. */
export const sandboxPartners = [
  { id: 'a', key: 'sandbox-key-a', suffix: '.alpha.test' },
  { id: 'b', key: 'sandbox-key-b', suffix: '.beta.test' },
] as const;

/** How long the demo world's backfilling wallet stays so, from creation. */
const demoBackfillMs = 86_400_000;

export type WorldKind = 'demo' | 'empty';

/** Fills a new database with a world, once; a database that has one is left alone. Safe with several processes. */
export function ensureWorld(db: Db, realNowMs: number, kind: WorldKind): void {
  if (getMeta(db, 'world') !== undefined) return;
  db.transaction(() => {
    if (getMeta(db, 'world') !== undefined) return;
    for (const { id, key, suffix } of sandboxPartners)
      db.run('INSERT INTO partner (id, key, suffix) VALUES (?, ?, ?)', [id, key, suffix]);
    setMeta(db, 'world', kind);
    if (kind === 'demo') fillDemo(db, demoWorld(), sandboxNow(db, realNowMs));
    setMeta(db, 'world.counts', JSON.stringify(countOwn(db)));
  });
}

/** What users put into a sandbox, by its tables. */
const ownTables = { trade: 'trade', comment: 'comment', follow: 'follow', partner_name: 'name', webhook: 'webhook' };

function countOwn(db: Db): Record<string, number> {
  const count = (table: string) => Number(db.get(`SELECT count(*) AS n FROM ${table}`)?.['n'] ?? 0);
  return Object.fromEntries(Object.keys(ownTables).map((table) => [table, count(table)]));
}

/** What the sandbox holds beyond the world it was made with, such as `2 trades`; empty where nothing was added. */
export function addedTo(db: Db): string[] {
  const made = parseJson(getMeta(db, 'world.counts') ?? '{}') as Record<string, number>;
  return Object.entries(countOwn(db)).flatMap(([table, count]) => {
    const added = count - (made[table] ?? 0);
    const noun = ownTables[table as keyof typeof ownTables];
    return added > 0 ? [`${added} ${noun}${added === 1 ? '' : 's'}`] : [];
  });
}

function fillDemo(db: Db, world: World, nowMs: number): void {
  const shiftMs = nowMs - world.newestMs;
  for (const person of world.people) {
    const [first = ''] = person.addresses;
    const readyMs = { unnamed: null, backfilling: nowMs + demoBackfillMs, active: 0 }[person.tracking];
    const id = addWallet(db, first, readyMs);
    for (const address of person.addresses.slice(1))
      db.run('INSERT INTO wallet (address, profile_id, ready_ms) VALUES (?, ?, ?)', [address, id, readyMs]);
    db.run('UPDATE profile SET name = ?, images = ?, handles = ?, nsfw = ? WHERE id = ?', [
      person.name,
      JSON.stringify(person.images),
      JSON.stringify(person.metadata),
      JSON.stringify(person.isNSFW),
      id,
    ]);
  }
  addTrades(
    db,
    world.trades.map((trade) => ({ ...trade, atMs: trade.atMs + shiftMs })),
  );
  for (const { partner, address, name, avatarUrl } of world.names)
    db.run('INSERT INTO partner_name (profile_id, partner_id, name, name_key, avatar_url) VALUES (?, ?, ?, ?, ?)', [
      findProfile(db, address, partnerOf(partner)),
      partner,
      name,
      name.toLowerCase(),
      avatarUrl,
    ]);
  for (const { partner, follower, target } of world.follows)
    db.run('INSERT OR IGNORE INTO follow (partner_id, follower_id, target_id, at_ms) VALUES (?, ?, ?, ?)', [
      partner,
      findProfile(db, follower, partnerOf(partner)),
      findProfile(db, target, partnerOf(partner)),
      nowMs,
    ]);
  for (const comment of world.comments) addDemoComment(db, comment, shiftMs);
  seedLikes(db);
  for (const copy of world.copies)
    db.run('INSERT INTO copy (id, comment_id, partner_id, wallet, usd, at_ms) VALUES (?, ?, ?, ?, ?, ?)', [
      uuidOf(`copy:${copy.commentTradeRowKey}:${copy.actorAddress}:${copy.atMs}`),
      commentIdOf(copy.commentTradeRowKey),
      copy.partner,
      copy.actorAddress,
      copy.usd,
      copy.atMs + shiftMs,
    ]);
}

function partnerOf(id: 'a' | 'b'): Partner {
  return sandboxPartners.find((partner) => partner.id === id) ?? sandboxPartners[0];
}

function commentIdOf(tradeRowKey: string): string {
  return uuidOf(`comment:${tradeRowKey}`);
}

interface CommentedTrade {
  id: number;
  chain: string;
  token: string;
  wallet: string;
  tx: string | null;
  orderId: string | null;
}

function addDemoComment(db: Db, comment: World['comments'][number], shiftMs: number): void {
  const trade = db.get<CommentedTrade>(
    'SELECT id, chain, token, wallet, tx, order_id AS orderId FROM trade WHERE row_key = ?',
    [digestOf(comment.tradeRowKey)],
  );
  if (trade === undefined)
    throw new SotraError('internal', `the demo world comments on a missing trade: ${comment.tradeRowKey}`);
  const id = commentIdOf(comment.tradeRowKey);
  db.run(
    `INSERT INTO comment (id, trade_id, partner_id, chain, token, transaction_hash, wallet, text, at_ms, like_count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      trade.id,
      comment.byPartner,
      trade.chain,
      trade.token,
      trade.tx ?? trade.orderId ?? '',
      trade.wallet,
      comment.text,
      comment.atMs + shiftMs,
      comment.likeCount,
    ],
  );
  comment.replies.forEach((reply, index) => {
    db.run('INSERT INTO reply (id, comment_id, wallet, text, at_ms, like_count) VALUES (?, ?, ?, ?, ?, ?)', [
      uuidOf(`reply:${id}:${index}`),
      id,
      reply.authorAddress,
      reply.text,
      reply.atMs + shiftMs,
      reply.likeCount,
    ]);
  });
}

const worldTables = [
  'meta',
  'partner',
  'profile',
  'wallet',
  'external',
  'partner_name',
  'token',
  'position',
  'trade',
  'follow',
  'comment',
  'reply',
  'copy',
  'intent',
  'liked',
  'webhook',
  'webhook_wallet',
  'event',
  'delivery',
  'figure',
  'figure_stale',
] as const;

/** Empties every table; the layout stays. */
export function clearWorld(db: Db): void {
  db.transaction(() => {
    for (const table of worldTables) db.run(`DELETE FROM ${table}`);
  });
}
