import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { SotraError } from '../errors.ts';
import type { StoredSettings } from './settings.ts';

/** The `sotra.yaml` of this folder, or of the nearest one above it. */
export function findProjectFile(): string | undefined {
  for (let folder = resolve(); ; folder = dirname(folder)) {
    const file = join(folder, 'sotra.yaml');
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}

export function hashOf(bytes: Uint8Array): string {
  // Most commands load this file and hash nothing, and node:crypto takes 4 ms.
  const { createHash }: typeof import('node:crypto') = createRequire(import.meta.url)('node:crypto');
  return createHash('sha256').update(bytes).digest('hex');
}

/** The context of the trusted project that this folder belongs to. Errors: `config` where its file was changed since it was trusted. */
export function projectContext({ trusted = {} }: StoredSettings): string | undefined {
  const file = findProjectFile();
  const known = file === undefined ? undefined : trusted[file];
  if (file === undefined || known?.context === undefined) return undefined;
  if (hashOf(readFileSync(file)) === known.sha256) return known.context;
  throw new SotraError('config', `${file} was changed since you trusted it, and names the context to use`, {
    hint: 'sotra plan shows it and asks again; --context <name> continues without it.',
  });
}
