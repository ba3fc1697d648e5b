import { constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, tryParseJson } from '../api/json.ts';
import { safeText } from '../api/safe-text.ts';
import type { Context } from '../context.ts';
import { orUndefined, readMessage } from '../errors.ts';
import type { Service } from '../lib/config/config.ts';
import { makeFolder, readStateFile, writeStateFile } from '../lib/files/durable-file.ts';
import { lazy } from '../lib/io.ts';
import { findHistory, isHistoryOff } from './log.ts';

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

/** A row of a board: the name of a trader and the first wallet, empty without one. */
export interface BoardRow {
  name: string;
  address: string;
}

/** Saves the traders of a board, so that `#3` and their names work in the next command. SOTRA_HISTORY=0 saves nothing. */
export async function saveBoard(answer: unknown, context: Context): Promise<void> {
  const traders = isObject(answer) ? answer['traders'] : undefined;
  if (!Array.isArray(traders) || isHistoryOff(context.io)) return;
  try {
    const service = await context.config.service();
    const folder = findHistory(context.io);
    makeFolder(folder);
    const board = { baseUrl: service.baseUrl, rows: traders.map(readTrader) };
    // Neither synced nor renamed: a board that is torn or lost is shown again.
    writeStateFile(join(folder, boardName(service)), JSON.stringify(board), constants.O_TRUNC);
  } catch {
    // The log of calls, in the same folder, has warned.
  }
}

/** The last board of the service in use; empty if there is none. Errors: those of the settings and the file system. */
export async function readBoard(context: Context): Promise<readonly BoardRow[]> {
  const service = await context.config.service();
  const file = join(findHistory(context.io), boardName(service));
  const board = existsSync(file) ? tryParseJson(readStateFile(file)) : undefined;
  if (!isObject(board) || board['baseUrl'] !== service.baseUrl || !Array.isArray(board['rows'])) return [];
  return board['rows'].map((row) => toRow(row?.name, row?.address));
}

/** One file for each context, and one for services that no context names. */
function boardName({ context, isElsewhere }: Service): string {
  return context === undefined || isElsewhere ? 'board.json' : `board-${encodeURIComponent(context)}.json`;
}

function readTrader(trader: { profile?: { name?: unknown; addresses?: readonly unknown[] } } | null): BoardRow {
  const { name, addresses } = trader?.profile ?? {};
  return toRow(name, addresses?.[0]);
}

const wallet = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

function toRow(name: unknown = '', address: unknown = ''): BoardRow {
  return { name: String(name), address: wallet.test(String(address)) ? String(address) : '' };
}
