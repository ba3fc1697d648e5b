import { createHash } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { readStateFile, replaceFile } from '../../files/durable-file.ts';
import { takeLock } from '../../files/lock.ts';
import { checkedLine, readCheckedLine } from '../../files/log-file.ts';

/** Where a watch has got to. Everything before `sinceSec` was shown; from there on, what `seen` names was. */
export interface WatchPlace {
  /** The service's own mark of the place, where it gives one. */
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
  /** Keeps other processes from the place and gives what lets them again. Errors: `locked` naming the process that has it, `local-file`. */
  lock: () => () => void;
  /** Moves a place that cannot be understood out of the way and gives where to. Errors: `local-file`. */
  setAside: () => string;
  /** Errors: `local-file` when it may not be read or was written by a newer sotra; `damaged` says why it cannot be understood. */
  read: () => WatchPlace | { damaged: string } | undefined;
  /** Replaces the file as a whole. Errors: `local-file`. */
  write: (place: WatchPlace) => void;
}

const version = 1;

/** The file that keeps a watch's place: one for each service, key, command and set of filters. */
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
    lock: () => {
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        return takeLock(`${path}.lock`, `the place of this watch, ${path},`, context.world);
      } catch (cause) {
        throw cause instanceof SotraError ? cause : unwritable(path, cause);
      }
    },
    read: () => readPlace(path),
    setAside: () => {
      const aside = `${path.replace(/\.json$/, '')}.damaged-${context.world.now()}`;
      try {
        renameSync(path, aside);
      } catch (cause) {
        throw unwritable(path, cause);
      }
      return aside;
    },
    write: (place) => {
      const stored: Stored = { version, command, service: baseUrl, input: filters, ...place };
      try {
        replaceFile(path, `${checkedLine(stored)}\n`);
      } catch (cause) {
        throw unwritable(path, cause);
      }
    },
  };
}

function readPlace(path: string): WatchPlace | { damaged: string } | undefined {
  try {
    const stored = readCheckedLine(readStateFile(path).trimEnd()) as Stored;
    if (Number(stored.version) > version)
      throw new SotraError('local-file', `${path} was written by a newer sotra (layout ${stored.version})`, {
        hint: 'Update sotra, or move the file away to begin anew.',
      });
    const { cursor, sinceSec, seen } = stored;
    const sound =
      stored.version === version &&
      (cursor === null || typeof cursor === 'string') &&
      (sinceSec === null || isMoment(sinceSec)) &&
      typeof seen === 'object' &&
      Object.values(seen).every(isMoment);
    return sound ? { cursor, sinceSec, seen } : { damaged: 'it is not the place of a watch' };
  } catch (thrown) {
    if (thrown instanceof SotraError) throw thrown;
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === undefined) return { damaged: reason(thrown) };
    if (code === 'ENOENT') return undefined;
    // It may be sound: only who may read it can say.
    throw new SotraError('local-file', `cannot read the place of this watch in ${path}: ${reason(thrown)}`, {
      hint: 'Correct its permissions, or move it away to begin anew.',
      cause: thrown,
    });
  }
}

/** Unix seconds that the calendar has. */
function isMoment(second: unknown): boolean {
  return typeof second === 'number' && Math.abs(second) <= 8.64e12;
}

function unwritable(path: string, cause: unknown): SotraError {
  return new SotraError('local-file', `cannot keep the place of this watch in ${path}: ${reason(cause)}`, {
    hint: 'Make room, or choose another folder with SOTRA_DATA_DIR.',
    cause,
  });
}

function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
