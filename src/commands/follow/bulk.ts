import { type BulkEntry, bulk as bulkEndpoint, writtenProblem } from '../../api/follow.ts';
import { tryParseJson } from '../../api/json.ts';
import type { Profile } from '../../api/profile-answers.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { SotraError, toSotraError, writeMessage } from '../../errors.ts';
import { openSource } from '../../lib/files/source.ts';
import {
  type FileBytes,
  type Line,
  maxLineBytes,
  openTextFile,
  readItems,
  readLines,
} from '../../lib/files/text-file.ts';
import { counted, formatCount } from '../../lib/output/format.ts';
import { showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/result.ts';
import { type BulkResult, bulk as view } from './view.ts';

interface BulkInput {
  file: string;
  fromLine: number;
}

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

/** What goes in one request. */
type Batch = readonly [NumberedEntry, ...NumberedEntry[]];

/**
 * Checks a file of entries, then sends it, request after request. Errors: `usage` if entries cannot be sent, which warnings and details list;
 * that of the first request that fails, `partial` if others succeeded before.
 */
export async function runBulk({ file, fromLine }: BulkInput, context: Context): Promise<Result> {
  const entries = await readGoodEntries(file, fromLine, context);
  const batches = splitBatches(entries);
  const [first] = batches;
  if (first === undefined) context.note('No entries: nothing was sent.');
  else if (context.options.preview) {
    const requests = batches.length === 1 ? '1 request' : `${formatCount(batches.length)} requests; this is the first`;
    context.note(`${counted(entries.length, 'entry')} would go in ${requests}.`);
    const request = await context.client.previewCall(bulkEndpoint, { entries: first.map(({ entry }) => entry) });
    return { kind: 'request', request };
  }
  const targetProfiles = await sendBatches(batches, file, context);
  const unfollows = entries.filter(({ entry }) => entry.action === 'unfollow').length;
  const answer: BulkResult = {
    entries: entries.length,
    follows: entries.length - unfollows,
    unfollows,
    requests: batches.length,
    targets: targetProfiles.length,
    targetProfiles,
  };
  return { kind: 'answer', answer, view };
}

/** The profiles that were followed or unfollowed, in the order of mention. */
async function sendBatches(batches: readonly Batch[], file: string, context: Context): Promise<Profile[]> {
  const progress = await showProgress(context, { silent: batches.length === 1 });
  const profiles = new Map<string, Profile>();
  const all = batches.flat().length;
  let sent = 0;
  try {
    for (const batch of batches) {
      const entries = batch.map(({ entry }) => entry);
      const { data } = await context.client
        .call(bulkEndpoint, { entries })
        .catch((thrown: unknown) => Promise.reject(explainFailure(thrown, batch, sent, file)));
      for (const profile of data.targetProfiles ?? []) if (!profiles.has(profile.id)) profiles.set(profile.id, profile);
      sent += batch.length;
      progress.step(`sent ${formatCount(sent)} of ${counted(all, 'entry')}`);
    }
    return [...profiles.values()];
  } finally {
    progress.stop();
  }
}

/** The error of a request with what is applied and how to go on. Following twice changes nothing, so its entries may be sent again. */
function explainFailure(thrown: unknown, [{ unit, number: from }]: Batch, sent: number, file: string): SotraError {
  const error = toSotraError(thrown);
  if (sent === 0) return error;
  const before = unit === 'entry' ? 'entries' : 'lines';
  return new SotraError(
    error.code === 'interrupted' ? 'interrupted' : 'partial',
    `${writeMessage(error)}; the ${before} before ${unit} ${from} are applied`,
    {
      hint: command`Continue with sotra follow bulk --file ${file} --from-line ${from}`,
      status: error.status,
      requestId: error.requestId,
      cause: thrown,
      details: { appliedThrough: from - 1 },
    },
  );
}

/** Limits of one request (the service takes 5 MB). */
const batchEntries = 1000;
const batchBytes = 4 * 1024 * 1024;
const maxEntryBytes = maxLineBytes - 100;

function splitBatches(entries: readonly NumberedEntry[]): Batch[] {
  const batches: [NumberedEntry, ...NumberedEntry[]][] = [];
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

/** Bad entries that an error lists, and those that are warned of. */
const [maxListed, maxWarned] = [1000, 10];

/** The entries from a place on. Errors: `usage` if some cannot be sent; warnings and details list them. */
async function readGoodEntries(
  file: string,
  fromLine: number,
  { io, warn }: Pick<Context, 'io' | 'warn'>,
): Promise<NumberedEntry[]> {
  const good: NumberedEntry[] = [];
  const bad: BadEntry[] = [];
  for await (const entries of readFollows(openSource(file, io, `--file ${file}`))) {
    if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted');
    for (const one of entries.filter(({ number }) => number >= fromLine)) {
      if ('entry' in one) good.push(one);
      else bad.push(one);
    }
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
export async function* readFollows(source: FileBytes): AsyncGenerator<readonly (NumberedEntry | BadEntry)[]> {
  const file = await openTextFile(source);
  if (file.isArray)
    yield (await readItems(file)).map((value, index) => readEntry(value, { unit: 'entry', number: index + 1 }));
  else
    for await (const lines of readLines(file)) yield lines.filter(({ text }) => !/^\s*#/.test(text)).map(readEntryLine);
}

function readEntryLine({ number, text }: Line): NumberedEntry | BadEntry {
  const place: Place = { unit: 'line', number };
  const value = tryParseJson(text);
  return value === undefined ? { ...place, problem: 'not a JSON object on one line' } : readEntry(value, place);
}

function readEntry(value: unknown, place: Place): NumberedEntry | BadEntry {
  const problem = writtenProblem(value);
  if (problem !== undefined) return { ...place, problem };
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > maxEntryBytes) return { ...place, problem: 'larger than 1 MB: split its targets' };
  return { ...place, entry: value as BulkEntry, bytes };
}
