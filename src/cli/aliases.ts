import { usageError } from '../errors.ts';
import { nearest, type Typed } from './flags.ts';
import type { Field } from './outline.ts';

/** A saved name, with the `@` before it. */
export const aliasPattern = /^@[A-Za-z0-9][\w.-]{0,31}$/;

/** Whether a saved name may stand in what was typed, so that the settings must be read. Never throws. */
export function mentionsAlias(fields: readonly Field[], typed: Typed): boolean {
  const holdsOne = (value: Typed[string]) =>
    [value].flat().some((text) => typeof text === 'string' && /(^|,)@/.test(text));
  return fields.some((field) => field.identifier === true && holdsOne(typed[field.key]));
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
    if (value === undefined || typeof value === 'boolean' || field.identifier !== true) continue;
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
