import type { Outline } from './outline.ts';
import { takenFlags } from './taken-flags.ts';

/** One command as `commands --json` lists it, for machines and agents. */
export interface CommandEntry {
  command: string;
  summary: string;
  /** The endpoint it is one to one with, and where that is known from; `null` for commands of the tool. */
  endpoint: { method: string; path: string; source: string; deprecated: string | null } | null;
  inputs: InputEntry[];
  /** The global flags it takes. */
  globalFlags: string[];
  exitCodes: number[];
  examples: { argv: string; says: string }[];
}

interface InputEntry {
  /** `--limit` or `<address>`. */
  label: string;
  help: string;
  type: string;
  list: boolean;
  required: boolean;
  nullable: boolean;
  choices: readonly string[];
  min: number | null;
  max: number | null;
  /** Where its name is known from: spec, public or assumed. */
  source: string;
}

/** The entry of one command. */
export function entryOf(outline: Outline): CommandEntry {
  const { words, summary, endpoint, fields, exitCodes, examples } = outline;
  return {
    command: words.join(' '),
    summary,
    endpoint: endpoint === undefined ? null : { ...endpoint, deprecated: endpoint.deprecated ?? null },
    inputs: fields.map(({ label, kind, help, source }) => ({
      label,
      help,
      type: kind.type,
      list: kind.list,
      required: !kind.optional,
      nullable: kind.nullable,
      choices: kind.choices,
      min: kind.min ?? null,
      max: kind.max ?? null,
      source,
    })),
    globalFlags: takenFlags(outline).map(({ flag }) => `--${flag}`),
    exitCodes: [0, 1, 2, ...exitCodes],
    examples: [...examples],
  };
}
