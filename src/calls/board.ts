import { constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, tryParseJson } from '../api/json.ts';
import type { Context } from '../context.ts';
import type { Service } from '../lib/config/settings.ts';
import { makeFolder, readStateFile, writeStateFile } from '../lib/files/durable-file.ts';
import { findHistory, isHistoryOff } from './log.ts';

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
    const board = { baseUrl: service.baseUrl, rows: traders.map(readRow) };
    // Neither synced nor renamed: a board that is torn or lost is shown again.
    writeStateFile(join(folder, nameFile(service)), JSON.stringify(board), constants.O_TRUNC);
  } catch {
    // The log of calls, in the same folder, has warned.
  }
}

/** The last board of the service in use; empty if there is none. Errors: those of the settings and the file system. */
export async function readBoard(context: Context): Promise<readonly BoardRow[]> {
  const service = await context.config.service();
  const file = join(findHistory(context.io), nameFile(service));
  const board = existsSync(file) ? tryParseJson(readStateFile(file)) : undefined;
  if (!isObject(board) || board['baseUrl'] !== service.baseUrl || !Array.isArray(board['rows'])) return [];
  return board['rows'].map((row) => toRow(row?.name, row?.address));
}

/** One file for each context, and one for services that no context names. */
function nameFile({ context, isElsewhere }: Service): string {
  return context === undefined || isElsewhere ? 'board.json' : `board-${encodeURIComponent(context)}.json`;
}

function readRow(trader: { profile?: { name?: unknown; addresses?: readonly unknown[] } } | null): BoardRow {
  const { name, addresses } = trader?.profile ?? {};
  return toRow(name, addresses?.[0]);
}

const wallet = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

function toRow(name: unknown = '', address: unknown = ''): BoardRow {
  return { name: String(name), address: wallet.test(String(address)) ? String(address) : '' };
}
