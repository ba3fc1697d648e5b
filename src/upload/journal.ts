import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { makeFolder, syncFolder } from '../lib/files/durable-file.ts';
import { damagedLine, openLog, otherVersion, readLog } from '../lib/files/log-file.ts';

const count = z.int().min(0);
const moment = z.int().min(0).max(8.64e15);
const addressList = z.array(z.string());

const planSchema = z.object({
  kind: z.literal('plan'),
  v: z.literal(2),
  job: z.string().regex(/^[0-9a-f]{12}$/),
  task: z.enum(['register', 'add-addresses', 'sync']),
  baseUrl: z.url(),
  /** A hash that stands for the key. */
  keyId: z.string(),
  /** Without what is secret in it. */
  destinationUrl: z.string().nullable(),
  /** `null` where the webhook is to be made. */
  uid: z.string().nullable(),
  addresses: count,
  chunks: count,
  duplicates: count,
  rejected: count,
  /** SHA-256 of the normalized list. */
  digest: z.string(),
  atMs: moment,
  /** The command line that continues the upload, without what is secret in it. */
  line: z.string(),
  /** The webhook that is deleted once this one has its addresses. */
  replaces: z.string().optional(),
  /** Stands for the secret of that webhook. */
  retires: z.string().optional(),
});

/** What a job is to do: the first line of its journal, and once more where a sync starts over. */
export type Plan = z.output<typeof planSchema>;

const entrySchema = z.discriminatedUnion('kind', [
  planSchema,
  /** The POST is about to be sent; these webhooks had the destination before the first one. */
  z.object({ kind: z.literal('posting'), before: z.array(z.string()) }),
  /** The POST surely made no webhook. */
  z.object({ kind: z.literal('not-created') }),
  z.object({
    kind: z.literal('registered'),
    uid: z.string(),
    destinationUrl: z.string(),
    settled: z.boolean(),
    /** What the POST carried; absent where its answer was lost. */
    addresses: addressList.optional(),
    /** Another machine made this webhook; this one, which this machine made, is deleted. */
    inPlaceOf: z.string().optional(),
    atMs: moment.optional(),
  }),
  z.object({ kind: z.literal('sending'), chunk: count }),
  z.object({ kind: z.literal('done'), chunk: count, sends: count, addresses: addressList }),
  /** The webhook that this one replaces is about to be deleted first. */
  z.object({ kind: z.literal('deleting'), atMs: moment }),
  z.object({ kind: z.literal('finished'), atMs: moment }),
]);

type Entry = z.output<typeof entrySchema>;

export interface JobState {
  plan: Plan;
  posting: { before: string[] } | undefined;
  uid: string | undefined;
  /** The webhook that this job made, or took in place of it. */
  registered: string | undefined;
  /** The webhook that this job made and deleted again, for another machine's. */
  inPlaceOf: string | undefined;
  destinationUrl: string | undefined;
  done: Set<number>;
  sends: Map<number, number>;
  /** Chunks that earlier plans sent twice, or that this one sends again. */
  resentBefore: number;
  /** Since when the destination had no webhook, where the old one was deleted first, and until when. */
  gap: { fromMs: number; toMs: number | undefined } | undefined;
  finishedMs: number | undefined;
}

export interface Job {
  folder: string;
  state: JobState;
  /** The chunks that are confirmed of the wanted webhooks, over all plans. */
  confirmed: { uid: string; addresses: readonly string[] }[];
}

function journalFile(folder: string): string {
  return join(folder, 'journal.ndjson');
}

/**
 * What a job has done, with the addresses that it confirmed of wanted webhooks; `undefined` where its folder has no journal yet. Errors:
 * `local-file` for a damaged one and one of another version.
 */
export function readJournal(folder: string, isWanted: (uid: string) => boolean): Job | undefined {
  const file = journalFile(folder);
  let state: JobState | undefined;
  const confirmed: Job['confirmed'] = [];
  let number = 0;
  for (const line of readLog<{ v?: unknown }>(file)) {
    number += 1;
    if (number === 1 && line.v !== 2) throw otherVersion(file, folder);
    const { success, data: entry } = entrySchema.safeParse(line);
    if (!success || (number === 1 && entry.kind !== 'plan')) throw damagedLine(file, number);
    state = applyEntry(state, entry);
    const { uid = '' } = state;
    if ((entry.kind !== 'registered' && entry.kind !== 'done') || entry.addresses === undefined) continue;
    if (isWanted(uid)) confirmed.push({ uid, addresses: entry.addresses });
  }
  return state && { folder, state, confirmed };
}

