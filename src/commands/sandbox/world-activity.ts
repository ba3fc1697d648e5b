import { isHttpAddress } from '../../api/http-address.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { signedHeader } from '../../api/webhook-signature.ts';
import { curlLine, deliveryRequest } from '../../client/preview.ts';
import { hideUrlSecrets } from '../../client/secrets.ts';
import { usageError } from '../../errors.ts';
import { formatTime, formatUsd, shortAddress } from '../../lib/output/format.ts';
import {
  type ActivityDetail,
  type ActivityRow,
  type ActivitySource,
  dropOldest,
  listKept,
  maxListed,
  type SendOutcome,
  targetError,
} from '../../pages/activity.ts';
import type { LiveLog } from '../../pages/live-log.ts';
import { storedNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { deliveryBody, deliveryHeaders, sendDelivery } from '../../sandbox/deliver/deliver.ts';
import { findEventSource, makeWebhookEvent, storeEvent } from '../../sandbox/deliver/events.ts';
import { allWebhooks } from '../../sandbox/service/webhook.ts';
import { describeEvent, readEvents } from '../../webhooks/events.ts';
import { headerPairs } from '../../webhooks/forward.ts';

interface WorldActivityOptions {
  db: Db;
  now: () => number;
  live: LiveLog;
  commandStart: string;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
  /** The request that made a comment, if it is kept. */
  findRequest: (text: string) => ActivityRow | undefined;
}

interface TradeRow {
  id: number;
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
interface CommentRow {
  id: string;
  wallet: string;
  text: string;
  tradeId: number;
  atMs: number;
}
interface EventRow {
  seq: number;
  id: string;
  type: string;
  body: string;
  atMs: number;
  uid: string;
  /** The transaction or the comment that it is about. */
  tx: string | null;
  comment: string | null;
}
interface AttemptRow {
  id: number;
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

const tradeSql = `SELECT t.id, t.chain, t.wallet, t.token, k.symbol, t.side, t.amount, t.usd, t.at_ms AS atMs, t.tx
  FROM trade t LEFT JOIN token k ON k.chain = t.chain AND k.address = t.token`;
const commentSql = 'SELECT id, wallet, text, trade_id AS tradeId, at_ms AS atMs FROM comment';
const eventSql = `SELECT e.seq, e.id, e.type, e.body, e.at_ms AS atMs, w.uid,
    CASE e.type WHEN 'copyswap' THEN e.body ->> '$.copyswapTrade.transactionHash'
      WHEN 'new-feed-item' THEN e.body ->> '$.feedItem.metadata.trades[0].transactionHash' END AS tx,
    CASE e.type WHEN 'comment-created' THEN e.body ->> '$.comment.uid' END AS comment
  FROM event e JOIN webhook w ON w.id = e.webhook_id`;
const attemptSql = `SELECT d.id, d.state, d.tries, d.status, d.error, d.ms, d.at_ms AS tryMs, d.due_ms AS nextMs, e.type, e.id AS eventId, e.at_ms AS eventMs, w.uid,
  w.destination_url AS url, w.secret FROM outbox d JOIN event e ON e.seq = d.item JOIN webhook w ON w.id = d.target`;

/** How long Send again waits for the answer of a target, and the pause between two looks. */
const [answerMs, napMs] = [5000, 50];

/** The most rows of a kind that one look reads: a simulation makes thousands in a second. */
const maxFound = 200;

/** New trades and comments of a sandbox, and its events and attempts to deliver them; `look` reads what is new. */
export function openWorldActivity({ db, now, live, commandStart, sleep, signal, findRequest }: WorldActivityOptions) {
  /** The oldest first; a row that changes stays in its place. */
  const rows = new Map<string, ActivityRow>();
  const newest = (table: string, column = 'id') => db.value<number>(`SELECT max(${column}) FROM ${table}`) ?? 0;
  const begin = () => ({ trade: newest('trade'), commentMs: newest('comment', 'at_ms'), event: 0, attempt: 0 });
  let hasStarted = false;
  let seen = begin();
  const put = (row: ActivityRow) => {
    const before = rows.get(row.id);
    // The clock of the sandbox may be stopped or ahead: a new row happened now.
    const isNow = before === undefined && hasStarted && Math.abs(now() - row.atMs) > 60_000;
    const next = { ...row, atMs: before?.atMs ?? (isNow ? now() : row.atMs) };
    if (JSON.stringify(before) === JSON.stringify(next)) return;
    rows.set(row.id, next);
    dropOldest(rows, maxListed);
    live.add('row', next);
  };
  /** A row for each try of a delivery that was seen, the oldest first: the database keeps only the last one. */
  const triesOf = (attempt: AttemptRow): ActivityRow[] => {
    const last = attemptRow(attempt);
    const earlier = [...rows.values()].filter(({ id }) => id.startsWith(`attempt-${attempt.id}-`) && id !== last.id);
    return [...earlier, last];
  };
  const putTry = (attempt: AttemptRow) => {
    const tries = triesOf(attempt);
    for (const earlier of tries.slice(0, -1)) put({ ...earlier, waiting: false });
    for (const last of tries.slice(-1)) put(last);
  };
  const look = () => {
    if (newest('trade') < seen.trade || newest('event', 'seq') < seen.event) {
      rows.clear();
      seen = begin();
      live.add('load', null);
    }
    const after = (sql: string, column: string, last: number) =>
      `${sql} WHERE ${column} > ${last} ORDER BY ${column} DESC LIMIT ${maxFound}`;
    const trades = db.all<TradeRow>(after(tradeSql, 't.id', seen.trade));
    const comments = db.all<CommentRow>(after(commentSql, 'at_ms', seen.commentMs));
    const events = db.all<EventRow>(after(eventSql, 'e.seq', seen.event));
    const attempts = db.all<AttemptRow>(after(attemptSql, 'd.id', seen.attempt));
    const waiting = [...rows.values()].flatMap(({ id, waiting: isWaiting }) => (isWaiting ? [readDelivery(id)] : []));
    const changed = db.all<AttemptRow>(`${attemptSql} WHERE d.id IN (SELECT value FROM json_each(?))`, [
      JSON.stringify(waiting),
    ]);
    for (const each of trades.toReversed()) put(tradeRow(each));
    for (const each of comments.toReversed()) put(commentRow(each));
    for (const each of events.toReversed()) put(eventRow(each));
    for (const each of [...changed, ...attempts.toReversed()]) putTry(each);
    seen = {
      trade: trades[0]?.id ?? seen.trade,
      commentMs: comments[0]?.atMs ?? seen.commentMs,
      event: events[0]?.seq ?? seen.event,
      attempt: attempts[0]?.id ?? seen.attempt,
    };
  };
  look();
  hasStarted = true;

  const findTrade = (where: string, value: number | string | null) =>
    db.get<TradeRow>(`${tradeSql} WHERE ${where} = ?`, [value]);
  const findComment = (where: string, value: number | string | null) =>
    db.get<CommentRow>(`${commentSql} WHERE ${where} = ?`, [value]);
  const findEvent = (id: string) => db.get<EventRow>(`${eventSql} WHERE e.id = ?`, [id]);
  const findAttempts = (where: string, value: number | string) =>
    db.all<AttemptRow>(`${attemptSql} WHERE ${where} = ?`, [value]);
  /** Events that were caused by a transaction or a comment. */
  const eventsOf = (cause: 'tx' | 'comment', text: string) =>
    db
      .all<EventRow>(`${eventSql} WHERE instr(e.body, ?) > 0 AND ${cause} = ? ORDER BY e.seq LIMIT ${maxFound}`, [
        text,
        text,
      ])
      .map(eventRow);
  const causesOf = ({ comment, tx }: EventRow): ActivityRow[] => {
    const [found, trade] = [findComment('id', comment), findTrade('t.tx', tx)];
    return [...(found ? [commentRow(found)] : []), ...(trade ? [tradeRow(trade)] : [])];
  };
  const known = (row: ActivityRow): ActivityRow => rows.get(row.id) ?? row;
  const describe = (row: ActivityRow, detail: Partial<ActivityDetail>): ActivityDetail => {
    const { before = [], after = [] } = detail.chain ?? {};
    return { row: known(row), facts: [], ...detail, chain: { before: before.map(known), after: after.map(known) } };
  };
  const show = async (id: string): Promise<ActivityDetail> => {
    const [kind, key] = [id.slice(0, id.indexOf('-')), id.slice(id.indexOf('-') + 1)];
    if (kind === 'trade') {
      const trade = findTrade('t.id', Number(key));
      if (trade === undefined) throw usageError(`trade ${key}: does not exist`);
      const comment = findComment('trade_id', trade.id);
      const events = trade.tx === null ? [] : eventsOf('tx', trade.tx);
      const after = [...(comment ? [commentRow(comment)] : []), ...events];
      return describe(tradeRow(trade), { facts: tradeFacts(trade), chain: { before: [], after } });
    }
    if (kind === 'comment') {
      const comment = findComment('id', key);
      if (comment === undefined) throw usageError(`comment ${key}: does not exist`);
      const [request, trade] = [findRequest(comment.id), findTrade('t.id', comment.tradeId)];
      const before = [...(trade ? [tradeRow(trade)] : []), ...(request ? [request] : [])];
      const after = eventsOf('comment', comment.id);
      const facts = [
        ['Comment', comment.id],
        ['By', comment.wallet],
        ['Text', comment.text],
      ] as const;
      return describe(commentRow(comment), { facts, chain: { before, after } });
    }
    if (kind === 'event') {
      const event = findEvent(key);
      if (event === undefined) throw usageError(`event ${key}: does not exist`);
      const attempts = findAttempts('e.id', key);
      return describe(eventRow(event), {
        facts: [
          ['Event id', event.id],
          ['Webhook', event.uid],
        ],
        request: showBody(event.body),
        ...describeSending(attempts[0], event),
        chain: { before: causesOf(event), after: attempts.flatMap(triesOf) },
      });
    }
    const [attempt] = findAttempts('d.id', readDelivery(id));
    const event = attempt && findEvent(attempt.eventId);
    const tries = attempt ? triesOf(attempt) : [];
    const index = tries.findIndex((each) => each.id === id);
    const row = tries[index];
    if (attempt === undefined || event === undefined || row === undefined)
      throw usageError(`attempt ${key}: is no longer kept`);
    return describe(row, {
      ...showAttempt(attempt, { row, isLast: index === tries.length - 1 }),
      request: showBody(event.body),
      ...describeSending(attempt, event),
      chain: { before: [...causesOf(event), eventRow(event), ...tries.slice(0, index)], after: tries.slice(index + 1) },
    });
  };
  /** The command lines that send an event again, and its target. */
  const describeSending = (attempt: AttemptRow | undefined, event: EventRow): Partial<ActivityDetail> => {
    if (attempt === undefined) return {};
    const [url, body] = [hideUrlSecrets(attempt.url), deliveryBody(event.body)];
    const headers = deliveryHeaders(signedHeader(attempt.secret, body, now()));
    return {
      curl: curlLine(deliveryRequest(url, headers, body)).trim(),
      command: `${commandStart} webhook trigger ${event.type} --uid ${event.uid}`,
      form: { kind: 'target', url },
    };
  };
  /** Sends an event once to another address. */
  const sendTo = async (url: string, attempt: AttemptRow): Promise<SendOutcome> => {
    if (!isHttpAddress(url)) throw usageError(`target ${url.slice(0, 200)}: must be an http or https address`);
    const body = deliveryBody(findEvent(attempt.eventId)?.body ?? '');
    const { ok, status, error } = await sendDelivery(url, body, signedHeader(attempt.secret, body, now()));
    const text = `${ok ? 'Accepted' : 'Not accepted'} by ${hideUrlSecrets(url)}: ${status ?? error}`;
    return { id: null, text, failed: !ok };
  };
  /** The answer of the target, if it comes soon. */
  const waitForTry = async (before: AttemptRow): Promise<SendOutcome> => {
    const untilMs = now() + answerMs;
    while (now() < untilMs && !signal.aborted) {
      const [attempt] = findAttempts('d.id', before.id);
      if (attempt !== undefined && attempt.tries > before.tries) {
        putTry(attempt);
        const { id, status, failed } = attemptRow(attempt);
        return { id, text: `Sent: ${status}`, failed };
      }
      await sleep(napMs, signal).catch(() => undefined);
    }
    return { id: null, text: 'It is being sent.', failed: false };
  };
  const source: ActivitySource = {
    owns: (id) => /^(?:trade|comment|event|attempt)-/.test(id),
    list: async (_, untilMs) => listKept(rows.values(), untilMs),
    look: async (ids) => ids.flatMap((id) => rows.get(id) ?? []),
    show,
    send: async (id, { url }) => {
      const read = () =>
        id.startsWith('attempt-')
          ? findAttempts('d.id', readDelivery(id))
          : findAttempts('e.id', id.slice('event-'.length));
      const attempts = read();
      const [first] = attempts;
      if (first === undefined) throw usageError(`${id.slice(0, 80)}: no longer exists`);
      if (url !== undefined && url !== hideUrlSecrets(first.url)) return sendTo(url, first);
      for (const each of attempts)
        db.run("UPDATE outbox SET state = 'waiting', due_ms = ? WHERE id = ?", [now(), each.id]);
      // From now on they are waiting, and so looked at.
      for (const each of read()) putTry(each);
      return waitForTry(first);
    },
  };
  return {
    source,
    look,
    /** The comment that an answer is about. */
    listCaused: (answer: string): ActivityRow[] => {
      const made = tryParseJson(answer);
      const comment = findComment('id', isObject(made) ? String(made['uid']) : null);
      return comment === undefined ? [] : [known(commentRow(comment))];
    },
  };
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

function tradeRow(trade: TradeRow): ActivityRow {
  const { id, side, usd, symbol, token, chain, wallet, atMs } = trade;
  return {
    id: `trade-${id}`,
    kind: 'trade',
    atMs,
    title: `${side} ${formatUsd(usd)} of ${symbol ?? shortAddress(token)} on ${chain}`,
    about: `by ${wallet}`,
    status: 'traded',
    failed: false,
  };
}

function tradeFacts({ tx, wallet, token, chain, amount, usd }: TradeRow): ActivityDetail['facts'] {
  return [
    ...(tx === null ? [] : [['Transaction', tx] as const]),
    ['Trader', wallet],
    ['Token', `${token} on ${chain}`],
    ['Amount', String(amount)],
    ['Value', formatUsd(usd)],
  ];
}

function commentRow({ id, wallet, text, atMs }: CommentRow): ActivityRow {
  return {
    id: `comment-${id}`,
    kind: 'comment',
    atMs,
    title: text,
    about: `by ${wallet}`,
    status: 'posted',
    failed: false,
  };
}

function eventRow({ id, type, body, atMs, uid }: EventRow): ActivityRow {
  const [event] = readEvents(Buffer.from(deliveryBody(body)));
  const about = event === undefined ? '' : describeEvent(event);
  return { id: `event-${id}`, kind: 'event', atMs, title: type, about, status: 'stored', failed: false, webhook: uid };
}

/** Ids are `attempt-<number of the delivery>-<number of the try>`. */
function readDelivery(id: string): number {
  return Number(id.split('-')[1]);
}

/** The last try of a delivery, or the first one if it was not made yet. */
function attemptRow(attempt: AttemptRow): ActivityRow {
  const { id, state, tries, status, error, ms, tryMs, type, eventId, eventMs, uid, url } = attempt;
  const isWaiting = state === 'waiting';
  const number = Math.max(1, tries);
  return {
    id: `attempt-${id}-${number}`,
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
}

/** The error and the facts of a try; the last one also has the state of the delivery. */
function showAttempt(
  { url, state, tries, nextMs }: AttemptRow,
  { row, isLast }: { row: ActivityRow; isLast: boolean },
) {
  const target = hideUrlSecrets(url);
  const isOpen = isLast && state === 'waiting' && tries > 0;
  const facts: ActivityDetail['facts'] = [
    ...(isLast ? [['State', state] as const] : []),
    ...(isOpen ? [['Next try', formatTime(Math.floor(nextMs / 1000))] as const] : []),
  ];
  return { ...(row.failed && { error: targetError(target, row.about || row.status) }), facts };
}

function showBody(event: string) {
  const body = Buffer.from(deliveryBody(event));
  return {
    headers: headerPairs(deliveryHeaders(undefined)),
    body: body.toString('base64'),
    bodyBytes: body.length,
  };
}
