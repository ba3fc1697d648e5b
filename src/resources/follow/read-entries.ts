import { readItems } from '../../files/json-items.ts';
import { type FileBytes, type Line, maxLineBytes, openTextFile, readLines } from '../../files/text-file.ts';
import { tryParseJson } from '../../model/json.ts';
import { type BulkEntry, writtenProblem } from './entry.ts';

/** Entries of one request: at most so many, and its body at most so large (the service takes 5 MB). */
const batchEntries = 1000;
const batchBytes = 4 * 1024 * 1024;
/** An entry and its reversal are each a line of a file, which is read with this limit. */
const maxEntryBytes = maxLineBytes - 100;

/** Where an entry is: the line it is on, or its place in a JSON array. Both count from 1. */
interface Place {
  unit: 'line' | 'entry';
  number: number;
}

/** One entry of a file. */
export interface NumberedEntry extends Place {
  entry: BulkEntry;
  /** Its JSON in the request. */
  bytes: number;
}

/** A line that cannot be sent, and why. */
export interface BadEntry extends Place {
  problem: string;
}

/**
 * The entries of a JSON array or of NDJSON, in their order, in batches; empty lines and those that begin with # are skipped. Errors: `usage`
 * naming the source, for text that is not UTF-8, a line longer than 1 MB, and what begins an array that is not JSON.
 */
export async function* readEntries(source: FileBytes): AsyncGenerator<readonly (NumberedEntry | BadEntry)[]> {
  const file = await openTextFile(source);
  if (file.isArray)
    for await (const items of readItems(file))
      yield items.map(({ number, value }) => readValue(value, { unit: 'entry', number }));
  else for await (const lines of readLines(file)) yield lines.filter(({ text }) => !/^\s*#/.test(text)).map(readLine);
}

/** Entries in requests: consecutive, each within the limits. Throws what the source throws. */
export async function* inBatches(
  entries: AsyncIterable<NumberedEntry>,
): AsyncGenerator<readonly [NumberedEntry, ...NumberedEntry[]]> {
  let batch: NumberedEntry[] = [];
  let bytes = 2;
  for await (const one of entries) {
    const [first, ...rest] = batch;
    if (first !== undefined && (batch.length === batchEntries || bytes + one.bytes + 1 > batchBytes)) {
      yield [first, ...rest];
      [batch, bytes] = [[], 2];
    }
    batch.push(one);
    bytes += one.bytes + 1;
  }
  const [first, ...rest] = batch;
  if (first !== undefined) yield [first, ...rest];
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