function applyEntry(before: JobState | undefined, entry: Entry): JobState {
  if (entry.kind === 'plan') return applyPlan(before, entry);
  const state = before as JobState;
  switch (entry.kind) {
    case 'posting':
      state.posting = { before: entry.before };
      break;
    case 'not-created':
      state.posting = undefined;
      break;
    case 'registered':
      state.posting = undefined;
      state.uid = entry.uid;
      state.registered = entry.uid;
      state.destinationUrl = entry.destinationUrl;
      // The POST carries the first chunk.
      state.sends.set(0, 1);
      state.inPlaceOf = entry.inPlaceOf;
      if (entry.addresses !== undefined) state.done.add(0);
      else state.done.delete(0);
      if (state.gap !== undefined) state.gap.toMs = entry.atMs;
      break;
    case 'sending':
      state.sends.set(entry.chunk, (state.sends.get(entry.chunk) ?? 0) + 1);
      break;
    case 'done':
      state.done.add(entry.chunk);
      state.sends.set(entry.chunk, (state.sends.get(entry.chunk) ?? 1) + entry.sends - 1);
      break;
    case 'deleting':
      state.gap ??= { fromMs: entry.atMs, toMs: undefined };
      break;
    case 'finished':
      state.finishedMs = entry.atMs;
  }
  return state;
}

function applyPlan(before: JobState | undefined, plan: Plan): JobState {
  const open = before?.finishedMs === undefined ? before : undefined;
  // A chunk that was on its way is sent again with the next plan.
  const onTheirWay = open === undefined ? 0 : [...open.sends.keys()].filter((chunk) => !open.done.has(chunk)).length;
  return {
    plan,
    posting: before?.posting,
    uid: plan.uid ?? open?.uid,
    registered: before?.registered,
    inPlaceOf: undefined,
    destinationUrl: before?.destinationUrl ?? plan.destinationUrl ?? undefined,
    done: new Set(),
    sends: new Map(),
    resentBefore: open === undefined ? 0 : resentChunks(open) + onTheirWay,
    gap: open?.gap,
    finishedMs: undefined,
  };
}

const batchMs = 20;

export type Journal = ReturnType<typeof openJournal>;

/** The journal of a job, open to be written; `state` follows it. A plan that is new is written first. */
export function openJournal(folder: string, earlier: Job | undefined, plan: Plan) {
  makeFolder(folder);
  const log = openLog(journalFile(folder));
  syncFolder(dirname(folder));
  let state = earlier?.state;
  const append = (entry: Entry) => {
    log.append(entry);
    state = applyEntry(state, entry);
  };
  if (state?.plan !== plan) append(plan);
  let soon: Promise<void> | undefined;
  return {
    folder,
    confirmed: earlier?.confirmed ?? [],
    get state() {
      return state as JobState;
    },
    /** Adds an entry that survives the end of this process. */
    append,
    /** Adds an entry; resolves when it is safe on disk. */
    write: (entry: Entry) => {
      append(entry);
      return log.flush();
    },
    /** The same, together with what else comes within a moment: a disk is slow to make things safe, one by one. */
    writeSoon: (entry: Entry) => {
      append(entry);
      soon ??= delay(batchMs).then(() => {
        soon = undefined;
        return log.flush();
      });
      return soon;
    },
    close: log.close,
  };
}

/** Ends a job of which nothing is left to do. */
export async function finishJob(job: Job, atMs: number): Promise<void> {
  const journal = openJournal(job.folder, job, job.state.plan);
  await journal.write({ kind: 'finished', atMs });
  journal.close();
}

/** Chunks that were sent more than once, over all runs. */
export function resentChunks({ sends, resentBefore }: JobState): number {
  return resentBefore + [...sends.values()].filter((times) => times > 1).length;
}
