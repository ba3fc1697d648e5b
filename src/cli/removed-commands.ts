import { usageError } from '../errors.ts';
import { beginsWith } from './outline.ts';

const instead =
  'sotra webhook sync --url <url> --file <file> --check shows which addresses a webhook lacks, and without --check sends them; ' +
  'sotra follow bulk --file <file> --dry-run shows follows.';

/** Commands of the last release, each with what to type now. */
const removed: readonly (readonly [command: string, instead: string])[] = [
  ['plan', instead],
  ['apply', instead],
  [
    'leaderboard compare',
    'sotra leaderboard sections shows the old board, and says which sotra leaderboard list takes the place of each section.',
  ],
  [
    'comment copies',
    'sotra history lists the calls that sent intents; sotra profile positions shows what became of them.',
  ],
  ['webhook resume', 'The command that started the upload continues it; sotra webhook jobs shows that line.'],
  [
    'webhook jobs remove',
    'Finished uploads leave the list by themselves after 30 days; the command that started another one continues it.',
  ],
  ['whois', 'sotra profile get <identifier> shows who is behind an address, id, name or alias.'],
  ['follow plan', 'sotra follow bulk --file <file> --dry-run shows what would be sent.'],
];

const noReport = 'Omit it: the result counts what is confirmed, and an error says what is not.';

/** Flags of the last release, of all commands or of one, each with what to do now. */
const removedFlags: readonly (readonly [command: string, flags: readonly string[], instead: string])[] = [
  ['', ['--max-time', '--max-wait'], '--timeout bounds a call: its attempts, and the waits that the service asks for.'],
  ['', ['--max-body'], 'Omit it: an answer of more than 64 MB is refused.'],
  ['leaderboard list', ['--save'], 'Omit it: sotra leaderboard diff compares with the boards in the history.'],
  ['comment sign', ['--encoding'], 'Omit it: a signature of Solana is written in base58, which the service accepts.'],
  ['comment verify', ['--encoding'], 'Omit it: base58, base64 and hex are told from the signature.'],
  ['position get', ['--chart'], 'Omit it: the trades stand below the position; sotra profile positions has --chart.'],
  ['position find', ['--chart'], 'Omit it: the trades stand below the position; sotra profile positions has --chart.'],
  ['leaderboard diff', ['--save'], 'Omit it: each board that is asked for is in the history.'],
  ['auth login', ['--password-file'], 'Omit it: the key is kept in the keychain, or as it is in a file of mode 0600.'],
  ['init', ['--password-file'], 'Omit it: the key is kept in the keychain, or as it is in a file of mode 0600.'],
  ['webhook listen', ['--max-delivery'], 'Omit it: a delivery of more than 5 MB is refused.'],
  ['webhook register', ['--report'], noReport],
  ['webhook add-addresses', ['--report'], noReport],
  ['', ['--meta'], 'Omit it: the answer is the same. sotra mcp marks for agents what anybody may have written.'],
  [
    'webhook trigger',
    ['--as'],
    'sotra webhook exam <url> --secret-file <file> sends what a receiver should refuse, and says what it did.',
  ],
  ['mcp', ['--preset'], 'Name the tools: --tools leaderboard_list,profile_get; sotra mcp --dry-run lists them.'],
  [
    'mcp',
    ['--http', '--ready-file'],
    'A client starts sotra mcp on its stdin and stdout: sotra mcp --config prints what to paste there.',
  ],
];

/** Errors: `usage` for a command that is gone, by the words of a command line. */
export function refuseRemoved(words: readonly string[]): void {
  for (const [command, hint] of removed)
    if (beginsWith(words, command.split(' '))) throw usageError(`sotra ${command} was removed`, hint);
}

/** Errors: `usage` for a flag of the last release that the command does not know any more. */
export function refuseRemovedFlag(flag: string, words: readonly string[]): void {
  for (const [command, flags, hint] of removedFlags)
    if (flags.includes(flag) && (command === '' || command === words.join(' ')))
      throw usageError(`${command === '' ? '' : `sotra ${command} `}${flag} was removed`, hint);
}
