import { usageError } from '../errors.ts';
import { type Field, nearest, type Typed } from './flags.ts';

/** A saved name, with the `@` before it. */
export const aliasPattern = /^@[A-Za-z0-9][\w.-]{0,31}$/;

const anAddress = '0x0000000000000000000000000000000000000001';

/** Whether an input takes an address or another identifier, and so a saved name in its place. Never throws. */
export function takesIdentifier({ kind, param }: Field): boolean {
  if (kind.type !== 'text') return false;
  const takes = (text: string) => param.schema.safeParse(kind.list ? [text] : text).success;
  return takes(anAddress) && !takes('@name');
}

/** Whether a saved name may stand in what was typed, so that the settings must be read. Never throws. */
export function mentionsAlias(fields: readonly Field[], typed: Typed): boolean {
  const holdsOne = (value: Typed[string]) =>
    [value].flat().some((text) => typeof text === 'string' && /(^|,)@/.test(text));
  return fields.some((field) => holdsOne(typed[field.key]) && takesIdentifier(field));
}

/**
 * What was typed with saved names replaced by what they stand for, in the inputs that take an identifier; all else as it is. `aliases` are
 * without the `@`. Errors: `usage` for a name that is not saved.
 */
export function resolveAliases(
  fields: readonly Field[],
  typed: Typed,
  aliases: Readonly<Record<string, string>>,
): Typed {
  const resolved = { ...typed };
  for (const field of fields) {
    const value = typed[field.key];
    if (value === undefined || typeof value === 'boolean' || !takesIdentifier(field)) continue;
    const one = (text: string) => (text.startsWith('@') ? lookUp(field.label, text, aliases) : text);
    const item = (text: string) => (field.kind.list ? text.split(',').map(one).join(',') : one(text));
    resolved[field.key] = typeof value === 'string' ? item(value) : value.map(item);
  }
  return resolved;
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
