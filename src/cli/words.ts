import { usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';
import { globalFlags } from './globals.ts';
import type { Outline } from './outline.ts';

/** The command that the words of a command line name, before parsing; `undefined` where they name none. */
export function findCommand(argv: readonly string[], commands: readonly Outline[]): Outline | undefined {
  const words: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const token = argv[index] ?? '';
    if (!token.startsWith('-')) words.push(token);
    else if (globalFlags.some(({ flag, value }) => value !== undefined && token === `--${flag}`)) index += 1;
  }
  return commands
    .filter((command) => command.words.every((word, index) => words[index] === word))
    .sort((a, b) => b.words.length - a.words.length)[0];
}

/** What users of other tools type, and the command here that does it. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['login', 'auth login'],
  ['logout', 'auth logout'],
  ['whoami', 'auth status'],
  ['config', 'context'],
  ['configure', 'context set'],
  ['profiles', 'context list'],
  ['api', 'request'],
  ['curl', 'request'],
  ['listen', 'webhook listen'],
  ['events', 'webhook events'],
  ['trigger', 'webhook trigger'],
  ['sign', 'comment sign'],
  ['post', 'comment post'],
  ['verify', 'comment verify'],
  ['wallet', 'key'],
  ['ls', 'commands'],
  ['serve', 'sandbox start'],
  ['start', 'sandbox start'],
  ['schema', 'openapi'],
  ['completions', 'completion'],
  ['man', 'help'],
]);

const otherVerbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list']],
  ['rm', ['remove', 'delete', 'delete-name', 'logout']],
  ['del', ['delete', 'remove']],
  ['delete', ['remove', 'delete-name']],
  ['remove', ['delete', 'delete-name']],
  ['create', ['register', 'generate', 'set', 'post', 'add']],
  ['new', ['generate', 'register', 'set', 'post', 'add']],
  ['add', ['set', 'import', 'register']],
  ['show', ['get', 'status', 'list']],
  ['view', ['get', 'show', 'status', 'list']],
  ['get', ['show', 'list', 'status']],
]);

const otherFlags: ReadonlyMap<string, string> = new Map([
  ['-v', 'Did you mean --verbose? The version is sotra --version.'],
  ['-o', 'Did you mean --format? It takes table, json, ndjson, csv, tsv or md.'],
  ['--output', 'Did you mean --format? It takes table, json, ndjson, csv, tsv or md.'],
  ['-q', 'Did you mean --quiet?'],
  ['-y', 'Did you mean --yes?'],
  ['--fields', 'Did you mean --columns?'],
  ['--profile', 'Did you mean --context?'],
  ['--api-key', 'A key is never an argument: set SOTRA_API_KEY, or sotra auth login.'],
]);

/** A hint for a word or flag that other tools have and this one calls by another name; `undefined` for any other. */
export function otherName(name: string, argv: readonly string[], commands: readonly Outline[]): string | undefined {
  if (name.startsWith('-')) return otherFlags.get(name);
  const typed = argv.filter((word) => !word.startsWith('-'));
  const group = typed.slice(0, typed.indexOf(name)).join(' ');
  if (group === '') return didYouMean(otherNames.get(name));
  const names = commands.map(({ words }) => words.join(' '));
  return didYouMean(
    otherVerbs
      .get(name)
      ?.map((verb) => `${group} ${verb}`)
      .find((each) => names.includes(each)),
  );
}

function didYouMean(command: string | undefined): string | undefined {
  return command && `Did you mean sotra ${command}?`;
}

/**
 * `help leaderboard list` as `leaderboard list --help`; a topic of help stays as it is. Errors: `usage` for a word that is nearly a command
 * and no topic.
 */
export function helpAsFlag(argv: readonly string[], commands: readonly Outline[]): readonly string[] {
  const [first, noun, ...others] = argv;
  if (first !== 'help') return argv;
  if (noun === undefined) return ['--help'];
  if (noun.startsWith('-')) return [...argv.slice(1), '--help'];
  const nouns = [...new Set(commands.map(({ words }) => words[0] ?? ''))];
  if (nouns.includes(noun)) return [noun, ...others, '--help'];
  const help = commands.find(({ words }) => words.join(' ') === 'help');
  const topics = help?.fields.flatMap(({ kind }) => kind.choices) ?? [];
  const near = nearest(noun, nouns);
  if (near === undefined || nearest(noun, topics) !== undefined) return argv;
  throw usageError(`unknown command '${noun}'`, `Did you mean sotra help ${near}?`);
}
