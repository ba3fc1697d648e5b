import { readMessage, SotraError } from '../../errors.ts';
import type { Io } from '../io.ts';
import { isLocked, makeDatabaseFile } from './database.ts';
import { connect } from './sqlite.ts';

export type LockIo = Pick<Io, 'random' | 'sleep' | 'signal'>;

/**
 * Takes a lock, and returns the function that releases it; the system releases it if the process dies. Errors: `locked` naming `what`;
 * `local-file`.
 */
export function takeLock(file: string, what: string): () => void {
  const release = tryLock(file);
  if (release !== undefined) return release;
  throw locked(`${what} is in use by another process`);
}

// Some 10 s: locks last for milliseconds.
const maxTries = 600;
const minWaitMs = 5;
const waitSpreadMs = 25;

/** The result of `act`, under a lock that it waits for. Errors: `locked` naming the file; `interrupted`; those of `act` and of `takeLock`. */
export async function withLock<T>(file: string, io: LockIo, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const release = tryLock(file);
    if (release !== undefined)
      try {
        return await act();
      } finally {
        release();
      }
    if (tries === maxTries) throw locked(`another process holds ${file}`);
    await io.sleep(minWaitMs + io.random() * waitSpreadMs, io.signal);
  }
}

/** The function that releases the lock; `undefined` if it is taken. SQLite locks an empty database, which stays: removing it would be a race. */
function tryLock(file: string): (() => void) | undefined {
  let connection: ReturnType<typeof connect> | undefined;
  try {
    makeDatabaseFile(file);
    connection = connect(file);
    connection.exec('PRAGMA busy_timeout = 0');
    // Nothing is written, so no journal is needed, which would be one more file.
    connection.exec('PRAGMA journal_mode = OFF');
    connection.exec('BEGIN EXCLUSIVE');
    return connection.close;
  } catch (cause) {
    connection?.close();
    if (isLocked(cause)) return undefined;
    if (cause instanceof SotraError) throw cause;
    throw new SotraError('local-file', `cannot lock ${file}: ${readMessage(cause)}`, {
      hint: 'Correct the permissions of its folder, or remove it if it is not a lock of sotra.',
      cause,
    });
  }
}

function locked(message: string): SotraError {
  return new SotraError('locked', message, { hint: 'Wait until it has ended, or end it.' });
}
