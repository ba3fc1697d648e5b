import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { messageOf, SotraError } from '../../errors.ts';
import { readStateFile, replaceFile } from '../../files/durable-file.ts';
import { makeFolder } from '../../files/folder.ts';
import { takeLock } from '../../files/lock.ts';
import { checkedLine, readCheckedLine } from '../../files/log-file.ts';

/** Unix seconds that the calendar has. */
const moment = z.number().min(-8.64e12).max(8.64e12);

const placeSchema = z.object({
  /** The service's cursor, if it gives one. */
  cursor: z.string().nullable(),
  /** Unix seconds; `null` until a card was seen. */
  sinceSec: moment.nullable(),
  /** What was shown since then, as `seenKey` writes it, with the second of its latest trade. */
  seen: z.record(z.string(), moment),
});

/** Where a watch is. Everything before `sinceSec` was shown; after it, the cards in `seen`. */
export type WatchPlace = z.output<typeof placeSchema>;

export type WatchFile = Awaited<ReturnType<typeof watchFile>>;

const version = 1;

/** The file with the place of a watch: one for each service, key, command and set of filters. Errors: those of the file system. */
export async function watchFile(context: Context, command: string, input: Readonly<Record<string, unknown>>) {
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
    /** Gives back the release. Errors: `locked` naming the process that watches. */
    lock: () => {
      makeFolder(dirname(path));
      return takeLock(`${path}.lock`, `the watch file ${path}`, context.world);
    },
    /** Renames a damaged file and gives its new name. */
    renameDamaged: () => {
      const aside = `${path.replace(/\.json$/, '')}.damaged-${context.world.now()}`;
      renameSync(path, aside);
      return aside;
    },
    read: () => readPlace(path),
    write: (place: WatchPlace) =>
      replaceFile(path, `${checkedLine({ version, command, service: baseUrl, input: filters, ...place })}\n`),
  };
}

/** `damaged` says why it cannot be understood. Errors: `local-file` where a newer sotra wrote it. */
function readPlace(path: string): WatchPlace | { damaged: string } | undefined {
  let stored: object;
  try {
    stored = readCheckedLine(readStateFile(path).trimEnd());
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code !== undefined) throw thrown;
    return { damaged: messageOf(thrown) };
  }
  const { data: place } = placeSchema.safeParse(stored);
  const { version: itsVersion } = stored as { version?: unknown };
  if (Number(itsVersion) > version)
    throw new SotraError('local-file', `${path} was written by a newer sotra (layout ${itsVersion})`, {
      hint: 'Update sotra, or move the file away to start over.',
    });
  return place !== undefined && itsVersion === version ? place : { damaged: 'it is not a watch file' };
}
