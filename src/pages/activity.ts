/** The Activity page: its routes, and its data, which commands give as sources, so that pages know no log and no database. */

import { isObject } from '../api/json.ts';
import { usageError } from '../errors.ts';
import type { CellText, CellValue } from '../lib/output/view.ts';
import type { LiveLog, WebApp } from './serve.ts';

export interface ActivityRow {
  /** Its kind and its key in the source, such as `req-12`. */
  id: string;
  kind: 'request' | 'trade' | 'comment' | 'event' | 'attempt' | 'refused';
  atMs: number;
  title: string;
  /** The number of an attempt to deliver or to send a request, from 1. */
  number?: number;
  /** Who caused it, or why it failed. */
  about: string;
  /** An HTTP status, or a word such as `waiting`. */
  status: string;
  failed: boolean;
  /** Whether its status will change by itself. */
  waiting?: boolean;
  durationMs?: number;
  /** The row that caused it. */
  causeId?: string;
  /** The uid of the webhook that it was sent for. */
  webhook?: string;
}

export interface ActivityList {
  /** Newest first, at most `maxListed`. */
  rows: readonly ActivityRow[];
  /** Whether there are older ones. */
  hasMore: boolean;
}

/** What a page begins with. */
export interface LoadedActivity extends ActivityList {
  facts: ActivityFacts;
}

/** Rows of a list; a page begins with `firstListed`, which come sooner, and asks for older ones. */
const firstListed = 200;
export const maxListed = 1000;

/** Drops the oldest entries of a map until it has at most `max`. */
export function dropOldest<Key>(entries: Map<Key, unknown>, max: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(oldest);
  }
}

/** A list of rows that are all in memory, the oldest first. */
export function listKept(rows: Iterable<ActivityRow>, untilMs = Number.POSITIVE_INFINITY): ActivityList {
  return { rows: [...rows].filter(({ atMs }) => atMs <= untilMs).reverse(), hasMore: false };
}

/** Waiting rows that a page asks for again at a time. */
export const maxLooked = 50;

export interface ActivityDetail {
  row: ActivityRow;
  error?: { message: string; hints: readonly string[] };
  facts: readonly (readonly [name: string, text: string])[];
  /** `null`: none came. */
  response?: ShownMessage | null;
  request?: ShownMessage;
  verification?: readonly VerificationStep[];
  /** Lines to copy. */
  curl?: string | undefined;
  command?: string | undefined;
  chain: { before: readonly ActivityRow[]; after: readonly ActivityRow[] };
  /** What can be changed before it is sent again; absent: it cannot be sent. */
  form?: RequestForm | TargetForm;
}

/** Why a delivery failed, and what to do; `target`: its address without secrets. */
export function targetError(target: string, why: string): NonNullable<ActivityDetail['error']> {
  return {
    message: `Not accepted by ${target}: ${why}.`,
    hints: ['Fix the program at this address, then press Send again.'],
  };
}

/** Headers and body, with secrets hidden. */
export interface ShownMessage {
  headers: readonly { name: string; value: string }[];
  /** The first part of its bytes, in base64; `null` if they were not kept. */
  body: string | null;
  bodyBytes: number | null;
}

/** One step in checking a signature; without `ok` it is only information. */
export interface VerificationStep {
  name: string;
  text: string;
  ok?: boolean;
}

export interface RequestForm {
  kind: 'request';
  method: string;
  /** With the names of its fields in braces. */
  path: string;
  fields: readonly RequestField[];
  /** `null` if it has none. */
  body: string | null;
  /** Keys that it can be sent with, the original one first; empty: only the service's own. */
  keys: readonly (readonly [key: string, label: string])[];
}

/** A delivery can be sent to another address. */
interface TargetForm {
  kind: 'target';
  url: string;
}

export interface RequestField {
  place: 'path' | 'query';
  name: string;
  help: string;
  /** Ends "must be ...". */
  must: string;
  /** A list with commas. */
  value: string;
  isList: boolean;
  isRequired: boolean;
  /** Empty if it is any text. */
  choices: readonly string[];
}

/** Changes before sending; absent fields are sent as before. */
export interface Edited {
  method?: string;
  target?: string;
  body?: string;
  key?: string;
  url?: string;
}

/** The outcome in words, and the id of the row that shows it, if there is one. */
export interface SendOutcome {
  id: string | null;
  text: string;
  failed: boolean;
}

/** What is shown for the row of what was sent, if there is one. */
export function sentOutcome(row: ActivityRow | undefined): SendOutcome {
  return { id: row?.id ?? null, text: `Sent: ${row?.status ?? 'done'}`, failed: row?.failed ?? false };
}

