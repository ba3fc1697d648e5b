import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Result } from '../cli/command.ts';
import { isReference, type KnownNames } from '../cli/input.ts';
import type { Context } from '../context.ts';
import { orUndefined } from '../errors.ts';
import { readStateFile, replaceFile } from '../files/durable-file.ts';
import { makeFolder } from '../files/folder.ts';
import { onEachBatch } from '../model/batches.ts';
import { parseJson } from '../model/json.ts';
import { safeText } from '../model/safe-text.ts';

const maxKept = 1000;
const wallet = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

/** Of one service, from the last tables of it on a terminal. */
interface Recent {
  addresses: string[];
  /** Whom a name may mean: the wallets of each trader who bears it. */
  named: Record<string, string[][]>;
  /** The traders of the last leaderboard, in order. */
  ranks: string[];
}

/** Says on stderr which address a name or rank is taken for. */
export async function namesKnownTo(context: Context): Promise<KnownNames> {
  const { aliases = {} } = (await context.store()).read();
  const { named, ranks } = readRecent(await fileOf(context));
  const told = (text: string, address: string | undefined) => {
    if (address !== undefined) context.note(`${text} is ${address}.`);
    return address;
  };
  return {
    aliases,
    named: async (text) => {
      const key = await keyAddress(text, context);
      const traders = (Object.hasOwn(named, nameKey(text)) ? named[nameKey(text)] : undefined) ?? [];
      const others = traders.filter((wallets) => key === undefined || !wallets.includes(key));
      const found = [...(key === undefined ? [] : [key]), ...others.flatMap(([first]) => first ?? [])];
      if (found.length === 1) told(text, found[0]);
      return found;
    },
    ranked: (place) => told(`#${place}`, ranks[place - 1]),
    find: (part) => findAddresses(part, Object.values(aliases), context),
  };
}

async function keyAddress(name: string, context: Context): Promise<string | undefined> {
  const { keyFolder, listKeys } = await import('../keys/keystore.ts');
  const keys = listKeys(await keyFolder(context), () => undefined);
  return keys.find((key) => key.name === name)?.address || undefined;
}

/** Names that look alike are one: what is not seen and the case of letters tell nobody apart. */
function nameKey(name: string): string {
  return safeText(name).normalize('NFKC').trim().toLowerCase();
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
  const seen: SeenAddresses = { addresses: new Set(), traders: [], ranks: [] };
  const keep = async () => {
    if (seen.addresses.size === 0) return;
    try {
      const file = await fileOf(context);
      if (file === undefined) return;
      const before = readRecent(file);
      const text = JSON.stringify(withSeen(before, seen));
      if (text === JSON.stringify(before)) return;
      makeFolder(dirname(file));
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
  /** The first wallet is the one that a name stands for. */
  traders: { name: string; wallets: string[] }[];
  ranks: string[];
}

function collect(value: unknown, seen: SeenAddresses): void {
  const { addresses, traders } = seen;
  if (addresses.size >= maxKept) return;
  if (typeof value === 'string' && wallet.test(value)) addresses.add(value);
  if (typeof value !== 'object' || value === null) return;
  const { name, address, addresses: listed, traders: board } = value as Record<string, unknown>;
  const wallets = [Array.isArray(listed) ? listed : [], address]
    .flat()
    .filter((each): each is string => typeof each === 'string' && wallet.test(each));
  if (typeof name === 'string' && wallets.length > 0 && !isReference(name)) traders.push({ name, wallets });
  if (Array.isArray(board))
    seen.ranks = (board as (RankedTrader | null)[]).map((trader) => String(trader?.profile?.addresses?.[0] ?? ''));
  for (const part of Object.values(value)) collect(part, seen);
}

interface RankedTrader {
  profile?: { addresses?: readonly unknown[] };
}

/** A name that another trader bears too stands for neither. */
function withSeen(before: Recent, { addresses, traders, ranks }: SeenAddresses): Recent {
  const named = new Map(Object.entries(before.named));
  for (const { name, wallets } of traders) {
    const key = nameKey(name);
    const known = named.get(key) ?? [];
    const isSame = (other: readonly string[]) => other.some((each) => wallets.includes(each));
    const merged = [...new Set([...wallets, ...known.filter(isSame).flat()])];
    // The names seen last are kept.
    named.delete(key);
    named.set(key, [merged, ...known.filter((other) => !isSame(other))]);
  }
  return {
    addresses: [...new Set([...addresses, ...before.addresses])].slice(0, maxKept),
    named: Object.fromEntries([...named].slice(-maxKept)),
    // The ranks of another board are not those of this one.
    ranks: ranks.length > 0 ? ranks : before.ranks,
  };
}

/** A file for each service; none where no service is in use. */
async function fileOf(context: Context): Promise<string | undefined> {
  const service = await orUndefined(context.service(), 'no-service');
  if (service === undefined) return undefined;
  const name = createHash('sha256').update(service.baseUrl).digest('hex').slice(0, 24);
  return join(await context.dataDirectory(), 'recent-addresses', `${name}.json`);
}

function readRecent(file: string | undefined): Recent {
  try {
    const { addresses, named, ranks } = parseJson(readStateFile(file ?? '')) as Recent;
    const areWallets = (list: readonly string[]) => list.length > 0 && list.every((text) => wallet.test(text));
    return {
      addresses: addresses.filter((text) => wallet.test(text)),
      named: Object.fromEntries(Object.entries(named).filter(([, traders]) => traders.every(areWallets))),
      ranks: ranks.map((text) => (wallet.test(text) ? text : '')),
    };
  } catch {
    return { addresses: [], named: {}, ranks: [] };
  }
}
