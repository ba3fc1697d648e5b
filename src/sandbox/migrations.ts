/** The tables of the sandbox, one entry a layout version; entries are only ever added. Times are Unix milliseconds. */
export const migrations: readonly string[] = [
  `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE partner (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, suffix TEXT NOT NULL) WITHOUT ROWID;

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
  ready_ms INTEGER                 -- when tracking has caught up; NULL: not tracked
) WITHOUT ROWID;
CREATE INDEX wallet_profile ON wallet (profile_id);

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
  id TEXT PRIMARY KEY,
  chain TEXT NOT NULL, wallet TEXT NOT NULL, token TEXT NOT NULL,
  direction TEXT NOT NULL,         -- '' on spot
  ordinal INTEGER NOT NULL,
  superseded INTEGER NOT NULL DEFAULT 0,  -- a later position of the same key exists
  opened_ms INTEGER NOT NULL, latest_ms INTEGER NOT NULL,
  amount REAL NOT NULL,            -- held, unsigned, with leverage
  realized_usd REAL NOT NULL, sell_count INTEGER NOT NULL,
  state TEXT NOT NULL,             -- PositionState as JSON
  UNIQUE (wallet, chain, token, direction, ordinal)
) WITHOUT ROWID;
CREATE INDEX position_token ON position (chain, token, latest_ms);
CREATE INDEX position_latest ON position (latest_ms);

CREATE TABLE trade (
  id INTEGER PRIMARY KEY,
  row_key TEXT NOT NULL UNIQUE,
  chain TEXT NOT NULL, wallet TEXT NOT NULL, token TEXT NOT NULL,
  side TEXT NOT NULL, direction TEXT NOT NULL, leverage REAL NOT NULL,
  amount REAL NOT NULL, usd REAL NOT NULL, start_amount REAL,
  at_ms INTEGER NOT NULL, tx TEXT, order_id TEXT,
  position_id TEXT NOT NULL, intent TEXT NOT NULL,
  realized_usd REAL NOT NULL, margin_cost_usd REAL NOT NULL, held_ms INTEGER
);
CREATE INDEX trade_time ON trade (at_ms);
CREATE INDEX trade_wallet ON trade (wallet, at_ms);
CREATE INDEX trade_position ON trade (position_id, at_ms);
CREATE INDEX trade_token ON trade (chain, token, at_ms);
CREATE INDEX trade_tx ON trade (tx);
CREATE INDEX trade_order ON trade (order_id);

CREATE TABLE follow (
  partner_id TEXT NOT NULL, follower_id TEXT NOT NULL, target_id TEXT NOT NULL, at_ms INTEGER NOT NULL,
  PRIMARY KEY (partner_id, follower_id, target_id)
) WITHOUT ROWID;
CREATE INDEX follow_target ON follow (target_id, partner_id);

CREATE TABLE comment (
  id TEXT PRIMARY KEY,
  trade_id INTEGER NOT NULL UNIQUE,
  partner_id TEXT,
  chain TEXT NOT NULL, token TEXT NOT NULL, transaction_hash TEXT NOT NULL,
  wallet TEXT NOT NULL, text TEXT NOT NULL, at_ms INTEGER NOT NULL,
  signature TEXT, like_count INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX comment_wallet ON comment (wallet, at_ms);
CREATE INDEX comment_token ON comment (chain, token, at_ms);
CREATE INDEX comment_hash ON comment (transaction_hash);

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
`,
];
