import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { SotraError } from '../errors.ts';
import { parseJson } from '../model/json.ts';
import type { World } from '../world.ts';
import { createFile, draftOf, readStateFile } from './durable-file.ts';

/** What a lock needs of the outside world, and what waiting for one needs. */
type OwnerWorld = Pick<World, 'pid' | 'system'>;
export type LockWorld = OwnerWorld & Pick<World, 'random' | 'sleep' | 'signal'>;

/**
 * Takes the lock that a file is and gives the function that releases it. A lock whose owner no longer runs is taken over. Errors: `locked`
 * (exit 3) naming the owner.
 */
export function takeLock(file: string, what: string, world: OwnerWorld): () => void {
  const mine = ownText(world);
  if (!createFile(file, mine) && !takeOver(file, mine, (holder) => hasEnded(holder, world))) {
    const owner = ownerOf(read(file));
    throw locked(`${what} is in use by ${owner === undefined ? 'another process' : `process ${owner.pid}`}`);
  }
  return () => release(file, mine);
}

// A holder keeps the lock for some milliseconds; one that shows no change over all these tries (some 10 s) is gone or stuck.
const tries = 600;
const shortestWaitMs = 5;
const waitSpreadMs = 25;

/**
 * What `act` gives, run while no other process holds the lock file. `act` gets a function that throws when the lock was lost meanwhile;
 * it is called right before the change is made. A lock whose owner has ended is taken over. Errors: `locked` (exit 3) naming the file
 * when others hold it all the time; `interrupted`; those of `act` and of the file system.
 */
export async function withLock<T>(
  file: string,
  world: LockWorld,
  act: (checkHeld: () => void) => Promise<T>,
): Promise<T> {
  const mine = ownText(world);
  let [seen, unchanged]: [string | undefined, number] = ['', 0];
  const isGone = (holder: string | undefined) => {
    // Of another machine's processes only silence tells anything.
    const isOurs = (ownerOf(holder)?.host ?? hostname()) === hostname();
    return (isOurs && hasEnded(holder, world)) || (unchanged >= tries && holder === seen);
  };
  for (let round = 0; !createFile(file, mine) && !takeOver(file, mine, isGone); round += 1) {
    const holder = read(file);
    unchanged = holder === seen ? unchanged + 1 : 0;
    seen = holder;
    if (round >= 2 * tries) throw locked(`another process holds ${file}`);
    await world.sleep(shortestWaitMs + world.random() * waitSpreadMs, world.signal);
  }
  try {
    return await act(() => {
      if (read(file) !== mine) throw locked(`another process holds ${file}`);
    });
  } finally {
    release(file, mine);
  }
}

/**
 * Puts our text in the place of a lock whose holder is gone; false where it is not, or where another was quicker. One process at a time
 * looks at a lock to take it over; where it dies at that, the next takes its place.
 */
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

/**
 * Puts our text in the place of a file that a dead process left; false where somebody else was quicker. It is moved aside and looked at: what
 * is not the text that was seen belongs to another and goes back.
 */
function claim(file: string, seen: string | undefined, mine: string): boolean {
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

/** The process that holds a lock. */
interface Owner {
  pid: number;
  /** As `System.startOf` tells it: another process may have its number later. */
  started?: unknown;
  host?: unknown;
}

function ownText({ pid, system }: OwnerWorld): string {
  return JSON.stringify({ pid, started: system.startOf(pid), host: hostname(), token: randomUUID() });
}

/** `undefined` where the file does not say. */
function ownerOf(text: string | undefined): Owner | undefined {
  try {
    const owner = parseJson(text ?? '') as Owner | null;
    return Number.isSafeInteger(owner?.pid) && Number(owner?.pid) > 0 ? (owner as Owner) : undefined;
  } catch {
    return undefined;
  }
}

function hasEnded(holder: string | undefined, { system }: OwnerWorld): boolean {
  const owner = ownerOf(holder);
  const started = owner === undefined ? undefined : system.startOf(owner.pid);
  return started === undefined || (started !== '' && !!owner?.started && owner.started !== started);
}

function locked(message: string): SotraError {
  return new SotraError('locked', message, {
    hint: 'Wait until it has ended, or end it; a lock that a dead process left is taken over by itself.',
  });
}
