import { usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';
import type { Typed } from './flags.ts';
import type { Field } from './outline.ts';

/** A saved name, with the `@` before it. */
export const aliasPattern = /^@[A-Za-z0-9][\w.-]{0,31}$/;

/** An address as tables shorten it, `0x1234…cdef`, also with three dots. */
const shortened = /^(0x[0-9a-f]{4}|[1-9A-HJ-NP-Za-km-z]{4})(?:…|\.\.\.)([0-9a-z]{4})$/i;

/** Whether a saved name or a shortened address may stand in what was typed, so that what they stand for must be looked up. */
export function mentionsAlias(fields: readonly Field[], typed: Typed): boolean {
  const holdsOne = (value: Typed[string]) =>
    [value].flat().some((text) => typeof text === 'string' && /(^|,)@|…|\.\.\./.test(text));
  return fields.some((field) => field.identifier !== undefined && holdsOne(typed[field.key]));
}

/** What names and shortened addresses stand for. */
export interface KnownNames {
  /** Without the `@`. */
  aliases: Readonly<Record<string, string>>;
  /** Full addresses that begin and end so. */
  find: (part: { start: string; end: string }) => Promise<string[]>;
}

/**
 * What was typed with saved names and shortened addresses replaced by what they stand for, in the inputs that take an identifier; all else
 * as it is. Errors: `usage` for a name that is not saved, and for a shortened address that no known one or several fit.
 */
export async function resolveAliases(fields: readonly Field[], typed: Typed, known: KnownNames): Promise<Typed> {
  const resolved = { ...typed };
  for (const field of fields) {
    const value = typed[field.key];
    if (value === undefined || typeof value === 'boolean' || field.identifier === undefined) continue;
    const isCoin = (text: string) => field.identifier === 'token' && /^@\d+$/.test(text);
    const one = async (text: string) => (isCoin(text.trim()) ? text : standsFor(field.label, text.trim(), known));
    const item = async (text: string) =>
      field.kind.list ? (await Promise.all(text.split(',').map(one))).join(',') : one(text);
    resolved[field.key] = typeof value === 'string' ? await item(value) : await Promise.all(value.map(item));
  }
  return resolved;
}

async function standsFor(label: string, text: string, { aliases, find }: KnownNames): Promise<string> {
  if (text.startsWith('@')) return lookUp(label, text, aliases);
  const [, start, end] = shortened.exec(text) ?? [];
  if (start === undefined || end === undefined) return text;
  const [found, ...others] = await find({ start, end });
  if (found !== undefined && others.length === 0) return found;
  throw usageError(
    `${label} ${text}: is shortened, and ${found === undefined ? 'no known address' : 'more than one known address'} fits it`,
    'Give the whole address: --json and --plain show it.',
  );
}

function lookUp(label: string, name: string, aliases: Readonly<Record<string, string>>): string {
  const found = Object.hasOwn(aliases, name.slice(1)) ? aliases[name.slice(1)] : undefined;
  if (found !== undefined) return found;
  const near = nearest(name.slice(1), Object.keys(aliases));
  throw usageError(
    `${label} ${name}: no such alias`,
    near === undefined ? `Save it first: sotra alias set ${name} <identifier>.` : `Did you mean @${near}?`,
  );
}
