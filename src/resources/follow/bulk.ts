import type { Context } from '../../context.ts';
import { type ErrorCode, SotraError, toSotraError, usageError } from '../../errors.ts';
import type { FileBytes } from '../../files/text-file.ts';
import type { Profile } from '../../model/profile.ts';
import { bulk as bulkEndpoint } from './endpoints.ts';
import { type BadEntry, inBatches, type NumberedEntry, readEntries } from './read-entries.ts';
import { createUndoFile, type UndoFile, undoBytes } from './undo.ts';

/** What a bulk run did, in numbers. */
export interface BulkResult {
  entries: number;
  follows: number;
  unfollows: number;
  requests: number;
  /** Different profiles that were followed or unfollowed. */
  targets: number;
  /** These profiles, in the order of mention; `null` where there are more than `keptProfiles`. */
  targetProfiles: Profile[] | null;
  /** `null` where nothing was sent. */
  undoFile: string | null;
}

/** Where entries come from; read twice. */
export interface BulkSource {
  /** As the user named it: a file, or `-`. */
  name: string;
  open: () => FileBytes;
  signal: AbortSignal;
  /** Entries before this line (or place in an array) are passed over. */
  fromLine: number;
}

export type BulkEvent = { kind: 'sent'; entries: number; requests: number };

/** Profiles that the result names; more are only counted, so that memory stays within bounds. */
const keptProfiles = 5000;
/** Bad lines that an error's details hold, and those of them that are warned of. */
const [listedProblems, shownProblems] = [1000, 10];

/** What a source holds: all that can be known before anything is sent. */
export interface BulkPlan {
  entries: number;
  follows: number;
  unfollows: number;
  requests: number;
  undoBytes: number;
}

/**
 * Checks every entry of a source and counts. Errors: `usage` when one of them cannot be sent; each is warned of by its number, the first
 * thousand are in the details.
 */
export async function planBulk(source: BulkSource, warn: (text: string) => void): Promise<BulkPlan> {
  const plan: BulkPlan = { entries: 0, follows: 0, unfollows: 0, requests: 0, undoBytes: 0 };
  const bad: BadEntry[] = [];
  let badCount = 0;
  const onBad = (one: BadEntry) => {
    badCount += 1;
    if (badCount <= shownProblems) warn(`${one.unit} ${one.number}: ${one.problem}`);
    if (badCount <= listedProblems) bad.push(one);
  };
  for await (const batch of inBatches(goodEntries(source, onBad))) {
    plan.requests += 1;
    for (const { entry } of batch) {
      plan.entries += 1;
      plan[entry.action === 'unfollow' ? 'unfollows' : 'follows'] += 1;
      plan.undoBytes += undoBytes(entry);
    }
  }
  if (badCount === 0) return plan;
  const first = bad[0];
  const others = badCount === 1 ? '' : ` (and ${badCount - 1} more)`;
  throw new SotraError(
    'usage',
    `${nameOf(source)} ${first?.unit} ${first?.number}: ${first?.problem}${others}; nothing was sent`,
    {
      hint: 'Correct the file and run the same command again.',
      details: {
        rejectedCount: badCount,
        rejected: bad.map(({ number, problem }) => ({ line: number, reason: problem })),
      },
    },
  );
}

/**
 * Sends every entry, request after request; before each the undo file gets its reversal. Errors: that of the first request that fails, as
 * `partial` (exit 10) where others went before; it says which lines are applied and how to go on.
 */
