import { readMessage, SotraError } from '../../errors.ts';
import {
  checkSchema,
  type Db,
  isDamage,
  makeTables,
  openDatabase,
  type Schema,
  type SqlValue,
} from '../../lib/files/database.ts';
import { outboxTable } from '../../lib/outbox.ts';

export type { Db, SqlValue } from '../../lib/files/database.ts';

const options = {
  cacheKib: 65_536,
  /** Each commit writes whole pages, and `follow bulk` changes one for each new wallet and follow; imports would be a tenth faster with 16384. */
  pageBytes: 4096,
  /** 128 MB. Those that are written again and again go into the database less often. */
  checkpointPages: 32_000,
} as const;

/**
 * Opens a database file, made if absent (mode 0600, its folder 0700). Several processes may hold it at once. `replace`: what another
 * version of sotra wrote is dropped. Errors: `config` (exit 3) naming the file when it cannot be opened, is damaged, of another program or
 * of another version; it stays as it is.
 */
export function openDb(file: string, { replace = false } = {}): Db {
  let db: Db | undefined;
  try {
    db = openDatabase(file, { ...options, check: (found) => checkSchema(found, schema, { replace }), toError });
    makeTables(db, schema);
    return db;
  } catch (cause) {
    db?.close();
    throw cause instanceof SotraError ? cause : unusable(cause, file);
  }
}

/** A damaged database cannot be used at all; other errors of SQLite only get the name of the file. */
function toError(cause: unknown, file: string): unknown {
  if (isDamage(cause)) return unusable(cause, file);
  if (cause instanceof Error) cause.message += ` (${file})`;
  return cause;
}

function unusable(cause: unknown, file: string): SotraError {
  return new SotraError('config', `cannot use the sandbox database ${file}: ${readMessage(cause)}`, {
    hint: 'Move the file away to start over, or choose another with --db or SOTRA_DATA_DIR.',
    cause,
  });
}

/** How many rows `from` has: a table, with conditions on it. */
export function countRows(db: Db, from: string, params: readonly SqlValue[] = []): number {
  return db.value<number>(`SELECT count(*) FROM ${from}`, params) ?? 0;
}

/** The tables of the sandbox and their indexes. Moments are Unix milliseconds, which `worldOffset` turns into those of the sandbox's clock. */
const tables = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE partner (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, suffix TEXT NOT NULL) WITHOUT ROWID;

-- A profile that is only its wallets has no row.
CREATE TABLE profile (
  id TEXT PRIMARY KEY,
  name TEXT,                       -- global name; NULL: made from the address
  images TEXT NOT NULL DEFAULT '{"raw":null,"xs":null,"sm":null}',
  handles TEXT NOT NULL DEFAULT '{}',
  nsfw TEXT NOT NULL DEFAULT 'false'
) WITHOUT ROWID;

CREATE TABLE wallet (
  address TEXT PRIMARY KEY,
  profile_id TEXT NOT NULL,
  ready_ms INTEGER                 -- when tracking has caught up; 0: always; NULL: not tracked
) WITHOUT ROWID;
CREATE INDEX wallet_profile ON wallet (profile_id);
CREATE INDEX wallet_ready ON wallet (ready_ms) WHERE ready_ms IS NOT NULL;

CREATE TABLE external (
  partner_id TEXT NOT NULL, external_id TEXT NOT NULL, profile_id TEXT NOT NULL,
  PRIMARY KEY (partner_id, external_id)
) WITHOUT ROWID;
CREATE INDEX external_profile ON external (profile_id);

CREATE TABLE partner_name (
  profile_id TEXT NOT NULL, partner_id TEXT NOT NULL,
  name TEXT NOT NULL, name_key TEXT NOT NULL, avatar_url TEXT,
  PRIMARY KEY (profile_id, partner_id), UNIQUE (partner_id, name_key)
) WITHOUT ROWID;

CREATE TABLE token (
  chain TEXT NOT NULL, address TEXT NOT NULL,
  symbol TEXT, name TEXT, supply REAL,
  price REAL, price_ms INTEGER,    -- of the latest trade
  PRIMARY KEY (chain, address)
) WITHOUT ROWID;

CREATE TABLE position (
  key INTEGER PRIMARY KEY,         -- what its trades are stored with
  id TEXT NOT NULL,
  chain TEXT NOT NULL, wallet TEXT NOT NULL, token TEXT NOT NULL,
  direction TEXT NOT NULL,         -- '' on spot
  ordinal INTEGER NOT NULL,
  superseded INTEGER NOT NULL DEFAULT 0,  -- a later position of the same key exists
  opened_ms INTEGER NOT NULL, latest_ms INTEGER NOT NULL,
  amount REAL NOT NULL,            -- held, unsigned, with leverage
  realized_usd REAL NOT NULL, sell_count INTEGER NOT NULL,
  unavailable INTEGER NOT NULL,
  state TEXT NOT NULL              -- PositionState as JSON
);
CREATE UNIQUE INDEX position_id ON position (id);
CREATE UNIQUE INDEX position_series ON position (wallet, chain, token, direction, ordinal);
CREATE INDEX position_holding ON position (chain, token, superseded, amount DESC);
CREATE INDEX position_closed ON position (chain, token, realized_usd DESC);