export interface ActivitySource {
  /** Whether an id is one of its rows. */
  owns: (id: string) => boolean;
  /** The newest rows, or those up to a time; it may give more than the limit. */
  list: (limit: number, untilMs?: number) => Promise<ActivityList>;
  /** The current state of rows that were waiting, and the rows that they caused; absent if live entries bring every change. */
  look?: (ids: readonly string[]) => Promise<readonly ActivityRow[]>;
  /** Errors: `usage` or `not-found` if the row is no longer kept; the same below. */
  show: (id: string) => Promise<ActivityDetail>;
  send?: (id: string, edited: Edited) => Promise<SendOutcome>;
}

/** What the top of the page shows. */
export interface ActivityFacts {
  /** What the page is about, such as `sandbox`. */
  title: string;
  /** The address that programs use. */
  address: string;
  /** The key to use there; shown for a sandbox only. */
  key?: string;
  /** A curl line that asks for something there; absent if it has to be signed. */
  curl?: string;
  /** A line that makes a first row. */
  line: string;
  /** Why there are no rows. */
  empty: string;
  /** Whether a button sends a test event. */
  canTest: boolean;
  /** Whether a service can be asked for a board and webhooks. */
  hasService: boolean;
}

/** An answer of an endpoint as the terminal shows it, and the command line for it. */
export interface CallOutcome<T> {
  data: T;
  tables: readonly ServedTable[];
  command: string;
}

/** A table of an answer as the terminal shows it, with its optional columns. */
export interface ServedTable {
  title?: string | undefined;
  /** `record`: one row, of which each column is a line. */
  layout: 'table' | 'record';
  columns: readonly ServedColumn[];
  /** In the order of the answer. */
  rows: readonly (readonly ServedCell[])[];
  /** The column that says what a row is about. */
  naming: number;
}

interface ServedColumn {
  key: string;
  title: string;
  /** What it means, with its unit. */
  help: string;
  side: 'left' | 'right';
  /** Searched, but not shown. */
  extra: boolean;
  /** Columns of higher numbers are hidden first; absent: never. */
  drop?: number | undefined;
}

/** The shown text, and the value to sort by. */
export type ServedCell = CellText & { value: CellValue };

export interface ActivityOptions {
  facts: Omit<ActivityFacts, 'hasService' | 'canTest'>;
  sources: readonly ActivitySource[];
  /** `row` with a row that is new or changed; `load` to list again, without data; `changed` to ask the service again. */
  live: LiveLog;
  sendTest?: () => Promise<SendOutcome>;
}

/** The Activity page. `serviceRoutes` add a board and webhooks. */
export function createActivityApp(
  { facts, sources, live, sendTest }: ActivityOptions,
  serviceRoutes: WebApp['routes'] = {},
): WebApp {
  const find = (id: unknown) => {
    const source = sources.find(({ owns }) => owns(String(id)));
    if (source === undefined) throw usageError(`${String(id).slice(0, 80)}: there is no such row`);
    return source;
  };
  const list = async (limit: number, untilMs?: number): Promise<LoadedActivity> => {
    const lists = await Promise.all(sources.map((each) => each.list(limit, untilMs)));
    const rows = lists.flatMap((each) => each.rows).sort((a, b) => b.atMs - a.atMs);
    return {
      facts: { ...facts, canTest: sendTest !== undefined, hasService: Object.keys(serviceRoutes).length > 0 },
      rows: rows.slice(0, limit),
      hasMore: rows.length > limit || lists.some((each) => each.hasMore),
    };
  };
  const look = async (query: URLSearchParams): Promise<ActivityRow[]> => {
    const ids = query.getAll('id').slice(0, maxLooked);
    const found = sources.map(async ({ owns, look: lookAt }) => lookAt?.(ids.filter(owns)) ?? []);
    return (await Promise.all(found)).flat();
  };
  return {
    name: 'ui',
    title: `${facts.title} · sotra`,
    live,
    load: () => list(firstListed),
    routes: {
      'GET list': (query) => list(maxListed, query.has('until') ? Number(query.get('until')) : undefined),
      'GET rows': look,
      'GET show': async (query) => find(query.get('id')).show(query.get('id') ?? ''),
      'POST send': async (_, body) => {
        const { id, ...edited } = isObject(body) ? body : {};
        const source = find(id);
        if (source.send === undefined) throw usageError(`${id}: cannot be sent again`);
        return source.send(String(id), edited);
      },
      'POST test': async () => {
        if (sendTest === undefined) throw usageError('this page sends no test events');
        return sendTest();
      },
      ...serviceRoutes,
    },
  };
}
