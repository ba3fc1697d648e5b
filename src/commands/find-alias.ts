import { nearest } from '../api/nearest.ts';
import { command } from '../client/shell.ts';
import { usageError } from '../errors.ts';

/** A saved name, with its `@`. */
export const aliasPattern = /^@[A-Za-z0-9][\w.-]{0,31}$/;

type Aliases = Readonly<Record<string, string>> | undefined;

/** The identifier that an alias (with its `@`) is saved for; `undefined` for an unknown one. */
export function findAlias(name: string, aliases: Aliases = {}): string | undefined {
  return Object.hasOwn(aliases, name.slice(1)) ? aliases[name.slice(1)] : undefined;
}

/** The identifier of an alias. Errors: `usage` for an unknown one; `label` is where it was typed, such as `--token`. */
export function requireAlias(name: string, aliases: Aliases = {}, label = 'alias'): string {
  const found = findAlias(name, aliases);
  if (found !== undefined) return found;
  const near = nearest(name.slice(1), Object.keys(aliases));
  throw usageError(
    `${label} ${name}: no such alias`,
    near === undefined
      ? command`See sotra alias list, or save it: sotra alias set ${name} <identifier>.`
      : `Did you mean @${near}?`,
  );
}
