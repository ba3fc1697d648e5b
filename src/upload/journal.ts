import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readStateFile } from '../files/durable-file.ts';
import { damagedLine, openLog, otherVersion, readLog } from '../files/log-file.ts';

const count = z.int().min(0);
const moment = z.int().min(0).max(8.64e15);

const planSchema = z.object({
  kind: z.literal('plan'),
  v: z.literal(1),
  job: z.string().regex(/^[0-9a-f]{12}$/),
  task: z.enum(['register', 'add-addresses', 'sync']),
  baseUrl: z.url(),
  /** A hash that stands for the key. */
  keyId: z.string(),
  /** Without what is secret in it: as long as there is no webhook, a file beside the journal holds the whole of it. */
  destinationUrl: z.string().nullable(),
  uid: z.string().nullable(),
  /** Where the secret goes; `null`: into the job's folder. */
  secretFile: z
    .string()
    .regex(/^[^\0]+$/)
    .nullable(),
  addresses: count,
  chunks: count,
  duplicates: count,
  rejected: count,
  /** SHA-256 of the normalized list. */
  digest: z.string(),
  atMs: moment,
});

/** What a job is to do; the first line of its journal. */
export type Plan = z.output<typeof planSchema>;

const requestId = z.string().optional();

const entrySchema = z.discriminatedUnion('kind', [
  /** The POST is about to be sent; these webhooks had the destination before the first one. */
  z.object({ kind: z.literal('posting'), before: z.array(z.string()) }),
  /** The POST surely made no webhook. */
  z.object({ kind: z.literal('not-created') }),
  z.object({
    kind: z.literal('registered'),
    uid: z.string(),
    destinationUrl: z.string(),
    settled: z.boolean(),
    requestId,
  }),
  z.object({ kind: z.literal('sending'), chunk: count }),
  z.object({ kind: z.literal('done'), chunk: count, sends: count, requestId }),
  z.object({ kind: z.literal('finished'), atMs: moment }),
]);

type Entry = z.output<typeof entrySchema>;

export interface JobState {
  plan: Plan;
  posting: { before: string[] } | undefined;
  uid: string | undefined;
  destinationUrl: string | undefined;
  /** The webhook was found in the list, because the POST's answer was lost. */
  settled: boolean;
  done: Set<number>;
  sends: Map<number, number>;
  /** What the service called the requests that confirmed a chunk. */
  requestIds: Map<number, string>;
  finishedMs: number | undefined;
}

/** The file that holds the destination of an upload with what is secret in it, until its webhook is made. */
export function destinationFile(folder: string): string {
  return join(folder, 'destination');
}

function readDestination(folder: string): string | undefined {
  const file = destinationFile(folder);
  return existsSync(file) ? readStateFile(file) : undefined;
}

export function journalFile(folder: string): string {
  return join(folder, 'journal.ndjson');
}

/** `undefined` where the folder holds no journal. Errors: `local-file` for a damaged or newer one. */
export function readJournal(folder: string): JobState | undefined {
  const file = journalFile(folder);
  const [first, ...lines] = readLog<{ v?: unknown }>(file);
  if (first === undefined) return undefined;
  if (first.v !== 1) throw otherVersion(file, folder);
  const checked = <T>(schema: z.ZodType<T>, line: object, number: number): T => {
    const { success, data } = schema.safeParse(line);
    if (success) return data;
    throw damagedLine(file, number);
  };
  const noted = checked(planSchema, first, 1);
  const plan = { ...noted, destinationUrl: readDestination(folder) ?? noted.destinationUrl };
  const state: JobState = {
    plan,
    posting: undefined,
    uid: plan.uid ?? undefined,
    destinationUrl: plan.destinationUrl ?? undefined,
    settled: false,
    done: new Set(),
    sends: new Map(),
    requestIds: new Map(),
    finishedMs: undefined,
  };
  for (const [index, line] of lines.entries()) apply(state, checked(entrySchema, line, index + 2));
  return state;
}

function apply(state: JobState, entry: Entry): void {
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
      state.destinationUrl = entry.destinationUrl;
      state.settled = entry.settled;
      // The POST carries the first chunk.
      if (entry.requestId !== undefined) state.requestIds.set(0, entry.requestId);
      break;
    case 'sending':
      state.sends.set(entry.chunk, (state.sends.get(entry.chunk) ?? 0) + 1);
      break;
    case 'done':
      state.done.add(entry.chunk);
      if (entry.requestId !== undefined) state.requestIds.set(entry.chunk, entry.requestId);
      state.sends.set(entry.chunk, (state.sends.get(entry.chunk) ?? 1) + entry.sends - 1);
      break;
    case 'finished':
      state.finishedMs = entry.atMs;
  }
}

export type Journal = ReturnType<typeof openJournal>;

const batchMs = 20;

/** A job's journal, open to be written; `state` follows it. */
export function openJournal(folder: string, state: JobState) {
  const log = openLog(journalFile(folder));
  const append = (entry: Entry) => {
    log.append(entry);
    apply(state, entry);
  };
  let batch: { saved: Promise<void>; wait: AbortController } | undefined;
  const startBatch = () => {
    const wait = new AbortController();
    const waited = delay(batchMs, undefined, { signal: wait.signal }).catch(() => undefined);
    const saved = waited.then(() => {
      batch = undefined;
      return log.flush();
    });
    return { saved, wait };
  };
  return {
    state,
    /** Adds an entry that survives the end of this process. */
    append,
    /** Adds an entry; resolves when it is safe on disk. */
    write: (entry: Entry) => {
      append(entry);
      return log.flush();
    },
    /** The same, with one sync for all entries that come within some milliseconds. */
    writeBatched: (entry: Entry) => {
      append(entry);
      batch ??= startBatch();
      return batch.saved;
    },
    flushBatch: () => batch?.wait.abort(),
    close: log.close,
  };
}

/** Chunks that were sent more than once, over all runs. */
export function resentChunks({ sends }: JobState): number {
  return [...sends.values()].filter((times) => times > 1).length;
}
