import { rmSync } from 'node:fs';
import { layouts } from '../../src/lib/config/settings.ts';
import { setMeta } from '../../src/sandbox/db/settings.ts';
import { type Db, openDb } from '../../src/sandbox/db/store.ts';
import { describeWorld, sandboxPartners } from '../../src/sandbox/db/world.ts';
import { digestText, makeUuid } from '../../src/sandbox/seeded.ts';
import { addWallet, findProfile } from '../../src/sandbox/social/lookup.ts';
import { addTrades } from '../../src/sandbox/trades/add-trades.ts';
import { demoWorld, type World } from './world.ts';

/** Writes the database of a demo sandbox without indexes: worlds are filled from it. */
export function makeDemo(file: string): void {
  const db = openDb(':memory:');
  const world = demoWorld();
  fill(db, world);
  describeWorld(db, 'demo');
  // What a command without settings of its own would note: the first one then writes nothing.
  setMeta(db, 'signing.serviceName', 'Sandbox');
  setMeta(db, 'signing.layout', layouts[0]);
  const indexes = db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL");
  for (const { name } of indexes) db.run(`DROP INDEX ${name}`);
  rmSync(file, { force: true });
  db.run('VACUUM INTO ?', [file]);
  db.close();
}

/** How long the wallet that is being backfilled stays so. */
const backfillMs = 86_400_000;

function fill(db: Db, world: World): void {
  for (const person of world.people) {
    const [first = ''] = person.addresses;
    const readyMs = { unnamed: null, backfilling: world.newestMs + backfillMs, active: 0 }[person.tracking];
    const id = addWallet(db, first, readyMs);
    for (const address of person.addresses.slice(1))
      db.run('INSERT INTO wallet (address, profile_id, ready_ms) VALUES (?, ?, ?)', [address, id, readyMs]);
    db.run('INSERT INTO profile (id, name, images, handles, nsfw) VALUES (?, ?, ?, ?, ?)', [
      id,
      person.name,
      JSON.stringify(person.images),
      JSON.stringify(person.metadata),
      JSON.stringify(person.isNSFW),
    ]);
  }
  addTrades(db, world.trades);
  for (const { partner, address, name, avatarUrl } of world.names)
    db.run('INSERT INTO partner_name (profile_id, partner_id, name, name_key, avatar_url) VALUES (?, ?, ?, ?, ?)', [
      profileOf(db, address),
      partner,
      name,
      name.toLowerCase(),
      avatarUrl,
    ]);
  for (const { partner, follower, target } of world.follows)
    db.run('INSERT OR IGNORE INTO follow (partner_id, follower_id, target_id, at_ms) VALUES (?, ?, ?, ?)', [
      partner,
      profileOf(db, follower),
      profileOf(db, target),
      world.newestMs,
    ]);
  for (const comment of world.comments) addComment(db, comment);
  addLikes(db);
  for (const copy of world.copies)
    db.run('INSERT INTO copy (id, comment_id, partner_id, wallet, usd, at_ms) VALUES (?, ?, ?, ?, ?, ?)', [
      makeUuid(`copy:${copy.commentTradeRowKey}:${copy.actorAddress}:${copy.atMs}`),
      commentIdOf(copy.commentTradeRowKey),
      copy.partner,
      copy.actorAddress,
      copy.usd,
      copy.atMs,
    ]);
}

function profileOf(db: Db, address: string): string {
  return findProfile(db, address, sandboxPartners[0]);
}

function commentIdOf(tradeRowKey: string): string {
  return makeUuid(`comment:${tradeRowKey}`);
}

function addComment(
  db: Db,
  { tradeRowKey, byPartner, text, atMs, likeCount, replies }: World['comments'][number],
): void {
  const id = commentIdOf(tradeRowKey);
  const added = db.run(
    `INSERT INTO comment (id, trade_id, partner_id, chain, token, transaction_hash, wallet, text, at_ms, like_count)
     SELECT ?, id, ?, chain, token, coalesce(tx, order_id, ''), wallet, ?, ?, ? FROM trade WHERE row_key = ?`,
    [id, byPartner, text, atMs, likeCount, digestText(tradeRowKey)],
  );
  if (added === 0) throw new Error(`a comment on a trade that is missing: ${tradeRowKey}`);
  for (const [index, reply] of replies.entries())
    db.run('INSERT INTO reply (id, comment_id, wallet, text, at_ms, like_count) VALUES (?, ?, ?, ?, ?, ?)', [
      makeUuid(`reply:${id}:${index}`),
      id,
      reply.authorAddress,
      reply.text,
      reply.atMs,
      reply.likeCount,
    ]);
}

/** Those who follow an author like the author's comments and the replies to them, as many as the counts say. */
function addLikes(db: Db): void {
  const liked = db.all<{ id: string; wallet: string; likeCount: number }>(
    `SELECT id, wallet, like_count AS likeCount FROM comment WHERE like_count > 0
     UNION ALL SELECT r.id, c.wallet, r.like_count FROM reply r JOIN comment c ON c.id = r.comment_id WHERE r.like_count > 0`,
  );
  for (const { id, wallet, likeCount } of liked)
    db.run(
      `INSERT OR IGNORE INTO liked (target_id, profile_id)
       SELECT DISTINCT ?, f.follower_id FROM wallet w JOIN follow f ON f.target_id = w.profile_id
       WHERE w.address = ? ORDER BY f.follower_id LIMIT ?`,
      [id, wallet, likeCount],
    );
}
