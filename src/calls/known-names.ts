import { safeText } from '../api/safe-text.ts';
import type { Context } from '../context.ts';
import { orUndefined, readMessage } from '../errors.ts';
import { lazy } from '../lib/lazy.ts';
import { type BoardRow, readBoard } from './board.ts';

/** Names that may be typed for an identifier, and their meanings. */
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
  /** Notes the address that a name or a row means. */
  tell: (typed: string, identifier: string) => void;
}

/** The names that may be typed for an address; `takesBoard`: also names and rows of the last board. */
export async function namesKnownTo(context: Context, takesBoard: boolean): Promise<KnownNames> {
  const { aliases = {} } = (await context.config.settings()).read();
  const board = lazy(() => readKnownBoard(context));
  return {
    aliases,
    takesBoard,
    findKey: (name) => findStoredAddress(name, context),
    findNamed: async (name) => {
      const rows = (await board()).filter((row) => nameKey(row.name) === nameKey(name));
      return [...new Set(rows.flatMap(({ address }) => (address === '' ? [] : [address])))];
    },
    findRow: async (row) => {
      await context.config.service();
      return (await board())[row - 1]?.address;
    },
    tell: (typed, identifier) => context.note(`${typed} is ${identifier}.`),
  };
}

async function findStoredAddress(name: string, context: Context): Promise<string | undefined> {
  const { keyFolder, listKeys } = await import('../keys/keystore.ts');
  const keys = listKeys(await keyFolder(context), () => undefined);
  return keys.find((key) => key.name === name)?.address || undefined;
}

/** Names that look alike are the same name: invisible characters and letter case do not count. */
function nameKey(name: string): string {
  return safeText(name).normalize('NFKC').trim().toLowerCase();
}

/** Empty without a service, and with a warning if the board cannot be read: a name may still be an alias or a key. */
async function readKnownBoard(context: Context): Promise<readonly BoardRow[]> {
  if ((await orUndefined(context.config.service(), 'no-service')) === undefined) return [];
  try {
    return await readBoard(context);
  } catch (thrown) {
    context.warn(`the last board cannot be read: ${readMessage(thrown)}`);
    return [];
  }
}
