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

/** Flags of the last release, each with what to do now. */
const removedFlags: readonly (readonly [command: string, flags: readonly string[], instead: string])[] = [
  [
    'mcp',
    ['--http', '--ready-file'],
    'A client starts sotra mcp on its stdin and stdout: sotra mcp --config prints what to paste there.',
  ],
];

/** Errors: `usage` for a command or flag that is gone, by the words of a command line and all of it. */
export function refuseRemoved(words: readonly string[], argv: readonly string[]): void {
  for (const [command, flags, hint] of removedFlags) {
    const typed = flags.find((flag) => argv.some((word) => word === flag || word.startsWith(`${flag}=`)));
    if (typed !== undefined && beginsWith(words, command.split(' ')))
      throw usageError(`sotra ${command} ${typed} was removed`, hint);
  }
  for (const [command, hint] of removed)
    if (beginsWith(words, command.split(' '))) throw usageError(`sotra ${command} was removed`, hint);
}

/** Flags of the last release, each with what to type now. */
export const removedFlags: ReadonlyMap<string, string> = new Map([
  ['--meta', 'Omit it: the answer is the same. sotra mcp marks for agents what anybody may have written.'],
]);
