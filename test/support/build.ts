import { execFileSync } from 'node:child_process';
import { browserPath } from './chromium.ts';

/** Builds the bundle once before the tests, so that those which start real processes run this source; and unpacks the browser, which two workers would do at once. */
export default async function build(): Promise<void> {
  execFileSync(process.execPath, ['node_modules/rolldown/bin/cli.mjs', '-c'], { stdio: 'pipe' });
  await browserPath();
}
