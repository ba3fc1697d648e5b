import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../../../context.ts';
import { SotraError, usageError } from '../../../errors.ts';
import {
  type ReservedFile,
  replaceFile,
  reserveFile,
  settleReserved,
  warnOfReaders,
} from '../../../files/durable-file.ts';
import { written } from '../../../model/quoted.ts';
import type { Job } from './jobs.ts';

/** The secrets in a file that the user named, with a warning where others may read it. Errors: as in `readSecrets`. */
export function readOwnSecrets(files: readonly string[], context: Context): string[] {
  return files.flatMap((file) => {
    warnOfReaders(file, context);
    return readSecrets(file);
  });
}

/** The secrets in a file: one a line, lines that start with # and empty ones left out. Errors: `local-file` (exit 3) naming the file. */
export function readSecrets(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    // Perhaps the secret itself was given in the place of its file.
    const name = written(file);
    throw new SotraError('local-file', `the secret file ${name} cannot be read: ${why.replaceAll(file, name)}`, {
      hint: 'sotra webhook secret <uid> --out <file> writes one.',
      cause,
    });
  }
  const secrets = text.split('\n').flatMap((line) => (/^\s*(#.*)?$/.test(line) ? [] : [line.trim()]));
  if (secrets.length > 0) return secrets;
  throw new SotraError('local-file', `the secret file ${file} holds no secret`, {
    hint: 'sotra webhook secret <uid> --out <file> writes one.',
  });
}

/** Refuses a file that a secret could not be written to later, or that holds another one. Errors: `usage`, `local-file` for a full disk. */
export function checkSecretFile(file: string): void {
  if (secretIn(file) !== undefined)
    throw usageError(`--secret-file ${file}: exists and holds something`, 'Name a new file, or remove this one.');
  try {
    reserveFile(file).close();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code ?? '');
    throw new SotraError(isFull ? 'local-file' : 'usage', `--secret-file ${file}: cannot be written: ${message}`, {
      hint: isFull ? 'Free some disk space, or name a file on another disk.' : undefined,
      cause,
    });
  }
}

/** What a file holds, where that is anything. */
export function secretIn(file: string): string | undefined {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile();
  return (isFile && readFileSync(file, 'utf8').trim()) || undefined;
}

/** Where the secret of a job's webhook may be: where it was asked for, then the job's folder. */
function placesOf({ folder, state }: Job): string[] {
  return [state.plan.secretFile ?? [], join(folder, 'secret')].flat();
}

/** The secret of a job's webhook, and the file that has it. Errors: `local-file`. */
export function keptSecret(job: Job): { file: string; secret: string } | undefined {
  const file = placesOf(job).find((place) => secretIn(place) !== undefined);
  return file === undefined ? undefined : { file, secret: readSecrets(file)[0] ?? '' };
}

/**
 * Reserves room for the secret that a job's webhook will have, which the service may tell only once; one that an earlier run wrote to its room
 * is put in its place. Errors: those of the file system.
 */
export function reserveSecret(job: Job, warn: (text: string) => void) {
  const rooms: ReservedFile[] = [];
  const close = () => {
    for (const room of rooms.splice(0)) room.close();
  };
  const places = placesOf(job);
  try {
    for (const place of places) {
      if (secretIn(place) === undefined) settleReserved(place);
      rooms.push(reserveFile(place));
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    close,
    /** Writes it where it was asked for, or where that fails to the job's folder. Errors: those of the file system. */
    keep: (uid: string, secret: string | undefined) => {
      const failures: Error[] = [];
      if (secret !== undefined && keptSecret(job)?.secret !== secret)
        for (const [index, room] of rooms.entries())
          try {
            room.write(`${secret}\n`);
            const [failure] = failures;
            if (failure !== undefined)
              warn(
                `--secret-file ${places[0]}: cannot be written: ${failure.message}; the secret of webhook ${uid} is in ${places[index]} for now`,
              );
            break;
          } catch (error) {
            failures.push(error as Error);
          }
      if (failures.length === rooms.length) throw failures[0];
      close();
    },
  };
}

/** Writes a secret to a file of mode 0600, whole and safe on disk when it returns. Errors: those of the file system. */
export function writeSecret(file: string, secret: string): void {
  replaceFile(file, `${secret}\n`);
}

/** A secret for people who look over a shoulder: its start, the rest starred. */
export function maskSecret(secret: string): string {
  return `${secret.slice(0, secret.startsWith('whsec_') ? 8 : 2)}***`;
}
