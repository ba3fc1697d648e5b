import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { KnownNames } from '../cli/input.ts';
import type { Context } from '../context.ts';
import { readStateFile, replaceFile } from '../files/durable-file.ts';
import { onEachBatch } from '../http/batch.ts';
import { parseJson } from '../model/json.ts';

const maxKept = 1000;
const wallet = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

/** Says on stderr which address a name or rank is taken for. */
export async function namesKnownTo(context: Context): Promise<KnownNames> {
  const { aliases = {} } = (await context.store()).read();
  const { named } = readRecent(await fileOf(context));
  const seen = async (text: string) => {
    const shown = Object.hasOwn(named, text.toLowerCase()) ? named[text.toLowerCase()] : undefined;
    const found = (await keyAddress(text, context)) ?? shown;
    if (found !== undefined) context.note(`${text} is ${found}.`);
    return found;
  };
  return { aliases, seen, find: (part) => findAddresses(part, Object.values(aliases), context) };
}

/** The address of the stored key of this name; it comes before what a service calls anyone. */
async function keyAddress(name: string, context: Context): Promise<string | undefined> {
  const { keyFolder, listKeys } = await import('../keys/keystore.ts');
  const keys = listKeys(await keyFolder(context), () => undefined);
  return keys.find((key) => key.name === name)?.address || undefined;
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
  const { addresses: recent } = readRecent(await fileOf(context));
  const fits = (text: string) => text.toLowerCase().startsWith(start.toLowerCase()) && text.endsWith(end);
  const found = [...saved, ...recent].filter((text) => wallet.test(text) && fits(text));
  const { kind } = await context.service();
  if (kind === 'sandbox') found.push(...(await context.sandbox()).findAddresses(start, end));
  return [...new Set(found)];
}

/** The result, and a function that keeps its addresses once it is printed. Does nothing in a folder that cannot be written. */
export function rememberAddresses(result: Result, context: Context): { result: Result; keep: () => Promise<void> } {
  const seen: SeenAddresses = { addresses: new Set(), named: new Map() };
  const keep = async () => {
    if (seen.addresses.size === 0) return;
    try {
      const file = await fileOf(context);
      const before = readRecent(file);
      const addresses = [...new Set([...seen.addresses, ...before.addresses])].slice(0, maxKept);
      // The ranks of another board are not those of this one.
      const others = Object.entries(before.named).filter(([name]) => !seen.named.has('#1') || !name.startsWith('#'));
      const named = Object.fromEntries(
        [...seen.named, ...others.filter(([name]) => !seen.named.has(name))].slice(0, maxKept),
      );
      const text = JSON.stringify({ addresses, named });
      if (text === JSON.stringify(before)) return;
      mkdirSync(await context.dataDirectory(), { recursive: true, mode: 0o700 });
      replaceFile(file, text);
    } catch {
      // It only saves typing.
    }
  };
  if (result.kind === 'answer') collect(result.answer, seen);
  if (result.kind !== 'items') return { result, keep };
  return { result: { ...result, batches: onEachBatch(result.batches, (batch) => collect(batch, seen)) }, keep };
}

interface SeenAddresses {
  addresses: Set<string>;
  /** Addresses by name in lower case, and by rank (`#3`). */
  named: Map<string, string>;
}

function collect(value: unknown, seen: SeenAddresses): void {
  const { addresses, named } = seen;
  if (addresses.size >= maxKept) return;
  if (typeof value === 'string' && wallet.test(value)) addresses.add(value);
  if (typeof value !== 'object' || value === null) return;
  const { name, address, addresses: listed, traders } = value as Record<string, unknown>;
  // Reports of uploads hold how many there were.
  const first = Array.isArray(listed) ? listed[0] : address;
  if (typeof name === 'string' && typeof first === 'string' && wallet.test(first)) {
    const known = named.get(name.toLowerCase());
    // Whom a name that two have would stand for, nobody can know.
    named.set(name.toLowerCase(), known === undefined || known === first ? first : '');
  }
  if (Array.isArray(traders))
    for (const [index, trader] of (traders as (RankedTrader | null)[]).entries()) {
      const top = trader?.profile?.addresses?.[0];
      if (typeof top === 'string') named.set(`#${index + 1}`, top);
    }
  for (const part of Object.values(value)) collect(part, seen);
}

interface RankedTrader {
  profile?: { addresses?: readonly unknown[] };
}

async function fileOf(context: Context): Promise<string> {
  return join(await context.dataDirectory(), 'recent-addresses.json');
}

interface Recent {
  addresses: string[];
  named: Readonly<Record<string, string>>;
}

function readRecent(file: string): Recent {
  try {
    const { addresses, named = {} } = parseJson(readStateFile(file)) as Recent;
    const good = Object.entries(named).filter(([, address]) => wallet.test(address));
    return { addresses: addresses.filter((text) => wallet.test(text)), named: Object.fromEntries(good) };
  } catch {
    return { addresses: [], named: {} };
  }
}
