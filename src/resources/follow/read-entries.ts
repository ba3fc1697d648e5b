import { SotraError, usageError } from '../../errors.ts';
import { whyNotJson } from '../../model/not-json.ts';
import { type BulkEntry, writtenProblem } from './entry.ts';

/** Entries of one request: at most so many, and its body at most so large (the service takes 5 MB). */
const batchEntries = 1000;
const batchBytes = 4 * 1024 * 1024;

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
 * The entries of a JSON array or of NDJSON, in their order; empty lines and those that begin with # are passed over. Of NDJSON one chunk is
 * held at a time, of an array all of it. Errors: `usage` naming the source for text that is not UTF-8 or begins an array that is not JSON.
 */
export async function* readEntries(
  bytes: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<NumberedEntry | BadEntry> {
  let carried = '';
  let number = 0;
  let kind: 'array' | 'lines' | undefined;
  for await (const text of decoded(bytes, source)) {
    carried += text;
    kind ??= kindOf(carried);
    if (kind !== 'lines') continue;
    const lines = carried.split('\n');
    carried = lines.pop() ?? '';
    for (const line of lines) {
      number += 1;
      if (holdsEntry(line)) yield readLine(line, number);
    }
  }
  if (kind === 'array') yield* readArray(carried, source);
  else if (holdsEntry(carried)) yield readLine(carried, number + 1);
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

async function* decoded(bytes: AsyncIterable<Uint8Array>, source: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw new SotraError('usage', `${source}: not UTF-8 text`, { cause });
    }
  };
  for await (const chunk of bytes) yield decode(chunk);
  yield decode();
}

function kindOf(text: string): 'array' | 'lines' | undefined {
  const first = text.trimStart()[0];
  return first === undefined ? undefined : first === '[' ? 'array' : 'lines';
}

function* readArray(text: string, source: string): Generator<NumberedEntry | BadEntry> {
  for (const [place, value] of parseArray(text, source).entries())
    yield readValue(value, { unit: 'entry', number: place + 1 });
}

function parseArray(text: string, source: string): unknown[] {
  try {
    return JSON.parse(text) as unknown[];
  } catch (cause) {
    throw usageError(`${source}: begins like a JSON array and is not one: ${whyNotJson(cause)}`);
  }
}

function holdsEntry(line: string): boolean {
  return !/^\s*(#|$)/.test(line);
}

function readLine(line: string, number: number): NumberedEntry | BadEntry {
  const place: Place = { unit: 'line', number };
  try {
    return readValue(JSON.parse(line), place);
  } catch {
    return { ...place, problem: 'not a JSON object on one line' };
  }
}

function readValue(value: unknown, place: Place): NumberedEntry | BadEntry {
  const problem = writtenProblem(value);
  if (problem !== undefined) return { ...place, problem };
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes + 2 > batchBytes)
    return { ...place, problem: `larger than one request may be (${batchBytes / 1024 / 1024} MB): split its targets` };
  return { ...place, entry: value as BulkEntry, bytes };
}
