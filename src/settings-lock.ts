import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import type { World } from './context.ts';
import { createFile } from './durable-file.ts';
import { SotraError } from './errors.ts';
import { claim } from './lock.ts';

/** What waiting for a lock needs of the outside world. */
export type LockWorld = Pick<World, 'pid' | 'random' | 'sleep' | 'signal' | 'system'>;

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
  const mark = `${hostname()} ${world.pid} ${randomBytes(8).toString('hex')}`;
  let [seen, unchanged] = ['', 0];
  for (let round = 0; !createFile(file, mark); round += 1) {
    const holder = read(file);
    unchanged = holder === seen ? unchanged + 1 : 0;
    seen = holder;
    if ((hasEnded(holder, world) || unchanged >= tries) && breakLock(file, holder, mark, world)) continue;
    if (round >= 2 * tries) throw locked(file);
    await world.sleep(shortestWaitMs + world.random() * waitSpreadMs, world.signal);
  }
  const isHeld = () => read(file) === mark;
  try {
    return await act(() => {
      if (!isHeld()) throw locked(file);
    });
  } finally {
    if (isHeld()) rmSync(file, { force: true });
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function hasEnded(holder: string, world: LockWorld): boolean {
  const [host, pid] = holder.split(' ');
  return host === hostname() && /^\d+$/.test(pid ?? '') && !world.system.isAlive(Number(pid));
}

/**
 * Removes the lock of a holder that is gone. Only one process at a time may, and only if it is still the same holder's; one that dies at
 * that has its place taken.
 */
function breakLock(file: string, holder: string, mark: string, world: LockWorld): boolean {
  const guard = `${file}.break`;
  if (!createFile(guard, mark)) {
    const breaker = read(guard);
    // Empty ones are of an earlier version, which said nothing in them.
    if ((breaker !== '' && !hasEnded(breaker, world)) || !claim(guard, breaker, mark)) return false;
  }
  try {
    if (read(file) === holder) rmSync(file, { force: true });
    return true;
  } finally {
    if (read(guard) === mark) rmSync(guard, { force: true });
  }
}

function locked(file: string): SotraError {
  return new SotraError('locked', `another process holds ${file}`, {
    hint: `Try again; if no sotra runs, delete ${file} and ${file}.break.`,
  });
}
