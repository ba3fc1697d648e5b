import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browserPath } from './chromium.ts';

/** What the bundle is made of. */
const sources = ['src', 'bin', 'scripts', 'rolldown.config.ts', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Before the tests: builds, and keeps temporary files in memory. */
export default async function setUp(): Promise<(() => void) | undefined> {
  await build();
  return keepInMemory();
}

/** Builds the bundle where it is older than this source, so that tests which start real processes run this source; and unpacks the browser, which two workers would do at once. */
export async function build(): Promise<void> {
  const bundle = 'dist/main.cjs';
  // What each chunk is made of goes with node_modules.
  const isWhole = existsSync(bundle) && existsSync('node_modules/.cache/chunks.json');
  if (!isWhole || newestMs(sources) > statSync(bundle).mtimeMs)
    execFileSync(process.execPath, ['node_modules/rolldown/bin/cli.mjs', '-c'], { stdio: 'pipe' });
  process.env['SOTRA_TEST_BROWSER'] = await browserPath();
}

/** When one of these, or a file or folder inside, last changed; a folder changes with the names in it. */
function newestMs(paths: readonly string[]): number {
  return Math.max(
    ...paths.map((path) => {
      const found = statSync(path);
      if (!found.isDirectory()) return found.mtimeMs;
      return Math.max(found.mtimeMs, newestMs(readdirSync(path).map((name) => join(path, name))));
    }),
  );
}

const [memory, enoughBytes] = ['/dev/shm', 2_000_000_000];

/** Temporary folders are kept in memory where there is room and programs may run: what a disk outlives is no subject here, and waiting for one takes long. */
function keepInMemory(): (() => void) | undefined {
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
