import type { FileHandle } from 'node:fs/promises';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { type ErrorCode, SotraError, toSotraError, usageError } from '../../errors.ts';
import { readItems } from '../../files/json-items.ts';
import { openOutput, openTwice } from '../../files/source.ts';
import { type FileBytes, type Line, maxLineBytes, openTextFile, readLines } from '../../files/text-file.ts';
import { tryParseJson } from '../../model/json.ts';
import type { Profile } from '../../model/profile.ts';
import { command } from '../../model/shell.ts';
import { formatCount } from '../../output/format.ts';
import { showProgress } from '../../output/progress.ts';
import { type BulkEntry, bulk as bulkEndpoint, writtenProblem } from './endpoints.ts';
import { createUndoFile, type UndoFile, undoBytes, undoPath } from './undo.ts';
import { type BulkResult, bulk as view } from './view.ts';

interface BulkInput {
  file: string;
  fromLine: number;
  undoFile?: string | undefined;
  report?: string | undefined;
}

/** Checks a file of entries, then sends it. Errors: those of `planBulk` and `sendBulk`; `usage` for a file that does not exist. */
export async function runBulk({ file, fromLine, undoFile, report }: BulkInput, context: Context): Promise<Result> {
  const undoTo = await undoPath(undoFile, file, context);
  const content = await openTwice(file, context, `--file ${file}`);
  try {
    const source = { name: file, open: content.open, fromLine, signal: context.world.signal };
    const plan = await planBulk(source, context.warn);
    if (plan.entries === 0) {
      context.note('There are no entries: nothing was sent.');
      const answer: BulkResult = { ...emptyCounts, targets: 0, targetProfiles: [], undoFile: null };
      return { kind: 'answer', answer, view };
    }
    if (context.options.preview) return await preview(source, plan, context);
    const out = { undoTo, report: await openOutput('--report', report, [file]) };
    const answer = await sendBulk(source, plan, out, context);
    return { kind: 'answer', answer, view, notes: answer.targetProfiles === null ? [tooManyProfiles] : [] };
  } finally {
    content.remove();
  }
}

const tooManyProfiles = 'The profiles are too many to be named; targetProfiles is null.';
const emptyCounts = { entries: 0, follows: 0, unfollows: 0, requests: 0 };

async function preview(source: BulkSource, plan: BulkPlan, context: Context): Promise<Result> {
  const requests =
    plan.requests === 1 ? '1 request' : `${formatCount(plan.requests)} requests, of which this is the first`;
  context.note(`${formatCount(plan.entries)} entries would go in ${requests}.`);
  for await (const batch of inBatches(goodEntries(source, changedMeanwhile(source)))) {
    await context.call(bulkEndpoint, { entries: batch.map(({ entry }) => entry) });
    break;
  }
  return { kind: 'none' };
}

/** Where entries come from; read twice. */
interface BulkSource {
  /** As the user named it: a file, or `-`. */
  name: string;
  open: () => FileBytes;
  signal: AbortSignal;
  /** Entries before this line (or place in an array) are skipped. */
  fromLine: number;
}

/** Profiles that the result names; more are only counted, to bound the memory. */
const maxProfiles = 5000;
/** Bad lines that an error lists, and those that are warned of. */
const [maxListed, maxWarned] = [1000, 10];

type BulkPlan = typeof emptyCounts & { undoBytes: number };

