import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { usageError } from '../errors.ts';

/**
 * The emptied file of `--rejects`, mode 0600 where it is new; `undefined` where none is asked for. Errors: `usage` where it is one of the
 * files that the command reads, under whatever name; those of the file system.
 */
export async function openRejects(
  path: string | undefined,
  read: readonly (string | undefined)[],
): Promise<FileHandle | undefined> {
  if (path === undefined) return undefined;
  for (const file of read)
    if (file !== undefined && isSame(file, path))
      throw usageError(`--rejects ${path}: that is ${file}, which would be emptied`, 'Give it a name of its own.');
  return open(path, 'w', 0o600);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return a !== undefined && b?.ino === a.ino && b.dev === a.dev;
}
