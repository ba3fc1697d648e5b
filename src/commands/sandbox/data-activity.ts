import { isHttpAddress } from '../../api/http-address.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { signedHeader } from '../../api/webhook-signature.ts';
import { curlLine, deliveryRequest } from '../../client/preview.ts';
import { hideUrlSecrets } from '../../client/secrets.ts';
import { usageError } from '../../errors.ts';
import type { Io } from '../../lib/io.ts';
import { formatTime, formatUsd, shortAddress } from '../../lib/output/format.ts';
import {
  type ActivityDetail,
  type ActivityRow,
  type ActivitySource,
  dropOldest,
  type Edited,
  listKept,
  maxListed,
  type SendOutcome,
  sentOutcome,
  targetError,
} from '../../pages/activity.ts';
import type { LiveLog } from '../../pages/serve.ts';
import { offsetKey, storedNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { deliveryBody, deliveryHeaders, sendDelivery } from '../../sandbox/deliver/deliver.ts';
import { findEventSource, makeWebhookEvent, storeEvent } from '../../sandbox/deliver/events.ts';
import { allWebhooks } from '../../sandbox/service/webhook.ts';
import { describeEvent, readEvents } from '../../webhooks/events.ts';
import { headerPairs } from '../../webhooks/forward.ts';

type Kind = 'trade' | 'comment' | 'event' | 'attempt';

/** New trades and comments of a sandbox, and its events and attempts to deliver them. */
export interface DataActivity {
  db: Db;
  io: Pick<Io, 'now' | 'sleep'>;
  live: LiveLog;
  /** How command lines for the sandbox begin. */
  commandStart: string;
  signal: AbortSignal;
  /** The request whose answer holds a text, if it is kept. */
  findRequest: (text: string) => ActivityRow | undefined;
  /** By id, the oldest first; a row that changes stays in its place. */
  rows: Map<string, ActivityRow>;
  /** Of each kind, the place of the last one that was read. */
  seen: Record<Kind, number>;
  /** Whether the stored rows are read: those that come now happen now. */
  isOpen: boolean;
}

/** A row of the database; its `place` is higher than those of earlier ones. */
interface Placed {
  place: number;
}
interface TradeRow extends Placed {
  chain: string;
  wallet: string;
  token: string;
  symbol: string | null;
  side: string;
  amount: number;
  usd: number;
  atMs: number;
  tx: string | null;
}
interface CommentRow extends Placed {
  id: string;
  wallet: string;
  text: string;
  tradeId: number;
  atMs: number;
}
interface EventRow extends Placed {
  id: string;
  type: string;
  body: string;
  atMs: number;
  uid: string;
  /** The transaction or the comment that it is about. */
  tx: string | null;
  comment: string | null;
}
interface AttemptRow extends Placed {
  state: string;
  tries: number;
  status: number | null;
  error: string | null;
  ms: number | null;
  tryMs: number | null;
  nextMs: number;
  type: string;
  eventId: string;
  eventMs: number;
  uid: string;
  url: string;
  secret: string;
}

/** How rows of a kind are read, and shown in a list. */
interface Query<Row extends Placed> {
  kind: Kind;
  /** The column of `place`. */
  place: string;
  sql: string;
  write: (found: Row) => ActivityRow;
}

/** A stored moment on the sandbox's clock. */
const onClock = (column: string) => `${column} + coalesce((SELECT value FROM meta WHERE key = '${offsetKey}'), 0)`;

const trades: Query<TradeRow> = {
  kind: 'trade',
  place: 't.id',
  sql: `SELECT t.id AS place, t.chain, t.wallet, t.token, k.symbol, t.side, t.amount, t.usd, ${onClock('t.at_ms')} AS atMs, t.tx
    FROM trade t LEFT JOIN token k ON k.chain = t.chain AND k.address = t.token`,
  write: ({ place, side, usd, symbol, token, chain, wallet, atMs }) => ({
    id: `trade-${place}`,
    kind: 'trade',
    atMs,
    title: `${side} ${formatUsd(usd)} of ${symbol ?? shortAddress(token)} on ${chain}`,
    about: `by ${wallet}`,
    status: 'traded',
    failed: false,
  }),
};
const comments: Query<CommentRow> = {
  kind: 'comment',
  place: 'rowid',
  sql: `SELECT rowid AS place, id, wallet, text, trade_id AS tradeId, ${onClock('at_ms')} AS atMs FROM comment`,
  write: ({ id, wallet, text, atMs }) => ({
    id: `comment-${id}`,
    kind: 'comment',
    atMs,
    title: text,
    about: `by ${wallet}`,
    status: 'posted',
    failed: false,
  }),
};
const events: Query<EventRow> = {
  kind: 'event',
  place: 'e.seq',
  sql: `SELECT e.seq AS place, e.id, e.type, e.body, ${onClock('e.at_ms')} AS atMs, w.uid,
      CASE e.type WHEN 'copyswap' THEN e.body ->> '$.copyswapTrade.transactionHash'
        WHEN 'new-feed-item' THEN e.body ->> '$.feedItem.metadata.trades[0].transactionHash' END AS tx,
      CASE e.type WHEN 'comment-created' THEN e.body ->> '$.comment.uid' END AS comment
    FROM event e JOIN webhook w ON w.id = e.webhook_id`,
  write: ({ id, type, body, atMs, uid }) => {
    const [event] = readEvents(Buffer.from(deliveryBody(body)));
    const about = event === undefined ? '' : describeEvent(event);
    return {
      id: `event-${id}`,
      kind: 'event',
      atMs,
      title: type,
      about,
      status: 'stored',
      failed: false,
      webhook: uid,
    };
  },
};
const attempts: Query<AttemptRow> = {
  kind: 'attempt',
  place: 'd.id',
  sql: `SELECT d.id AS place, d.state, d.tries, d.status, d.error, d.ms, d.at_ms AS tryMs, d.due_ms AS nextMs, e.type, e.id AS eventId,
      ${onClock('e.at_ms')} AS eventMs, w.uid, w.destination_url AS url, w.secret
    FROM outbox d JOIN event e ON e.seq = d.item JOIN webhook w ON w.id = d.target`,
  write: ({ place, state, tries, status, error, ms, tryMs, type, eventId, eventMs, uid, url }) => {
    const isWaiting = state === 'waiting';
    const number = Math.max(1, tries);
    return {
      id: `attempt-${place}-${number}`,
      kind: 'attempt',
      atMs: tryMs ?? eventMs,
      title: `${type} → ${hideUrlSecrets(url)}`,
      number,
      about: error ?? '',
      status: String(status ?? (isWaiting && tries === 0 ? 'waiting' : 'no answer')),
      failed: error !== null && state !== 'delivered',
      waiting: isWaiting,
      ...(ms !== null && { durationMs: ms }),
      causeId: `event-${eventId}`,
      webhook: uid,
    };
  },
};

type Value = number | string | null;

function find<Row extends Placed>(db: Db, { sql }: Query<Row>, where: string, ...values: Value[]): Row[] {
  return db.all<Row>(`${sql} WHERE ${where}`, values);
}

/** The same as rows of the page. */
function list<Row extends Placed>(db: Db, query: Query<Row>, where: string, ...values: Value[]): ActivityRow[] {
  return find(db, query, where, ...values).map(query.write);
}

/** The most rows of a kind that one look reads: a simulation makes thousands in a second. */
const maxFound = 200;

/** The activity so far; `readNew` adds what is new. */
export function openDataActivity(options: Omit<DataActivity, 'rows' | 'seen' | 'isOpen'>): DataActivity {
  const activity = { ...options, rows: new Map<string, ActivityRow>(), seen: findStart(options.db), isOpen: false };
  readNew(activity);
  return Object.assign(activity, { isOpen: true });
}

function findStart(db: Db): DataActivity['seen'] {
  return { trade: newest(db, 'trade'), comment: newest(db, 'comment', 'rowid'), event: 0, attempt: 0 };
}

function newest(db: Db, table: string, column = 'id'): number {
  return db.value<number>(`SELECT max(${column}) FROM ${table}`) ?? 0;
}

/** Adds the rows that are new or changed, and shows them. */
export function readNew(activity: DataActivity): void {
  const { db, rows, live } = activity;
  if (newest(db, 'trade') < activity.seen.trade || newest(db, 'event', 'seq') < activity.seen.event) {
    rows.clear();
    activity.seen = findStart(db);
    live.add('load', null);
  }
  const { seen } = activity;
  const findAfter = <Row extends Placed>(query: Query<Row>): Row[] => {
    const { kind, place } = query;
    const found = find(db, query, `${place} > ? ORDER BY ${place} DESC LIMIT ${maxFound}`, seen[kind]).reverse();
    seen[kind] = found.at(-1)?.place ?? seen[kind];
    return found;
  };
  const added = [
    ...findAfter(trades).map(trades.write),
    ...findAfter(comments).map(comments.write),
    ...findAfter(events).map(events.write),
  ];
  for (const row of added) putRow(activity, row);
  const waiting = [...rows.values()].flatMap((row) => (row.waiting ? [readDelivery(row.id)] : []));
  const changed = find(db, attempts, 'd.id IN (SELECT value FROM json_each(?))', JSON.stringify(waiting));
  for (const attempt of [...changed, ...findAfter(attempts)]) putTry(activity, attempt);
}

function putRow({ rows, live, io: { now }, isOpen }: DataActivity, row: ActivityRow): void {
  const before = rows.get(row.id);
  // The clock of the sandbox may be stopped or ahead.
  const isNow = before === undefined && isOpen && Math.abs(now() - row.atMs) > 60_000;
  const next = { ...row, atMs: before?.atMs ?? (isNow ? now() : row.atMs) };
  if (JSON.stringify(before) === JSON.stringify(next)) return;
  rows.set(row.id, next);
  dropOldest(rows, maxListed);
  live.add('row', next);
}

function putTry(activity: DataActivity, attempt: AttemptRow): void {
  const tries = listTries(activity, attempt);
  for (const earlier of tries.slice(0, -1)) putRow(activity, { ...earlier, waiting: false });
  for (const last of tries.slice(-1)) putRow(activity, last);
}

/** A row for each try of a delivery that was seen, the oldest first: the database keeps only the last one. */
function listTries({ rows }: DataActivity, attempt: AttemptRow): ActivityRow[] {
  const last = attempts.write(attempt);
  const start = `attempt-${attempt.place}-`;
  const earlier = [...rows.values()].filter(({ id }) => id.startsWith(start) && id !== last.id);
  return [...earlier, last];
}

/** The deliveries of an event, or the delivery of an attempt. */
function findDeliveries(db: Db, id: string): AttemptRow[] {
  return id.startsWith('attempt-')
    ? find(db, attempts, 'd.id = ?', readDelivery(id))
    : find(db, attempts, 'e.id = ?', keyOf(id));
}

/** Events that were caused by a transaction or a comment. */
function listEvents(db: Db, cause: 'tx' | 'comment', text: string | null): ActivityRow[] {
  return list(db, events, `instr(e.body, ?) > 0 AND ${cause} = ? ORDER BY e.seq LIMIT ${maxFound}`, text, text);
}

/** The comment and the trade that an event is about. */
function listCauses(db: Db, { comment, tx }: EventRow): ActivityRow[] {
  return [...list(db, comments, 'id = ?', comment), ...list(db, trades, 't.tx = ?', tx)];
}

/** The comment that an answer is about. */
export function listCaused({ db, rows }: DataActivity, answer: string): ActivityRow[] {
  const made = tryParseJson(answer);
  const found = list(db, comments, 'id = ?', isObject(made) ? String(made['uid']) : null);
  return found.map((row) => rows.get(row.id) ?? row);
}

export function dataSource(activity: DataActivity): ActivitySource {
  const { rows } = activity;
  return {
    owns: (id) => Object.hasOwn(details, kindOf(id)),
    list: async (_, untilMs) => listKept(rows.values(), untilMs),
    look: async (ids) => ids.flatMap((id) => rows.get(id) ?? []),
    show: async (id) => {
      const known = (row: ActivityRow) => rows.get(row.id) ?? row;
      const detail = details[kindOf(id) as Kind](activity, id);
      const { before, after } = detail.chain;
      return { ...detail, row: known(detail.row), chain: { before: before.map(known), after: after.map(known) } };
    },
    send: (id, edited) => sendAgain(activity, id, edited),
  };
}

const kindOf = (id: string) => id.slice(0, id.indexOf('-'));
const keyOf = (id: string) => id.slice(id.indexOf('-') + 1);

const details: Readonly<Record<Kind, (activity: DataActivity, id: string) => ActivityDetail>> = {
  trade: ({ db }, id) => {
    const trade = first(find(db, trades, 't.id = ?', Number(keyOf(id))), id);
    const { place, tx, wallet, token, chain, amount, usd } = trade;
    return {
      row: trades.write(trade),
      facts: [
        ...(tx === null ? [] : [['Transaction', tx] as const]),
        ['Trader', wallet],
        ['Token', `${token} on ${chain}`],
        ['Amount', String(amount)],
        ['Value', formatUsd(usd)],
      ],
      chain: { before: [], after: [...list(db, comments, 'trade_id = ?', place), ...listEvents(db, 'tx', tx)] },
    };
  },
  comment: ({ db, findRequest }, id) => {
    const comment = first(find(db, comments, 'id = ?', keyOf(id)), id);
    const request = findRequest(comment.id);
    return {
      row: comments.write(comment),
      facts: [
        ['Comment', comment.id],
        ['By', comment.wallet],
        ['Text', comment.text],
      ],
      chain: {
        before: [...list(db, trades, 't.id = ?', comment.tradeId), ...(request ? [request] : [])],
        after: listEvents(db, 'comment', comment.id),
      },
    };
  },
  event: (activity, id) => {
    const { db } = activity;
    const event = first(find(db, events, 'e.id = ?', keyOf(id)), id);
    const deliveries = findDeliveries(db, id);
    return {
      row: events.write(event),
      facts: [
        ['Event id', event.id],
        ['Webhook', event.uid],
      ],
      ...describeDelivery(activity, event, deliveries[0]),
      chain: { before: listCauses(db, event), after: deliveries.flatMap((each) => listTries(activity, each)) },
    };
  },
  attempt: (activity, id) => {
    const { db } = activity;
    const attempt = first(findDeliveries(db, id), id);
    const event = first(find(db, events, 'e.id = ?', attempt.eventId), id);
    const tries = listTries(activity, attempt);
    const index = tries.findIndex((each) => each.id === id);
    const row = first(tries.slice(index), id);
    const { url, state, nextMs } = attempt;
    const isLast = index === tries.length - 1;
    const isOpen = isLast && state === 'waiting' && attempt.tries > 0;
    return {
      row,
      ...(row.failed && { error: targetError(hideUrlSecrets(url), row.about || row.status) }),
      facts: [
        ...(isLast ? [['State', state] as const] : []),
        ...(isOpen ? [['Next try', formatTime(Math.floor(nextMs / 1000))] as const] : []),
      ],
      ...describeDelivery(activity, event, attempt),
      chain: {
        before: [...listCauses(db, event), events.write(event), ...tries.slice(0, index)],
        after: tries.slice(index + 1),
      },
    };
  },
};

/** Errors: `usage` for a row that is gone. */
function first<T>([found]: readonly T[], id: string): T {
  if (found === undefined) throw usageError(`${id.slice(0, 80)}: no longer exists`);
  return found;
}

/** What is delivered, the command lines that send it again, and its target. */
function describeDelivery(
  { io: { now }, commandStart }: DataActivity,
  event: EventRow,
  attempt: AttemptRow | undefined,
) {
  const body = deliveryBody(event.body);
  const bytes = Buffer.from(body);
  const headers = headerPairs(deliveryHeaders(undefined));
  const request = { headers, body: bytes.toString('base64'), bodyBytes: bytes.length };
  if (attempt === undefined) return { request };
  const url = hideUrlSecrets(attempt.url);
  const signed = deliveryHeaders(signedHeader(attempt.secret, body, now()));
  return {
    request,
    curl: curlLine(deliveryRequest(url, signed, body)).trim(),
    command: `${commandStart} webhook trigger ${event.type} --uid ${event.uid}`,
    form: { kind: 'target', url } as const,
  };
}

/** Sends an event again to its webhooks, a delivery to its own, or one of them once to another address. */
async function sendAgain(activity: DataActivity, id: string, { url }: Edited): Promise<SendOutcome> {
  const { db, io } = activity;
  const deliveries = findDeliveries(db, id);
  const before = first(deliveries, id);
  if (url !== undefined && url !== hideUrlSecrets(before.url)) return sendTo(activity, url, before);
  for (const { place } of deliveries)
    db.run("UPDATE outbox SET state = 'waiting', due_ms = ? WHERE id = ?", [io.now(), place]);
  // From now on they are waiting, and so looked at.
  for (const each of findDeliveries(db, id)) putTry(activity, each);
  return waitForTry(activity, before);
}

async function sendTo({ db, io: { now } }: DataActivity, url: string, attempt: AttemptRow): Promise<SendOutcome> {
  if (!isHttpAddress(url)) throw usageError(`target ${url.slice(0, 200)}: must be an http or https address`);
  const body = deliveryBody(first(find(db, events, 'e.id = ?', attempt.eventId), attempt.eventId).body);
  const { ok, status, error } = await sendDelivery(url, body, signedHeader(attempt.secret, body, now()));
  const text = `${ok ? 'Accepted' : 'Not accepted'} by ${hideUrlSecrets(url)}: ${status ?? error}`;
  return { id: null, text, failed: !ok };
}

/** How long Send again waits for the answer of a target, and the pause between two looks. */
const [answerMs, napMs] = [5000, 50];

/** The answer of the target, if it comes soon. */
async function waitForTry(activity: DataActivity, before: AttemptRow): Promise<SendOutcome> {
  const { db, signal } = activity;
  const { now, sleep } = activity.io;
  const untilMs = now() + answerMs;
  while (now() < untilMs && !signal.aborted) {
    const [attempt] = find(db, attempts, 'd.id = ?', before.place);
    if (attempt !== undefined && attempt.tries > before.tries) {
      putTry(activity, attempt);
      return sentOutcome(attempts.write(attempt));
    }
    await sleep(napMs, signal).catch(() => undefined);
  }
  return { id: null, text: 'It is being sent.', failed: false };
}

/** Stores an event for each webhook, about the newest buy. Errors: `usage` without a webhook or a buy. */
export function sendTestEvents(db: Db, nowMs: number): string {
  const [webhooks, source] = [allWebhooks(db), findEventSource(db, 'new-feed-item')];
  if (webhooks.length === 0) throw usageError('there is no webhook', 'Register one on the Webhooks tab.');
  if (source === undefined) throw usageError('there is no buy to send an event about');
  const atMs = storedNow(db, nowMs);
  for (const webhook of webhooks) storeEvent(db, webhook.id, makeWebhookEvent(db, source, webhook, atMs), atMs);
  return webhooks.length === 1 ? 'Sent to 1 webhook.' : `Sent to ${webhooks.length} webhooks.`;
}

/** Ids are `attempt-<number of the delivery>-<number of the try>`. */
function readDelivery(id: string): number {
  return Number(id.split('-')[1]);
}
