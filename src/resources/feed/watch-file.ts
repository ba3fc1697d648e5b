import { createHash } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Context } from '../../context.ts';
import { messageOf, SotraError } from '../../errors.ts';
import { readStateFile, replaceFile } from '../../files/durable-file.ts';
import { takeLock } from '../../files/lock.ts';
import { checkedLine, readCheckedLine } from '../../files/log-file.ts';

/** Where a watch is. Everything before `sinceSec` was shown; after it, the cards in `seen`. */
export interface WatchPlace {
  /** The service's cursor, if it gives one. */
  cursor: string | null;
  /** Unix seconds; `null` until a card was seen. */
  sinceSec: number | null;
  /** What was shown since then, as `seenKey` writes it, with the second of its latest trade. */
  seen: Record<string, number>;
}

interface Stored extends WatchPlace {
  version: 1;
  command: string;
  service: string;
  input: Record<string, unknown>;
}

export interface WatchFile {
  path: string;
  /** Gives back the release. Errors: `locked` naming the process that watches, `local-file`. */
  lock: () => () => void;
  /** Renames a damaged file and gives its new name. Errors: `local-file`. */
  setAside: () => string;
  /** `damaged` says why it cannot be understood. Errors: `local-file` when it may not be read or is of a newer sotra. */
  read: () => WatchPlace | { damaged: string } | undefined;
  /** Replaces the file as a whole. Errors: `local-file`. */
  write: (place: WatchPlace) => void;
}

const version = 1;

/** The file with the place of a watch: one for each service, key, command and set of filters. */
export async function watchFile(
  context: Context,
  command: string,
  input: Readonly<Record<string, unknown>>,
): Promise<WatchFile> {
  const { baseUrl, apiKey } = await context.service();
  const filters = Object.fromEntries(
    Object.entries(input)
      .filter(([key, value]) => key !== 'newerThan' && value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const name = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey, command, filters]))
    .digest('hex')
    .slice(0, 16);
  const path = join(await context.dataDirectory(), 'watch', `${command.replace('.', '-')}-${name}.json`);
  return {
    path,
    lock: () =>
      changing(path, () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        return takeLock(`${path}.lock`, `the watch file ${path}`, context.world);
      }),
    read: () => readPlace(path),
    setAside: () =>
      changing(path, () => {
        const aside = `${path.replace(/\.json$/, '')}.damaged-${context.world.now()}`;
        renameSync(path, aside);
        return aside;
      }),
    write: (place) => {
      const stored: Stored = { version, command, service: baseUrl, input: filters, ...place };
      changing(path, () => replaceFile(path, `${checkedLine(stored)}\n`));
    },
  };
}

function changing<T>(path: string, change: () => T): T {
  try {
    return change();
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    throw new SotraError('local-file', `cannot write the watch file ${path}: ${messageOf(cause)}`, {
      hint: 'Free some disk space, or choose another folder with SOTRA_DATA_DIR.',
      cause,
    });
  }
}

function readPlace(path: string): WatchPlace | { damaged: string } | undefined {
  try {
    const stored = readCheckedLine(readStateFile(path).trimEnd()) as Stored;
    if (Number(stored.version) > version)
      throw new SotraError('local-file', `${path} was written by a newer sotra (layout ${stored.version})`, {
        hint: 'Update sotra, or move the file away to start over.',
      });
    const { cursor, sinceSec, seen } = stored;
    const isValid =
      stored.version === version &&
      (cursor === null || typeof cursor === 'string') &&
      (sinceSec === null || isMoment(sinceSec)) &&
      typeof seen === 'object' &&
      Object.values(seen).every(isMoment);
    return isValid ? { cursor, sinceSec, seen } : { damaged: 'it is not a watch file' };
  } catch (thrown) {
    if (thrown instanceof SotraError) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === undefined) return { damaged: messageOf(thrown) };
    if (code === 'ENOENT') return undefined;
    throw new SotraError('local-file', `cannot read the watch file ${path}: ${messageOf(thrown)}`, {
      hint: 'Correct its permissions, or move it away to start over.',
      cause: thrown,
    });
  }
}

/** Unix seconds that the calendar has. */
function isMoment(second: unknown): boolean {
  return typeof second === 'number' && Math.abs(second) <= 8.64e12;
}
