import type { Context } from '../context.ts';
import type { JsonSchema } from '../contract/kind.ts';
import { nearest } from '../model/nearest.ts';

/** What a tool may do: ask, change something at the service, or use a private key. */
export type Access = 'read' | 'write' | 'sign';

/** Rows of an answer whose size was not asked for. */
export const defaultRows = 10;

export interface Tool {
  name: string;
  description: string;
  access: Access;
  /** A change that is not only an addition. */
  isDestructive?: boolean;
  /** Whether a second call changes nothing more. */
  isIdempotent?: boolean;
  /** Works on this machine alone. */
  isLocal?: boolean;
  inputSchema: JsonSchema;
  /** Errors: `usage` naming input, value and fix; those of a call. */
  call: (input: Readonly<Record<string, unknown>>, call: ToolCall) => Promise<ToolAnswer>;
}

/** The stored key that signs, and the file with its password. */
export interface SigningKey {
  key: string;
  passwordFile?: string | undefined;
}

export interface ToolCall {
  context: Context;
  /** Notes and warnings so far. */
  notes: readonly string[];
  /** Resolves once the user has read a text and agreed. Errors: `usage` for a no, and where the client cannot ask. */
  confirm: (text: string) => Promise<void>;
}

/** Rows by columns; `untrusted` names the columns that hold text of users of the service. */
export interface Table {
  title?: string;
  columns: readonly string[];
  rows: readonly (readonly ToolCell[])[];
  untrusted?: readonly string[];
}

export type ToolCell = string | number | boolean | null;

export interface ToolAnswer {
  /** For readers: compact, with shortened addresses. */
  text: string;
  /** For programs: the same with whole values. */
  structured: Table & {
    /** Whether nothing is missing. */
    complete: boolean;
    /** The inputs to add for what comes next. */
    next?: Readonly<Record<string, unknown>>;
    tables?: readonly Table[];
    notes?: readonly string[];
    /** Which of `notes` and `next` may hold text of the service or its users. */
    untrustedParts?: readonly string[];
  };
}

/** Thrown by a tool that goes on once the user has agreed to a text. */
export class Question extends Error {
  override readonly name = 'Question';
  readonly text: string;

  constructor(text: string) {
    super('the user has to be asked');
    this.text = text;
  }
}

/** What else may have been meant by an unknown name. */
export function listKnown(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return `${near === undefined ? '' : `Did you mean ${near}? `}Known: ${known.join(', ') || 'none'}.`;
}

/** `webhook_add_addresses` of `webhook add-addresses`. */
export function toolName(words: readonly string[]): string {
  return words.join('_').replaceAll('-', '_');
}
