import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { browserPath } from './chromium.ts';

/** What the bundle is made of. */
const sources = ['src', 'bin', 'scripts', 'rolldown.config.ts', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Builds the bundle where it is older than this source, so that tests which start real processes run this source; and unpacks the browser, which two workers would do at once. */
export default async function build(): Promise<void> {
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