CREATE TABLE trade (
  id INTEGER PRIMARY KEY,
  row_key TEXT NOT NULL,
  chain TEXT NOT NULL, wallet TEXT NOT NULL, token TEXT NOT NULL,
  side TEXT NOT NULL, direction TEXT NOT NULL, leverage REAL NOT NULL,
  amount REAL NOT NULL, usd REAL NOT NULL, start_amount REAL,
  at_ms INTEGER NOT NULL, tx TEXT, order_id TEXT,
  position_key INTEGER NOT NULL, intent TEXT NOT NULL,
  realized_usd REAL NOT NULL, margin_cost_usd REAL NOT NULL, held_ms INTEGER
);
CREATE UNIQUE INDEX trade_row_key ON trade (row_key);
CREATE INDEX trade_time ON trade (at_ms);
CREATE INDEX trade_wallet ON trade
  (wallet, at_ms, chain, usd, realized_usd, margin_cost_usd, intent, held_ms);
CREATE INDEX trade_position ON trade (position_key, at_ms);
CREATE INDEX trade_token ON trade (chain, token, at_ms);
CREATE INDEX trade_tx ON trade (tx);
CREATE INDEX trade_order ON trade (order_id) WHERE order_id IS NOT NULL;

-- Kept totals: the trades of a wallet on a chain in a window, which ends at the moment in meta, and with neither a wallet nor a chain
-- those of a profile on all chains of leaderboards. Made by figures.ts.
CREATE TABLE total (
  timeframe TEXT NOT NULL, profile_id TEXT NOT NULL, wallet TEXT NOT NULL, chain TEXT NOT NULL,
  pnl REAL NOT NULL, cost_usd REAL NOT NULL, volume_usd REAL NOT NULL, exits INTEGER NOT NULL, wins INTEGER NOT NULL,
  PRIMARY KEY (timeframe, profile_id, wallet, chain)
) WITHOUT ROWID;
CREATE INDEX total_board ON total (timeframe, pnl DESC, profile_id) WHERE chain = '';

CREATE TABLE follow (
  partner_id TEXT NOT NULL, follower_id TEXT NOT NULL, target_id TEXT NOT NULL, at_ms INTEGER NOT NULL,
  PRIMARY KEY (partner_id, follower_id, target_id)
) WITHOUT ROWID;
CREATE INDEX follow_target ON follow (target_id, partner_id, at_ms, follower_id);
CREATE INDEX follow_follower ON follow (follower_id, partner_id, at_ms, target_id);

CREATE TABLE comment (
  id TEXT PRIMARY KEY,
  trade_id INTEGER NOT NULL UNIQUE,
  partner_id TEXT,
  chain TEXT NOT NULL, token TEXT NOT NULL, transaction_hash TEXT NOT NULL,
  wallet TEXT NOT NULL, text TEXT NOT NULL, at_ms INTEGER NOT NULL,
  like_count INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX comment_wallet ON comment (wallet, at_ms);
CREATE INDEX comment_token ON comment (chain, token, at_ms);
CREATE INDEX comment_time ON comment (at_ms);

CREATE TABLE reply (
  id TEXT PRIMARY KEY, comment_id TEXT NOT NULL, wallet TEXT NOT NULL, text TEXT NOT NULL,
  at_ms INTEGER NOT NULL, like_count INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX reply_comment ON reply (comment_id, at_ms);

CREATE TABLE copy (
  id TEXT PRIMARY KEY, comment_id TEXT NOT NULL, partner_id TEXT NOT NULL,
  wallet TEXT NOT NULL, usd REAL NOT NULL, at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX copy_comment ON copy (comment_id);
CREATE INDEX copy_time ON copy (at_ms);

CREATE TABLE intent (
  id TEXT PRIMARY KEY,
  comment_id TEXT NOT NULL, partner_id TEXT NOT NULL,
  wallet TEXT NOT NULL, chain TEXT NOT NULL, token TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  trade_id INTEGER                 -- the entry that it turned out to be
) WITHOUT ROWID;
CREATE INDEX intent_match ON intent (wallet, chain, token, at_ms);

CREATE TABLE liked (
  target_id TEXT NOT NULL,         -- a comment or a reply
  profile_id TEXT NOT NULL,
  PRIMARY KEY (profile_id, target_id)
) WITHOUT ROWID;

CREATE TABLE webhook (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  partner_id TEXT NOT NULL,
  destination_url TEXT NOT NULL, secret TEXT NOT NULL,
  at_ms INTEGER NOT NULL
);
CREATE INDEX webhook_partner ON webhook (partner_id);

CREATE TABLE webhook_wallet (
  address TEXT NOT NULL, webhook_id INTEGER NOT NULL,
  PRIMARY KEY (address, webhook_id)
) WITHOUT ROWID;

-- Each is an item of the outbox, whose target is the webhook.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  webhook_id INTEGER NOT NULL,
  type TEXT NOT NULL, body TEXT NOT NULL,
  at_ms INTEGER NOT NULL
);
CREATE INDEX event_webhook ON event (webhook_id);
${outboxTable}
`;

const schema: Schema = {
  version: 8,
  sql: tables,
  ownTable: 'partner',
  name: 'the sandbox database',
  code: 'config',
  hints: {
    otherProgram: 'Choose another file with --db or SOTRA_DATA_DIR.',
    otherVersion: 'Replace it with sotra sandbox reset --yes, or choose another file with --db or SOTRA_DATA_DIR.',
  },
};