export async function sendBulk(
  source: BulkSource,
  plan: BulkPlan,
  { context, undoTo, onEvent }: { context: Context; undoTo: string; onEvent: (event: BulkEvent) => void },
): Promise<BulkResult> {
  const undo = await createUndoFile(undoTo, plan.undoBytes);
  const profiles = new Map<string, Profile | null>();
  let [entries, requests, applied] = [0, 0, 0];
  let sending: Batch | undefined;
  try {
    for await (const batch of inBatches(goodEntries(source, changedMeanwhile(source)))) {
      if (context.world.signal.aborted) throw new SotraError('interrupted', 'interrupted');
      sending = batch;
      const body = batch.map(({ entry }) => entry);
      await undo.prepend(body);
      const { data } = await context.call(bulkEndpoint, { entries: body });
      for (const profile of data.targetProfiles ?? [])
        if (!profiles.has(profile.id)) profiles.set(profile.id, profiles.size < keptProfiles ? profile : null);
      entries += batch.length;
      requests += 1;
      applied = batch.at(-1)?.number ?? applied;
      sending = undefined;
      onEvent({ kind: 'sent', entries, requests });
    }
  } catch (thrown) {
    throw await failure(thrown, { sending, applied, source, undo });
  }
  const undoFile = await undo.finish();
  const named = [...profiles.values()].flatMap((profile) => (profile === null ? [] : [profile]));
  const { follows, unfollows } = plan;
  const targetProfiles = named.length === profiles.size ? named : null;
  return { entries, follows, unfollows, requests, targets: profiles.size, targetProfiles, undoFile };
}

/** The first request of a source, for a preview. */
export async function firstBatch(source: BulkSource): Promise<readonly NumberedEntry[]> {
  for await (const batch of inBatches(goodEntries(source, changedMeanwhile(source)))) return batch;
  return [];
}

async function* goodEntries(source: BulkSource, onBad: (bad: BadEntry) => void): AsyncGenerator<NumberedEntry> {
  for await (const entries of readEntries(source.open())) {
    if (source.signal.aborted) throw new SotraError('interrupted', 'interrupted');
    for (const one of entries) {
      if (one.number < source.fromLine) continue;
      if ('problem' in one) onBad(one);
      else yield one;
    }
  }
}

function nameOf({ name }: BulkSource): string {
  return name === '-' ? 'stdin' : name;
}

function changedMeanwhile(source: BulkSource): (bad: BadEntry) => never {
  return ({ unit, number }) => {
    throw usageError(`${nameOf(source)} ${unit} ${number}: changed while it was being sent`);
  };
}

/** Failures after which the service may have applied the request all the same. */
const uncertain: readonly ErrorCode[] = ['network', 'timeout', 'server-error', 'bad-answer', 'contract', 'interrupted'];

type Batch = readonly [NumberedEntry, ...NumberedEntry[]];

interface Failed {
  /** The request that failed; `undefined` where it was the reading. */
  sending: Batch | undefined;
  /** Number of the last entry that is surely applied; 0 for none. */
  applied: number;
  source: BulkSource;
  undo: UndoFile;
}

async function failure(thrown: unknown, { sending, applied, source, undo }: Failed): Promise<SotraError> {
  const error = toSotraError(thrown);
  const mayBeApplied = sending !== undefined && uncertain.includes(error.code);
  if (sending !== undefined && !mayBeApplied) undo.withdraw();
  const undoFile = await undo.finish();
  const from = sending?.[0].number ?? Math.max(applied + 1, source.fromLine);
  const to = sending?.at(-1)?.number ?? from;
  const unit = sending?.[0].unit ?? 'line';
  const units = unit === 'entry' ? 'entries' : 'lines';
  const before = applied === 0 ? '' : `; ${units} ${source.fromLine} to ${applied} are applied`;
  const untouched = applied === 0 ? '; nothing is applied' : `; nothing from ${unit} ${from} on is applied`;
  const after = mayBeApplied ? `; ${units} ${from} to ${to} may or may not be applied` : untouched;
  const goOn = `Go on with ${bulkCommand(source.name)} --from-line ${from}`;
  return new SotraError(
    applied === 0 || error.code === 'interrupted' ? error.code : 'partial',
    error.message + before + after,
    {
      hint: undoFile === null ? error.hint : `${goOn}, or take back what was sent with ${bulkCommand(undoFile)}`,
      status: error.status,
      requestId: error.requestId,
      cause: thrown,
      details: { appliedThrough: applied, failedFrom: from, failedTo: to, mayBeApplied, undoFile },
    },
  );
}

function bulkCommand(file: string): string {
  const word = /^[\w@%+=:,./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
  return `sotra follow bulk --file ${word}`;
}
