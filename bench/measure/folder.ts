import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ends: (() => void)[] = [];

/** Calls this at the end of the process, the last one first, also if a signal ends it. */
export function atEnd(act: () => void): void {
  if (ends.length === 0) {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
    process.once('exit', () => {
      for (const end of ends.reverse()) end();
    });
  }
  ends.push(act);
}

/** A folder that is removed at the end of the process. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'sotra-bench-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
