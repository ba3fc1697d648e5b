import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import type { World } from '../../context.ts';
import { SotraError } from '../../errors.ts';

/** A takeover is a few system calls long; a file older than this was left behind by one that was killed in it. */
const takeoverMs = 10_000;

/**
 * Takes the lock that a file is and gives the function that lets it go. A lock whose owner no longer runs is taken over. Errors: `locked`
 * (exit 3) naming the owner.
 */
export function takeLock(file: string, what: string, { pid, system, now }: World): () => void {
  const mine = JSON.stringify({ pid, token: randomUUID() });
  if (!create(file, mine)) takeOver(file, mine, what, system.isAlive, now());
  return () => {
    if (read(file) === mine) rmSync(file, { force: true });
  };
}

function takeOver(file: string, mine: string, what: string, isAlive: (pid: number) => boolean, nowMs: number): void {
  const guard = `${file}.takeover`;
  if (!create(guard, mine) && (ageOf(guard, nowMs) < takeoverMs || !replace(guard, mine)))
    throw locked(what, 'another process is just taking it over');
  try {
    const owner = ownerOf(read(file));
    if (owner !== undefined && isAlive(owner)) throw locked(what, `process ${owner}`);
    if (!replace(file, mine)) throw locked(what, 'another process');
  } finally {
    rmSync(guard, { force: true });
  }
}

function replace(file: string, text: string): boolean {
  rmSync(file, { force: true });
  return create(file, text);
}

function create(file: string, text: string): boolean {
  try {
    const handle = openSync(file, 'wx', 0o600);
    writeSync(handle, text);
    closeSync(handle);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
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

/** The process that holds a lock; `undefined` for one that was killed before it wrote its number. */
function ownerOf(text: string | undefined): number | undefined {
  try {
    const { pid } = JSON.parse(text ?? '');
    return typeof pid === 'number' ? pid : undefined;
  } catch {
    return undefined;
  }
}

function locked(what: string, owner: string): SotraError {
  return new SotraError('locked', `${what} is in use by ${owner}`, {
    hint: 'Wait until it has ended, or end it; a lock that a dead process left is taken over by itself.',
  });
}
