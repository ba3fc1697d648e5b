import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SotraError } from '../../errors.ts';
import { type LogFile, openLog, readLog } from '../../log-file.ts';

/** What a job is to do; the first line of its journal. */
export interface Plan {
  kind: 'plan';
  v: 1;
  job: string;
  /** A new webhook for a destination, or more addresses for one that exists. */
  task: 'register' | 'add-addresses' | 'sync';
  baseUrl: string;
  /** Stands for the key, without telling it. */
  keyId: string;
  destinationUrl: string | null;
  uid: string | null;
  /** Where the secret goes; `null`: into the job's folder. */
  secretFile: string | null;
  addresses: number;
  chunks: number;
  duplicates: number;
  rejected: number;
  /** SHA-256 of the normalised list. */
  digest: string;
  /** Unix milliseconds. */
  atMs: number;
}

/** What happened, one line each. */
type Entry =
  | Plan
  /** The POST is about to be sent; these webhooks had the destination before. */
  | { kind: 'posting'; atMs: number; before: string[] }
  /** The POST surely made no webhook. */
  | { kind: 'not-created' }
  | { kind: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { kind: 'sending'; chunk: number }
  | { kind: 'done'; chunk: number; sends: number }
  | { kind: 'finished'; atMs: number };

/** A job as its journal tells it. */
export interface JobState {
  plan: Plan;
  posting: { atMs: number; before: string[] } | undefined;
  uid: string | undefined;
  destinationUrl: string | undefined;
  settled: boolean;
  /** Confirmed chunks. */
  done: Set<number>;
  /** How often each chunk was sent. */
  sends: Map<number, number>;
  finishedMs: number | undefined;
}

/** The journal's file in a job's folder. */
export function journalFile(folder: string): string {
  return join(folder, 'journal.ndjson');
}

/** The state of a job; `undefined` where the folder holds none. Errors: `local-file` for a damaged or newer journal. */
export function readJournal(folder: string): JobState | undefined {
  const [plan, ...entries] = readLog<Entry>(journalFile(folder));
  if (plan === undefined) return undefined;
  if (plan.kind !== 'plan' || plan.v !== 1)
    throw new SotraError('local-file', `${journalFile(folder)} was written by another version of sotra`, {
      hint: 'Update sotra, or move the folder away to begin anew.',
    });
  const state: JobState = {
    plan,
    posting: undefined,
    uid: plan.uid ?? undefined,
    destinationUrl: plan.destinationUrl ?? undefined,
    settled: false,
    done: new Set(),
    sends: new Map(),
    finishedMs: undefined,
  };
  for (const entry of entries) apply(state, entry);
  return state;
}

/** Takes an entry into a state, as reading the journal does. */
function apply(state: JobState, entry: Entry): void {
  switch (entry.kind) {
    case 'posting':
      state.posting = { atMs: entry.atMs, before: entry.before };
      break;
    case 'not-created':
      state.posting = undefined;
      break;
    case 'registered':
      state.posting = undefined;
      state.uid = entry.uid;
      state.destinationUrl = entry.destinationUrl;
      state.settled = entry.settled;
      break;
    case 'sending':
      state.sends.set(entry.chunk, (state.sends.get(entry.chunk) ?? 0) + 1);
      break;
    case 'done':
      state.done.add(entry.chunk);
      state.sends.set(entry.chunk, (state.sends.get(entry.chunk) ?? 1) + entry.sends - 1);
      break;
    case 'finished':
      state.finishedMs = entry.atMs;
      break;
    case 'plan':
  }
}

/** A job's journal, open to be written. */
export interface Journal {
  state: JobState;
  /** Notes an entry; resolves when it is safe on disk. */
  note: (entry: Entry) => Promise<void>;
  /** Notes an entry; resolves when it is safe on disk, together with others that come within a moment. */
  noteSoon: (entry: Entry) => Promise<void>;
  /** Notes an entry that need only survive the end of this process. */
  mark: (entry: Entry) => void;
  close: () => void;
}

/** How long notes that may wait are gathered for one sync. */
const soonMs = 20;

/** Opens the journal of a job that has one. */
export function openJournal(folder: string, state: JobState): Journal {
  const log: LogFile = openLog(journalFile(folder));
  const mark = (entry: Entry) => {
    log.append(entry);
    apply(state, entry);
  };
  let soon: Promise<void> | undefined;
  return {
    state,
    mark,
    noteSoon: (entry) => {
      mark(entry);
      soon ??= delay(soonMs).then(() => {
        soon = undefined;
        return log.flush();
      });
      return soon;
    },
    note: (entry) => {
      mark(entry);
      return log.flush();
    },
    close: log.close,
  };
}

/** Chunks that were sent more than once, over all runs. */
export function resentChunks({ sends }: JobState): number {
  return [...sends.values()].filter((count) => count > 1).length;
}
