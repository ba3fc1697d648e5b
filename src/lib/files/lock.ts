import { linkSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { isObject, tryParseJson } from '../../api/json.ts';
import { SotraError } from '../../errors.ts';
import type { Io } from '../io.ts';
import { createFile, nameDraft, readStateFile } from './durable-file.ts';

type OwnerIo = Pick<Io, 'pid' | 'system'>;
export type LockIo = OwnerIo & Pick<Io, 'random' | 'sleep' | 'signal'>;

/** Takes a lock file, also from a process that no longer runs, and gives the function that releases it. Errors: `locked` naming the owner. */
export function takeLock(file: string, what: string, io: OwnerIo): () => void {
  const release = tryLock(file, io, 'anywhere');
  if (release !== undefined) return release;
  const owner = readOwner(read(file));
  throw locked(`${what} is in use by ${owner === undefined ? 'another process' : `process ${owner.pid}`}`);
}

// Some 10 s: a lock is held for milliseconds.
const maxTries = 600;
const minWaitMs = 5;
const waitSpreadMs = 25;

/** What `act` gives, with a lock file that it waits for. Errors: `locked` naming the file; `interrupted`; those of `act` and of the file system. */
export async function withLock<T>(file: string, io: LockIo, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    // Whether a process of another machine runs cannot be asked: it is given some seconds.
    const release = tryLock(file, io, tries > maxTries / 2 ? 'anywhere' : 'here');
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

/** What releases the lock; `undefined` where another process has it. A process that has ended `here` is one of this machine. */
function tryLock(file: string, io: OwnerIo, ended: 'here' | 'anywhere'): (() => void) | undefined {
  const mine = ownText(io);
  const isHere = (holder: string | undefined) => (readOwner(holder)?.host ?? hostname()) === hostname();
  const isGone = (holder: string | undefined) => (ended === 'anywhere' || isHere(holder)) && hasEnded(holder, io);
  return createFile(file, mine) || takeOver(file, mine, isGone) ? () => release(file, mine) : undefined;
}

/** Takes the lock of a holder that is gone; false where another was quicker. A second lock file admits one process at a time. */
function takeOver(file: string, mine: string, isGone: (holder: string | undefined) => boolean): boolean {
  if (!isGone(read(file))) return false;
  const guard = `${file}.takeover`;
  if (!createFile(guard, mine)) {
    const other = read(guard);
    if (!isGone(other) || !claim(guard, other, mine)) return false;
  }
  try {
    const holder = read(file);
    return isGone(holder) && claim(file, holder, mine);
  } finally {
    release(guard, mine);
  }
}

/** Replaces the file of a dead process; false where another was quicker: what was moved aside is then put back. */
function claim(file: string, seen: string | undefined, mine: string): boolean {
  const aside = nameDraft(file);
  try {
    renameSync(file, aside);
  } catch {
    return seen === undefined && createFile(file, mine);
  }
  try {
    if (read(aside) === seen) return createFile(file, mine);
    linkSync(aside, file);
    return false;
  } catch {
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}

function release(file: string, mine: string): void {
  if (read(file) === mine) rmSync(file, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readStateFile(file);
  } catch {
    return undefined;
  }
}

interface Owner {
  pid: number;
  /** As `System.readStartTime` says: a later process may have the same number. */
  started?: unknown;
  host?: unknown;
}

function ownText({ pid, system }: OwnerIo): string {
  return JSON.stringify({ pid, started: system.readStartTime(pid), host: hostname(), token: crypto.randomUUID() });
}

function readOwner(text: string | undefined): Owner | undefined {
  const owner = tryParseJson(text ?? '');
  if (!isObject(owner)) return undefined;
  const { pid, started, host } = owner;
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? { pid, started, host } : undefined;
}

function hasEnded(holder: string | undefined, { system }: OwnerIo): boolean {
  const owner = readOwner(holder);
  const started = owner === undefined ? undefined : system.readStartTime(owner.pid);
  return started === undefined || (started !== '' && !!owner?.started && owner.started !== started);
}

function locked(message: string): SotraError {
  return new SotraError('locked', message, {
    hint: 'Wait until it has ended, or end it; the lock of a process that died is removed by itself.',
  });
}
