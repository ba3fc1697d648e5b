import type { Example, Method, Source } from '../contract/endpoint.ts';
import type { Kind } from '../contract/kind.ts';

/** What a command works with beyond its arguments; the global flags that it takes follow from it. */
export type Use =
  /** Sends requests to the service. */
  | 'requests'
  /** Looks at which service is meant: its context, address or name. */
  | 'service'
  /** Changes or sends something else (settings, files, the sandbox's world, events), and shows that for `--dry-run`. */
  | 'changes'
  /** Sends events to a server of the user's, and shows them for `--dry-run` and `--curl`. */
  | 'events'
  /** Sends again what was not taken, as often as `--retries` says. */
  | 'repeats'
  /** Waits for answers of something other than the service. */
  | 'answers'
  /** Prints JSON, though it has no table. */
  | 'json';

/** One argument or flag of a command, as plain data. */
export interface Field {
  key: string;
  /** `--limit`, or `<address>` for an argument. */
  label: string;
  /** The flag without dashes. */
  flag: string;
  kind: Kind;
  help: string;
  /** Where its name is known from: spec, public or assumed; local for what is never sent. */
  source: string;
  /** Typed without a flag. */
  positional?: true;
  short?: string;
  /** What the flag was called before: taken, and shown nowhere. */
  oldFlags?: readonly string[];
  /** A list whose items may hold commas. */
  whole?: true;
  /** It takes an address or another identifier, and so a saved name in its place; `token`: but for `@107`, which is a coin. */
  identifier?: true | 'token';
  serviceDefault?: string;
}

/** What was typed for a command, by field key: strings only, `true`/`false` for yes/no flags. */
export type Typed = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** A column of a command's table, for help and completion. */
export interface ColumnOutline {
  key: string;
  help: string;
  /** Shown only when named in `--columns`. */
  extra?: true;
}

/** All that can be said of a command without loading it, as plain data. */
export interface Outline {
  words: readonly string[];
  summary: string;
  description?: string;
  /** The endpoint it is one to one with. */
  endpoint?: { method: Method; path: string; source: Source; deprecated?: string };
  examples: readonly Example[];
  exitCodes: readonly number[];
  uses: readonly Use[];
  fields: readonly Field[];
  columns: readonly ColumnOutline[];
  /** The command looks at the command line before it is parsed. */
  checksArgv?: true;
}

/** The commands as data. */
export interface KnownCommands {
  outlines: readonly Outline[];
  /** The completion script of a shell; ends with a newline. */
  completion: (shell: Shell) => Promise<string>;
}

/** The shells that completions are written for. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export type Shell = (typeof shells)[number];
