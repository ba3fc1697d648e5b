import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readStateFile, replaceFile } from '../files/durable-file.ts';
import { makeFolder } from '../files/folder.ts';
import { tryParseJson } from '../model/json.ts';

const schema = z.object({
  /** Unix milliseconds. */
  atMs: z.number(),
  /** As typed, secrets hidden. */
  command: z.string(),
  exitCode: z.number(),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
});

/** A command that failed beside its calls: before it made one, or over what it was given. The last one is kept. */
export type FailedCommand = z.output<typeof schema>;

/** Errors: those of the file system. */
export function keepFailedCommand(folder: string, failed: FailedCommand): void {
  makeFolder(folder);
  replaceFile(findFile(folder), JSON.stringify(failed));
}

export function readFailedCommand(folder: string): FailedCommand | undefined {
  const file = findFile(folder);
  return existsSync(file) ? schema.safeParse(tryParseJson(readStateFile(file))).data : undefined;
}

function findFile(folder: string): string {
  return join(folder, 'failed-command.json');
}
