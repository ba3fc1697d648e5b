import { isReference, type KnownNames } from '../cli/input.ts';
import type { Context } from '../context.ts';
import { orUndefined, readMessage } from '../errors.ts';
import { isObject, tryParseJson } from '../model/json.ts';
import { safeText } from '../model/safe-text.ts';
import { type NumberedEntry, readCalls } from './read-calls.ts';
import { findLog } from './store.ts';

/** The calls of commands that the log holds of the service in use, newest first; `method` and the end of the path choose. Errors: those of the settings. */
export async function* recallCalls(
  context: Context,
  { method, path }: { method: string; path: RegExp },
): AsyncGenerator<NumberedEntry> {
  const { baseUrl } = await context.service();
  for (const entry of readCalls(findLog(await context.dataDirectory()), context.warn)) {
    const { request, _sotra } = entry;
    // Pages ask for what nobody saw in a terminal: `#3` would be another trader.
    if (
      !_sotra.page &&
      _sotra.baseUrl === baseUrl &&
      request.method === method &&
      path.test(new URL(request.url).pathname)
    )
      yield entry;
  }
}

/** What was answered, or of a long answer the part that later commands ask for; `undefined` where nothing of use was. */
export function recallAnswer({ response, _sotra }: NumberedEntry): unknown {
  const { text = '', _cut: cut } = response.content;
  if (response.status !== 200) return undefined;
  return cut === undefined ? tryParseJson(text) : _sotra.brief;
}

const maxKept = 1000;
const wallet = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

/** What the last answers of a service named. */
interface Recent {
  addresses: Set<string>;
  /** Whom a name may mean: the wallets of each trader who bears it, the one that it stands for first. */
  named: Map<string, string[][]>;
  /** The traders of the last leaderboard, in order. */
  ranks: string[];
  tokens: SeenToken[];
}

/** Says on stderr which address a name or rank is taken for. */
export async function namesKnownTo(context: Context): Promise<KnownNames> {
  const { aliases = {} } = (await context.store()).read();
  const { addresses, named, ranks, tokens } = await readRecent(context);
  const sandbox = async () => {
    const service = await orUndefined(context.service(), 'no-service');
    return service?.kind === 'sandbox' ? await context.sandbox() : undefined;
  };
  const told = (text: string, address: string | undefined) => {
    if (address !== undefined) context.note(`${text} is ${address}.`);
    return address;
  };
  return {
    aliases,
    named: async (text) => {
      const key = await keyAddress(text, context);
      const traders = named.get(nameKey(text)) ?? [];
      const others = traders.filter((wallets) => key === undefined || !wallets.includes(key));
      const known = [...(key === undefined ? [] : [key]), ...others.flatMap(([first]) => first ?? [])];
      const found = known.length > 0 ? known : ((await sandbox())?.findTraders(nameKey(text)) ?? []);
      if (found.length === 1) told(text, found[0]);
      return found;
    },
    tokens: async (symbol, chain) => {
      const bears = (token: SeenToken) => token.chain === chain && token.symbol.toUpperCase() === symbol.toUpperCase();
      const seen = tokens.filter(bears).map(({ address }) => address);
      return [...new Set([...seen, ...((await sandbox())?.findTokens(symbol, chain) ?? [])])];
    },
    ranked: async (place) => {
      if (ranks.length === 0) await context.service();
      return told(`#${place}`, ranks[place - 1]);
    },
    find: (part) => findAddresses(part, [...Object.values(aliases), ...addresses], context),
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
 * Full addresses that a shortened one may stand for: saved ones, those of the last answers, and those of the built-in
 * sandbox where it is in use.
 */
async function findAddresses(
  { start, end }: { start: string; end: string },
  known: readonly string[],
  context: Context,
): Promise<string[]> {
  const fits = (text: string) => text.toLowerCase().startsWith(start.toLowerCase()) && text.endsWith(end);
  const found = known.filter((text) => wallet.test(text) && fits(text));
  const { kind } = await context.service();
  if (kind === 'sandbox') found.push(...(await context.sandbox()).findAddresses(start, end));
  return [...new Set(found)];
}

interface SeenToken {
  chain: string;
  symbol: string;
  address: string;
}

/** Names of a trader elsewhere, as metadata of a profile; shown as `twitter:name`. Source: interface document, section "Profile". */
const handleKey = /^(farcaster|lens|ens|twitter|debank|hl)(?:Username|Handle|Name)$/;

function collect(value: unknown, seen: Recent): void {
  const { addresses, named } = seen;
  if (addresses.size >= maxKept) return;
  if (typeof value === 'string' && wallet.test(value)) addresses.add(value);
  if (typeof value !== 'object' || value === null) return;
  const { name, address, addresses: listed, metadata, traders: board } = value as Record<string, unknown>;
  const { tokenChain: chain, tokenSymbol: symbol, tokenAddress } = value as Record<string, unknown>;
  if (typeof chain === 'string' && typeof symbol === 'string' && typeof tokenAddress === 'string')
    seen.tokens.push({ chain, symbol, address: tokenAddress });
  const wallets = [Array.isArray(listed) ? listed : [], address]
    .flat()
    .filter((each): each is string => typeof each === 'string' && wallet.test(each));
  const about = isObject(metadata) ? metadata : {};
  const handles = Object.entries(about).flatMap(([key, handle]) =>
    handle && handleKey.test(key) ? [handle, `${key.replace(handleKey, '$1')}:${handle}`] : [],
  );
  for (const each of [name, ...handles])
    if (typeof each === 'string' && wallets.length > 0 && !isReference(each)) addTrader(each, wallets, named);
  if (Array.isArray(board) && seen.ranks.length === 0)
    seen.ranks = (board as (RankedTrader | null)[])
      .map((trader) => String(trader?.profile?.addresses?.[0] ?? ''))
      .map((text) => (wallet.test(text) ? text : ''));
  for (const part of Object.values(value)) collect(part, seen);
}

interface RankedTrader {
  profile?: { addresses?: readonly unknown[] };
}

/** How many of the last answers are looked through. */
const maxAnswers = 100;

/** What the last answers of the service in use named; nothing where no service is in use, or where the log cannot be read, which is said. */
async function readRecent(context: Context): Promise<Recent> {
  const seen: Recent = { addresses: new Set(), named: new Map(), ranks: [], tokens: [] };
  if ((await orUndefined(context.service(), 'no-service')) === undefined) return seen;
  let left = maxAnswers;
  try {
    for await (const entry of recallCalls(context, { method: 'GET', path: /^/ })) {
      collect(recallAnswer(entry), seen);
      left -= 1;
      if (left === 0) break;
    }
  } catch (thrown) {
    // A name may be an alias or a key, which need no log.
    context.warn(`the history cannot be read: ${readMessage(thrown)}`);
  }
  return seen;
}

/** A name that another trader bears too stands for neither. */
function addTrader(name: string, wallets: readonly string[], named: Recent['named']): void {
  const key = nameKey(name);
  const known = named.get(key) ?? [];
  const isSame = (other: readonly string[]) => other.some((each) => wallets.includes(each));
  const merged = [...new Set([...known.filter(isSame).flat(), ...wallets])];
  named.set(key, [...known.filter((other) => !isSame(other)), merged]);
}
