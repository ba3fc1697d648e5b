import { existsSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Profile } from '../../api/answers.ts';
import { type BulkEntry, bulk as endpoint, reverseEntry, writtenProblem } from '../../api/follow.ts';
import { tryParseJson } from '../../api/json.ts';
import { flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, toSotraError, usageError, writeMessage } from '../../errors.ts';
import { dataDirectory } from '../../lib/config/config.ts';
import { makeFolder, replaceFile } from '../../lib/files/durable-file.ts';
import { openOutput, openSource } from '../../lib/files/source.ts';
import { type FileBytes, maxLineBytes, openTextFile, readItems, readLines } from '../../lib/files/text-file.ts';
import { confirmReplace } from '../../lib/output/confirm.ts';
import { counted, formatCount } from '../../lib/output/format.ts';
import { showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/view.ts';

interface BulkInput {
  file: string;
  fromLine: number;
  undoFile?: string | undefined;
  report?: string | undefined;
}

/** What `follow bulk --json` prints. */
export interface BulkResult {
  entries: number;
  follows: number;
  unfollows: number;
  requests: number;
  /** Different profiles that were followed or unfollowed. */
  targets: number;
  /** These profiles, in the order of mention; `null` if there are too many to name. */
  targetProfiles: Profile[] | null;
  /** `null` if nothing was sent. */
  undoFile: string | null;
}

/** The line of an entry, or its place in a JSON array, from 1. */
interface EntryLocation {
  unit: 'line' | 'entry';
  number: number;
}

type GoodEntry = EntryLocation & { entry: BulkEntry; bytes: number };
type BadEntry = EntryLocation & { problem: string };

/** What goes in one request. */
type Batch = readonly GoodEntry[];

/** Profiles that the result names; more are only counted. */
const maxProfiles = 5000;

/**
 * Checks a file of entries, writes the file that undoes them and sends them, request after request. Errors: `usage` if entries cannot be
 * sent (warnings and details list them); the error of the first failed request, or `partial` if others succeeded before it.
 */
export async function runBulk({ file, fromLine, undoFile, report }: BulkInput, context: Context): Promise<Result> {
  const undoPath = chooseUndoPath(undoFile, file, context);
  if (report !== undefined && resolve(report) === resolve(undoPath))
    throw usageError(`--report and --undo-file are the same file: ${report}`, 'Name two files.');
  const entries = await readGoodEntries(file, fromLine, context);
  const batches = splitBatches(entries);
  const [first] = batches;
  const unfollows = entries.filter(({ entry }) => entry.action === 'unfollow').length;
  const counts = { entries: entries.length, follows: entries.length - unfollows, unfollows, requests: batches.length };
  if (first === undefined) {
    context.note('No entries: nothing was sent.');
    const answer: BulkResult = { ...counts, targets: 0, targetProfiles: [], undoFile: null };
    return { kind: 'answer', answer };
  }
  if (context.options.preview) {
    const requests = batches.length === 1 ? '1 request' : `${formatCount(batches.length)} requests; this is the first`;
    context.note(`${counted(entries.length, 'entry')} would go in ${requests}.`);
    const request = await context.client.previewCall(endpoint, { entries: first.map(({ entry }) => entry) });
    return { kind: 'request', request };
  }
  if (report !== undefined) await confirmReplace('--report', report, context);
  const reportFile = await openOutput('--report', report, [file]);
  writeUndoFile(undoPath, batches);
  const { profiles, requestIds, failed } = await sendBatches(batches, context);
  await writeReport(reportFile, batches, requestIds, failed);
  if (failed !== undefined) throw explainFailure(failed, { file, batches, sent: requestIds.length, undoPath });
  const isNamed = profiles.size <= maxProfiles;
  const targetProfiles = isNamed ? [...profiles.values()] : null;
  const answer: BulkResult = { ...counts, targets: profiles.size, targetProfiles, undoFile: undoPath };
  const notes = isNamed ? [] : ['Too many profiles to list: targetProfiles is null.'];
  return { kind: 'answer', answer, notes };
}

interface SentBatches {
  /** The profiles that were followed or unfollowed, by id, in the order of mention. */
  profiles: Map<string, Profile>;
  /** Of each request that succeeded. */
  requestIds: (string | null)[];
  /** The error of the request after those. */
  failed?: SotraError;
}

async function sendBatches(batches: readonly Batch[], context: Context): Promise<SentBatches> {
  const progress = await showProgress(context, { silent: batches.length === 1 });
  const done: SentBatches = { profiles: new Map(), requestIds: [] };
  const total = batches.flat().length;
  let sent = 0;
  try {
    for (const batch of batches) {
      if (context.io.signal.aborted) throw new SotraError('interrupted', 'interrupted', { outcome: 'unsent' });
      const entries = batch.map(({ entry }) => entry);
      const { data, requestId = null } = await context.client.call(endpoint, { entries });
      done.requestIds.push(requestId);
      for (const profile of data.targetProfiles ?? [])
        if (!done.profiles.has(profile.id)) done.profiles.set(profile.id, profile);
      sent += batch.length;
      if (progress.live || sent === total) progress.step(`sent ${formatCount(sent)} of ${counted(total, 'entry')}`);
    }
    return done;
  } catch (thrown) {
    return { ...done, failed: toSotraError(thrown) };
  } finally {
    progress.stop();
  }
}

/** Whether the service may have applied the request that failed; of `contract` it answered that it did. */
function isUncertain({ code, outcome }: SotraError): boolean {
  return outcome === 'unknown' || code === 'contract';
}

/** The outcome of each entry, one JSON object a line; `failed` is the error of the request after those that succeeded. */
async function writeReport(
  report: FileHandle | undefined,
  batches: readonly Batch[],
  requestIds: readonly (string | null)[],
  failed: SotraError | undefined,
): Promise<void> {
  if (report === undefined) return;
  const failure = failed && {
    status: isUncertain(failed) ? 'unknown' : 'failed',
    requestId: failed.requestId ?? null,
    error: failed.code,
  };
  for (const [index, batch] of batches.entries()) {
    const unsent = index === requestIds.length ? failure : { status: 'not-sent', requestId: null };
    const outcome = index < requestIds.length ? { status: 'applied', requestId: requestIds[index] } : unsent;
    const lines = batch.map(
      ({ number, entry }) => `${JSON.stringify({ line: number, ...entry, request: index + 1, ...outcome })}\n`,
    );
    await report.appendFile(lines.join(''));
  }
  await report.close();
}

interface FailedUpload {
  file: string;
  batches: readonly Batch[];
  /** How many of them succeeded. */
  sent: number;
  undoPath: string;
}

/** The error, with the entries that are applied and how to continue or undo. The undo file keeps what may be applied. */
function explainFailure(error: SotraError, { file, batches, sent, undoPath }: FailedUpload): SotraError {
  const mayBeApplied = isUncertain(error);
  const applied = batches.slice(0, sent + Number(mayBeApplied));
  try {
    writeUndoFile(undoPath, applied);
  } catch {
    // It stays whole, and also reverses what was not applied.
  }
  const undoFile = applied.length > 0 ? undoPath : null;
  const [start] = batches[0] ?? [];
  const failed = batches[sent] ?? [];
  const [from, to] = [failed[0]?.number, failed.at(-1)?.number];
  const appliedThrough = batches[sent - 1]?.at(-1)?.number ?? 0;
  const [unit, units] = start?.unit === 'entry' ? ['entry', 'entries'] : ['line', 'lines'];
  const before = sent === 0 ? '' : `; ${units} ${start?.number} to ${appliedThrough} are applied`;
  const untouched = sent === 0 ? '; nothing is applied' : `; ${unit} ${from} and later are not applied`;
  const after = mayBeApplied ? `; ${units} ${from} to ${to} may or may not be applied` : untouched;
  const bulkLine = (name: string) => `sotra follow bulk ${shellLine(flagWords('--file', name))}`;
  const proceed = `Continue with ${bulkLine(file)} --from-line ${from}`;
  const code = sent === 0 || error.code === 'interrupted' ? error.code : 'partial';
  return new SotraError(code, writeMessage(error) + before + after, {
    hint: undoFile === null ? error.hint : `${proceed}, or undo what was sent with ${bulkLine(undoFile)}`,
    status: error.status,
    requestId: error.requestId,
    cause: error,
    details: { appliedThrough, failedFrom: from, failedTo: to, mayBeApplied, undoFile },
  });
}

/** Limits of one request (the service takes 5 MB). */
const batchEntries = 1000;
const batchBytes = 4 * 1024 * 1024;
const maxEntryBytes = maxLineBytes - 100;

function splitBatches(entries: readonly GoodEntry[]): Batch[] {
  const batches: GoodEntry[][] = [];
  let bytes = 0;
  for (const one of entries) {
    const last = batches.at(-1);
    bytes += one.bytes + 1;
    if (last !== undefined && last.length < batchEntries && bytes <= batchBytes) last.push(one);
    else {
      batches.push([one]);
      bytes = one.bytes + 3;
    }
  }
  return batches;
}

/** How many bad entries an error lists, and how many get a warning. */
const [maxListed, maxWarned] = [1000, 10];

/** The entries from a place on. Errors: `usage` if some cannot be sent; warnings and details list them. */
async function readGoodEntries(
  file: string,
  fromLine: number,
  { io, warn }: Pick<Context, 'io' | 'warn'>,
): Promise<GoodEntry[]> {
  const good: GoodEntry[] = [];
  const bad: BadEntry[] = [];
  for await (const one of readFollows(openSource(file, io, `--file ${file}`))) {
    if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted');
    if (one.number < fromLine) continue;
    if ('entry' in one) good.push(one);
    else bad.push(one);
  }
  const [first] = bad;
  if (first === undefined) return good;
  for (const { unit, number, problem } of bad.slice(0, maxWarned)) warn(`${unit} ${number}: ${problem}`);
  const others = bad.length === 1 ? '' : ` (and ${bad.length - 1} more)`;
  const where = `${file === '-' ? 'stdin' : file} ${first.unit} ${first.number}`;
  const rejected = bad.slice(0, maxListed).map(({ number, problem }) => ({ line: number, reason: problem }));
  throw new SotraError('usage', `${where}: ${first.problem}${others}; nothing was sent`, {
    hint: 'Correct the file and run the command again.',
    details: { rejectedCount: bad.length, rejected },
  });
}

/** The entries of a JSON array or of NDJSON without its comments. Errors: those of `readItems` and `readLines`. */
export async function* readFollows(source: FileBytes): AsyncGenerator<GoodEntry | BadEntry> {
  const file = await openTextFile(source);
  if (file.isArray) {
    for (const [index, value] of (await readItems(file)).entries())
      yield readEntry(value, { unit: 'entry', number: index + 1 });
    return;
  }
  for await (const lines of readLines(file))
    for (const { number, text } of lines) {
      if (/^\s*#/.test(text)) continue;
      const value = tryParseJson(text);
      const location: EntryLocation = { unit: 'line', number };
      yield value === undefined
        ? { ...location, problem: 'not a JSON object on one line' }
        : readEntry(value, location);
    }
}

function readEntry(value: unknown, location: EntryLocation): GoodEntry | BadEntry {
  const problem = writtenProblem(value);
  if (problem !== undefined) return { ...location, problem };
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > maxEntryBytes) return { ...location, problem: 'larger than 1 MB: split its targets' };
  return { ...location, entry: value as BulkEntry, bytes };
}

/** Where the undo file goes: the path asked for, or a new name in the data directory. Errors: `usage` for a path that exists. */
function chooseUndoPath(asked: string | undefined, file: string, { io }: Context): string {
  if (asked !== undefined && existsSync(asked))
    throw usageError(`--undo-file ${asked}: already exists`, 'Choose another name, or move it.');
  if (asked !== undefined) return asked;
  const stem = file === '-' ? 'stdin' : basename(file).replace(/\.(nd)?json$/i, '');
  const at = new Date(io.now()).toISOString().replaceAll(/[-:.]/g, '');
  return join(dataDirectory(io), 'undo', `${stem}-${at}-${io.pid}.ndjson`);
}

/** Writes the opposite of each entry, the last first; without entries the file is removed. Errors: `local-file`. */
function writeUndoFile(path: string, batches: readonly Batch[]): void {
  const reversals = batches.flat().map(({ entry }) => `${JSON.stringify(reverseEntry(entry))}\n`);
  try {
    makeFolder(dirname(path));
    if (reversals.length === 0) rmSync(path, { force: true });
    else replaceFile(path, reversals.reverse().join(''));
  } catch (cause) {
    throw new SotraError('local-file', `cannot write the undo file ${path}: ${readMessage(cause)}`, {
      hint: 'Choose another place with --undo-file.',
      cause,
    });
  }
}
