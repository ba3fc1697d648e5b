import type { Example, Method, Source } from '../contract/endpoint.ts';
import { type JsonSchema, type Kind, number, toJsonSchema } from '../contract/kind.ts';

/** What a command works with; decides which global flags it accepts. */
export type Use =
  | 'requests'
  | 'service'
  /** A sandbox of its own, whatever service is in use: `--sandbox` says nothing new. */
  | 'sandbox'
  /** Changes or sends something else (settings, files, the sandbox, events), and shows that for `--dry-run`. */
  | 'changes'
  /** Sends events to a server of the user, and shows them for `--dry-run` and `--curl`. */
  | 'events'
  | 'repeats'
  | 'answers'
  /** Runs other command lines that send requests. */
  | 'calls'
  | 'json';

export interface Field {
  key: string;
  /** `--limit` or `<address>`. */
  label: string;
  flag: string;
  kind: Kind;
  help: string;
  /** spec, public, assumed; local: never sent. */
  source: string;
  positional?: true;
  short?: string;
  /** A list whose items may hold commas. */
  whole?: true;
  /** Accepts an identifier, and so a saved name; `token`: except coins such as `@107`. */
  identifier?: true | 'token';
  serviceDefault?: string;
}

/** What was typed, by field key: text, or true/false for yes/no flags. */
export type TypedInput = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** All that can be said of a command without loading it. */
export interface Outline {
  words: readonly string[];
  summary: string;
  description?: string;
  endpoint?: { method: Method; path: string; source: Source; deprecated?: string };
  examples: readonly Example[];
  exitCodes: readonly number[];
  uses: readonly Use[];
  fields: readonly Field[];
  columns: readonly { key: string; help: string; extra?: true }[];
}

/** Whether these words begin with those. */
export function beginsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, index) => words[index] === word);
}

/** What `sotra help` explains besides commands. */
export function listTopics(outlines: readonly Outline[]): readonly string[] {
  const help = outlines.find(({ words }) => words.join(' ') === 'help');
  return help?.fields.flatMap(({ kind }) => (kind.type === 'choice' ? kind.choices.map(String) : [])) ?? [];
}

export interface KnownCommands {
  outlines: readonly Outline[];
  completion: (shell: Shell) => Promise<string>;
}

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export type Shell = (typeof shells)[number];

/** The JSON Schema of an object of these inputs, by their keys. Sources of types and ranges: the kinds of the parameters. */
export function makeInputSchema(fields: readonly Field[]): JsonSchema {
  const required = fields.filter(({ kind }) => !kind.optional).map(({ key }) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.key, makeFieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function makeFieldSchema({ kind, help, serviceDefault }: Field): JsonSchema {
  // Not every client takes an enum of numbers.
  const numbers = kind.type === 'choice' ? kind.choices.map(Number).filter(Number.isFinite) : [];
  const described = numbers.length > 0 ? `${help}: ${numbers.join(', ')}` : help;
  const description = serviceDefault === undefined ? described : `${described}; default: ${serviceDefault}`;
  const schema = numbers.length > 0 ? number(Math.min(...numbers), Math.max(...numbers)) : kind;
  return { ...toJsonSchema(schema), description };
}
