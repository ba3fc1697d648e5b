import { execFileSync } from 'node:child_process';

/** Builds the bundle once before the tests, so that those which start real processes run this source. */
export default function build(): void {
  execFileSync(process.execPath, ['node_modules/rolldown/bin/cli.mjs', '-c'], { stdio: 'pipe' });
}
