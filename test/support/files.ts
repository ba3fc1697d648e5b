import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a folder, by their paths in it. */
function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile()).sort();
}

/** The files below a folder with their contents. */
export function contentsOf(folder: string): Map<string, Buffer> {
  return new Map(filesIn(folder).map((name) => [name, readFileSync(join(folder, name))]));
}
