import { isObject, tryParseJson } from '../api/json.ts';
import { safeText } from '../api/safe-text.ts';
import type { Context } from '../context.ts';
import { orUndefined, readMessage } from '../errors.ts';
import { type NumberedEntry, readCalls } from './read-calls.ts';
import { findLog } from './store.ts';

/** What an identifier may be typed as, and what it stands for. */
export interface KnownNames {
  aliases: Readonly<Record<string, string>>;
  /** Whether the command takes names and rows of the last board. */
  takesBoard: boolean;
  /** The address of a stored key. */
  findKey: (name: string) => Promise<string | undefined>;
  /** The addresses of the traders on the last board with this name. */
  findNamed: (name: string) => Promise<readonly string[]>;
  /** The address of a row of the last board, counted from 1. */
  findRow: (row: number) => Promise<string | undefined>;
  /** Told what a name or a row stands for. */
  tell: (typed: string, identifier: string) => void;
}

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
function recallAnswer({ response, _sotra }: NumberedEntry): unknown {
  const { text = '', _cut: cut } = response.content;
  if (response.status !== 200) return undefined;
  return cut === undefined ? tryParseJson(text) : _sotra.brief;
}

/** A place on a board: the name and the first wallet of a trader. */
interface BoardRow {
  name: string;
  address: string;
}

/** What may be typed for an address, in a command that takes names and rows of the last board or in another. */
export async function namesKnownTo(context: Context, takesBoard: boolean): Promise<KnownNames> {
  const { aliases = {} } = (await context.store()).read();
  let read: Promise<readonly BoardRow[]> | undefined;
  const board = () => {
    read ??= readBoard(context);
    return read;
  };
  return {
    aliases,
    takesBoard,
    findKey: (name) => findKeyAddress(name, context),
    findNamed: async (name) => {
      const rows = (await board()).filter((row) => nameKey(row.name) === nameKey(name));
      return [...new Set(rows.flatMap(({ address }) => (address === '' ? [] : [address])))];
    },
    findRow: async (row) => {
      await context.service();
      return (await board())[row - 1]?.address;
    },
    tell: (typed, identifier) => context.note(`${typed} is ${identifier}.`),
  };
}

async function findKeyAddress(name: string, context: Context): Promise<string | undefined> {
  const { keyFolder, listKeys } = await import('../keys/keystore.ts');
  const keys = listKeys(await keyFolder(context), () => undefined);
  return keys.find((key) => key.name === name)?.address || undefined;
}

/** Names that look alike are one: invisible characters and the case of letters tell nobody apart. */
function nameKey(name: string): string {
  return safeText(name).normalize('NFKC').trim().toLowerCase();
}

const wallet = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

/** The last board of the service in use; empty without a service, and if the log cannot be read, which is warned of. */
async function readBoard(context: Context): Promise<readonly BoardRow[]> {
  if ((await orUndefined(context.service(), 'no-service')) === undefined) return [];
  try {
    for await (const entry of recallCalls(context, { method: 'GET', path: /\/v2\/leaderboard(?:\/copytraded)?$/ })) {
      const answer = recallAnswer(entry);
      if (isObject(answer) && Array.isArray(answer['traders'])) return answer['traders'].map(readRow);
    }
  } catch (thrown) {
    // A name may be an alias or a key, which need no log.
    context.warn(`the history cannot be read: ${readMessage(thrown)}`);
  }
  return [];
}

function readRow(trader: { profile?: { name?: unknown; addresses?: readonly unknown[] } } | null): BoardRow {
  const { name, addresses } = trader?.profile ?? {};
  const address = String(addresses?.[0] ?? '');
  return { name: String(name ?? ''), address: wallet.test(address) ? address : '' };
}