/** Checks and counts the entries of a source. Errors: `usage` where some cannot be sent; warnings and details list them. */
async function planBulk(source: BulkSource, warn: (text: string) => void): Promise<BulkPlan> {
  const plan: BulkPlan = { ...emptyCounts, undoBytes: 0 };
  const bad: BadEntry[] = [];
  let badCount = 0;
  const onBad = (one: BadEntry) => {
    badCount += 1;
    if (badCount <= maxWarned) warn(`${one.unit} ${one.number}: ${one.problem}`);
    if (badCount <= maxListed) bad.push(one);
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
    `${nameSource(source)} ${first?.unit} ${first?.number}: ${first?.problem}${others}; nothing was sent`,
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
 * Sends request after request, each after its reversal is in the undo file. Errors: that of the first that fails, `partial` where others
 * succeeded before.
 */
async function sendBulk(
  source: BulkSource,
  plan: BulkPlan,
  { undoTo, report }: { undoTo: string; report: FileHandle | undefined },
  context: Context,
): Promise<BulkResult> {
  const progress = await showProgress(context, { silent: plan.requests === 1 });
  let lastStep = -1;
  const show = (sent: number) => {
    const step = progress.live ? sent : Math.floor((sent * 10) / plan.entries);
    if (step !== lastStep) progress.step(`sent ${formatCount(sent)} of ${formatCount(plan.entries)} entries`);
    lastStep = step;
  };
  try {
    const undo = await createUndoFile(undoTo, plan.undoBytes);
    return await sendBatches(source, plan, undo, { context, show, report });
  } finally {
    progress.stop();
  }
}

async function sendBatches(
  source: BulkSource,
  plan: BulkPlan,
  undo: UndoFile,
  { context, show, report }: { context: Context; show: (sent: number) => void; report: FileHandle | undefined },
): Promise<BulkResult> {
  const profiles = new Map<string, Profile | null>();
  let [entries, requests, applied] = [0, 0, 0];
  const requestIds: (string | null)[] = [];
  let sending: Batch | undefined;
  try {
    for await (const batch of inBatches(goodEntries(source, changedMeanwhile(source)))) {
      if (context.world.signal.aborted) throw new SotraError('interrupted', 'interrupted');
      sending = batch;
      const body = batch.map(({ entry }) => entry);
      await undo.prepend(body);
      const { data, requestId = null } = await context.call(bulkEndpoint, { entries: body });
      requestIds.push(requestId);
      for (const profile of data.targetProfiles ?? [])
        if (!profiles.has(profile.id)) profiles.set(profile.id, profiles.size < maxProfiles ? profile : null);
      entries += batch.length;
      requests += 1;
      applied = batch.at(-1)?.number ?? applied;
      sending = undefined;
      show(entries);
    }
  } catch (thrown) {
    await writeReport(report, source, requestIds, sending && toSotraError(thrown));
    throw await failure(thrown, { sending, applied, source, undo });
  }
  await writeReport(report, source, requestIds, undefined);
  const undoFile = await undo.finish();
  const named = [...profiles.values()].flatMap((profile) => (profile === null ? [] : [profile]));
  const { follows, unfollows } = plan;
  const targetProfiles = named.length === profiles.size ? named : null;
  return { entries, follows, unfollows, requests, targets: profiles.size, targetProfiles, undoFile };
}

/** What became of each entry, one JSON object a line; `failed` ended the request after those that were applied. */
async function writeReport(
  report: FileHandle | undefined,
  source: BulkSource,
  requestIds: readonly (string | null)[],
  failed: SotraError | undefined,
): Promise<void> {
  if (report === undefined) return;
  const untold = failed !== undefined && uncertainCodes.includes(failed.code) ? 'unknown' : 'failed';
  let request = 0;
  // Also after an interruption.
  const whole = { ...source, signal: new AbortController().signal };
  for await (const batch of inBatches(goodEntries(whole, () => undefined))) {
    const error = request === requestIds.length ? failed : undefined;
    const status = request < requestIds.length ? 'applied' : error === undefined ? 'not-sent' : untold;
    const requestId = requestIds[request] ?? error?.requestId ?? null;
    request += 1;
    const fate = { request, status, requestId, ...(error && { error: error.code }) };
    const lines = batch.map(({ number, entry }) => `${JSON.stringify({ line: number, ...entry, ...fate })}\n`);
    await report.appendFile(lines.join(''));
  }
  await report.close();
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

function nameSource({ name }: BulkSource): string {
  return name === '-' ? 'stdin' : name;
}

function changedMeanwhile(source: BulkSource): (bad: BadEntry) => never {
  return ({ unit, number }) => {
    throw usageError(`${nameSource(source)} ${unit} ${number}: changed while it was being sent`);
  };
}

/** Failures after which the service may have applied the request. */
const uncertainCodes: readonly ErrorCode[] = [
  'network',
  'timeout',
  'server-error',
  'bad-answer',
  'contract',
  'interrupted',
];

type Batch = readonly [NumberedEntry, ...NumberedEntry[]];

interface Failure {
  /** The request that failed; `undefined` where it was the reading. */
  sending: Batch | undefined;
  /** Number of the last entry that is surely applied; 0 for none. */
  applied: number;
  source: BulkSource;
  undo: UndoFile;
}

async function failure(thrown: unknown, { sending, applied, source, undo }: Failure): Promise<SotraError> {
  const error = toSotraError(thrown);
  const mayBeApplied = sending !== undefined && uncertainCodes.includes(error.code);
  if (sending !== undefined && !mayBeApplied) undo.withdraw();
  const undoFile = await undo.finish();
  const from = sending?.[0].number ?? Math.max(applied + 1, source.fromLine);
  const to = sending?.at(-1)?.number ?? from;
  const unit = sending?.[0].unit ?? 'line';
  const units = unit === 'entry' ? 'entries' : 'lines';
  const before = applied === 0 ? '' : `; ${units} ${source.fromLine} to ${applied} are applied`;
  const untouched = applied === 0 ? '; nothing is applied' : `; nothing from ${unit} ${from} on is applied`;
  const after = mayBeApplied ? `; ${units} ${from} to ${to} may or may not be applied` : untouched;
  const proceed = `Continue with ${bulkCommand(source.name)} --from-line ${from}`;
  return new SotraError(
    applied === 0 || error.code === 'interrupted' ? error.code : 'partial',
    error.message + before + after,
    {
      hint: undoFile === null ? error.hint : `${proceed}, or undo what was sent with ${bulkCommand(undoFile)}`,
      status: error.status,
      requestId: error.requestId,
      cause: thrown,
      details: { appliedThrough: applied, failedFrom: from, failedTo: to, mayBeApplied, undoFile },
    },
  );
}

function bulkCommand(file: string): string {
  return command`sotra follow bulk --file ${file}`;
}

/** Limits of one request (the service takes 5 MB). */
const batchEntries = 1000;
const batchBytes = 4 * 1024 * 1024;
const maxEntryBytes = maxLineBytes - 100;

/** The line of an entry, or its place in a JSON array, from 1. */
interface Place {
  unit: 'line' | 'entry';
  number: number;
}

interface NumberedEntry extends Place {
  entry: BulkEntry;
  bytes: number;
}

interface BadEntry extends Place {
  problem: string;
}

/** The entries of a JSON array or of NDJSON without its comments, in batches. Errors: those of `readItems` and `readLines`. */
export async function* readEntries(source: FileBytes): AsyncGenerator<readonly (NumberedEntry | BadEntry)[]> {
  const file = await openTextFile(source);
  if (file.isArray)
    for await (const items of readItems(file))
      yield items.map(({ number, value }) => readValue(value, { unit: 'entry', number }));
  else for await (const lines of readLines(file)) yield lines.filter(({ text }) => !/^\s*#/.test(text)).map(readLine);
}

async function* inBatches(entries: AsyncIterable<NumberedEntry>): AsyncGenerator<Batch> {
  let batch: [NumberedEntry, ...NumberedEntry[]] | undefined;
  let bytes = 0;
  for await (const one of entries) {
    if (batch !== undefined && batch.length < batchEntries && bytes + one.bytes + 1 <= batchBytes) batch.push(one);
    else {
      if (batch !== undefined) yield batch;
      [batch, bytes] = [[one], 2];
    }
    bytes += one.bytes + 1;
  }
  if (batch !== undefined) yield batch;
}

function readLine({ number, text }: Line): NumberedEntry | BadEntry {
  const place: Place = { unit: 'line', number };
  const value = tryParseJson(text);
  return value === undefined ? { ...place, problem: 'not a JSON object on one line' } : readValue(value, place);
}

function readValue(value: unknown, place: Place): NumberedEntry | BadEntry {
  const problem = writtenProblem(value);
  if (problem !== undefined) return { ...place, problem };
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > maxEntryBytes) return { ...place, problem: 'larger than 1 MB: split its targets' };
  return { ...place, entry: value as BulkEntry, bytes };
}
