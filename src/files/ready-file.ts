import { existsSync, rmSync } from 'node:fs';
import { readStateFile, replaceFile } from './durable-file.ts';

/** Says in files where a command answers; gives what removes them again, but not one that a later run replaced. Errors: `local-file`. */
export function writeReadyFiles(files: readonly (string | undefined)[], ready: object): () => void {
  const text = `${JSON.stringify(ready, null, 2)}\n`;
  const given = files.filter((file) => file !== undefined);
  for (const file of given) replaceFile(file, text);
  return () => {
    for (const file of given) if (existsSync(file) && readStateFile(file) === text) rmSync(file, { force: true });
  };
}
