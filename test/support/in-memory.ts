import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [memory, enoughBytes] = ['/dev/shm', 2_000_000_000];

/** Temporary folders are kept in memory where there is room and programs may run: what a disk outlives is no subject here, and waiting for one takes long. */
export default function inMemory(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memory)) return undefined;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < enoughBytes) return undefined;
  const folder = mkdtempSync(join(memory, 'sotra-tests-'));
  // As the folder in its place: some programs of the tests run as another user.
  chmodSync(folder, 0o1777);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    writeFileSync(join(folder, 'program'), '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(join(folder, 'program'));
  } catch {
    remove();
    return undefined;
  }
  process.env['TMPDIR'] = folder;
  return remove;
}
