import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { KnownNames } from '../cli/input.ts';
import type { Context } from '../context.ts';
import { readStateFile, replaceFile } from '../files/durable-file.ts';
import { parseJson } from '../model/json.ts';

const maxKept = 1000;
const wallet = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

export async function namesKnownTo(context: Context): Promise<KnownNames> {
  const { aliases = {} } = (await context.store()).read();
  return { aliases, find: (part) => findAddresses(part, Object.values(aliases), context) };
}

/**
 * Full addresses that a shortened one may stand for: saved ones, those of the last tables on a terminal, and those of the built-in
 * sandbox where it is in use.
 */
async function findAddresses(
  { start, end }: { start: string; end: string },
  saved: readonly string[],
  context: Context,
): Promise<string[]> {
  const recent = readRecent(await fileOf(context));
  const fits = (text: string) => text.toLowerCase().startsWith(start.toLowerCase()) && text.endsWith(end);
  const found = [...saved, ...recent].filter((text) => wallet.test(text) && fits(text));
  const { kind } = await context.service();
  if (kind === 'sandbox') found.push(...(await context.sandbox()).findAddresses(start, end));
  return [...new Set(found)];
}

/** The result, and a function that keeps its addresses once it is printed. Does nothing in a folder that cannot be written. */
export function rememberAddresses(result: Result, context: Context): { result: Result; keep: () => Promise<void> } {
  const seen = new Set<string>();
  const keep = async () => {
    if (seen.size === 0) return;
    try {
      const file = await fileOf(context);
      const before = readRecent(file);
      const addresses = [...new Set([...seen, ...before])].slice(0, maxKept);
      if (addresses.every((address, index) => address === before[index])) return;
      mkdirSync(await context.dataDirectory(), { recursive: true, mode: 0o700 });
      replaceFile(file, JSON.stringify({ addresses }));
    } catch {
      // It only saves typing.
    }
  };
  if (result.kind === 'answer') collect(result.answer, seen);
  if (result.kind !== 'items') return { result, keep };
  return { result: { ...result, batches: collecting(result.batches, seen) }, keep };
}

async function* collecting(
  batches: AsyncIterable<readonly unknown[]>,
  seen: Set<string>,
): AsyncGenerator<readonly unknown[]> {
  for await (const batch of batches) {
    collect(batch, seen);
    yield batch;
  }
}

function collect(value: unknown, seen: Set<string>): void {
  if (seen.size >= maxKept) return;
  if (typeof value === 'string' && wallet.test(value)) seen.add(value);
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) collect(part, seen);
}

async function fileOf(context: Context): Promise<string> {
  return join(await context.dataDirectory(), 'recent-addresses.json');
}

function readRecent(file: string): string[] {
  try {
    const { addresses } = parseJson(readStateFile(file)) as { addresses: string[] };
    return addresses.filter((text) => wallet.test(text));
  } catch {
    return [];
  }
}
