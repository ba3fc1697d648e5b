import type { Example, Method, Source } from '../contract/endpoint.ts';
import type { Kind } from '../contract/kind.ts';
import type { Use } from './globals.ts';

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

/** A column of a command's table, as far as help and completion speak of it. */
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
