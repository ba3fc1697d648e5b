import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new empty folder that goes when the test ends, for tests that load no command. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
