import { usageError } from '../errors.ts';
import { beginsWith } from './outline.ts';

const instead =
  'sotra webhook sync <uid> --file <file> --check shows which addresses a webhook lacks, and without --check sends them; ' +
  'sotra follow bulk --file <file> --dry-run shows follows.';

/** Commands of the last release, each with what to type now. */
const removed: readonly (readonly [command: string, instead: string])[] = [
  ['plan', instead],
  ['apply', instead],
];

/** Errors: `usage` for a command that is gone, by the words of a command line. */
export function refuseRemoved(words: readonly string[]): void {
  for (const [command, hint] of removed)
    if (beginsWith(words, command.split(' '))) throw usageError(`sotra ${command} was removed`, hint);
}
