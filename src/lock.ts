import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import type { World } from './context.ts';
import { createFile, draftOf } from './durable-file.ts';
import { SotraError } from './errors.ts';

/**
 * Takes the lock that a file is and gives the function that lets it go. A lock whose owner no longer runs is taken over. Errors: `locked`
 * (exit 3) naming the owner.
 */
export function takeLock(file: string, what: string, { pid, system, now }: World): () => void {
  const { timeOrigin } = performance;
  const mine = JSON.stringify({ pid, started: timeOrigin, token: randomUUID() });
  // In a new container this process may have the number that the dead owner had.
  const isAlive = (owner: Owner) => (owner.pid === pid ? owner.started === timeOrigin : system.isAlive(owner.pid));
  if (!createFile(file, mine)) takeOver(file, mine, what, isAlive, now());
  return () => {
    if (read(file) === mine) rmSync(file, { force: true });
  };
}

/** One process at a time looks at a lock to take it over; where it dies at that, the next takes its place. */
function takeOver(file: string, mine: string, what: string, isAlive: (owner: Owner) => boolean, nowMs: number): void {
  const guard = `${file}.takeover`;
  const isDead = (text: string | undefined) => {
    const owner = ownerOf(text);
    return owner === undefined || !isAlive(owner);
  };
  if (!createFile(guard, mine)) {
    const seen = read(guard);
    if (!isDead(seen) || !claim(guard, seen, mine)) throw locked(what, 'another process is just taking it over');
  }
  try {
    const seen = read(file);
    // A lock from before the last start of the machine is dead, whoever has its owner's number now.
    const isOfToday = ageOf(file, nowMs) < uptime() * 1000;
    const owner = ownerOf(seen);
    if (isOfToday && owner !== undefined && isAlive(owner)) throw locked(what, `process ${owner.pid}`);
    if (!claim(file, seen, mine)) throw locked(what, 'another process');
  } finally {
    if (read(guard) === mine) rmSync(guard, { force: true });
  }
}

/**
 * Puts our text in the place of a file that a dead process left; false where somebody else was quicker. It is moved aside and looked at: what
 * is not the text that was seen belongs to another and goes back.
 */
export function claim(file: string, seen: string | undefined, mine: string): boolean {
  const aside = draftOf(file);
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

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function ageOf(file: string, nowMs: number): number {
  try {
    return nowMs - statSync(file).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

interface Owner {
  pid: number;
  /** When it started; tells it from a later process of the same number. */
  started?: number;
}

/** The process that holds a lock; `undefined` where the file does not say. */
function ownerOf(text: string | undefined): Owner | undefined {
  try {
    const owner = JSON.parse(text ?? '');
    return typeof owner?.pid === 'number' ? owner : undefined;
  } catch {
    return undefined;
  }
}

function locked(what: string, owner: string): SotraError {
  return new SotraError('locked', `${what} is in use by ${owner}`, {
    hint: 'Wait until it has ended, or end it; a lock that a dead process left is taken over by itself.',
  });
}
