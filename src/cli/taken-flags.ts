import { type SotraError, usageError } from '../errors.ts';
import { type GlobalFlag, type GlobalOptions, globalFlags } from './globals.ts';
import type { Outline } from './outline.ts';

/** The global flags that a command takes, in the order of help. */
export function takenFlags(outline: Outline): readonly GlobalFlag[] {
  return globalFlags.filter((flag) => takes(outline, flag));
}

/** Refuses each global flag that was typed and would do nothing in this command. Errors: `usage`. */
export function refuseUnusedFlags(
  outline: Outline,
  typed: Readonly<Record<string, unknown>>,
  { dryRun, format }: Pick<GlobalOptions, 'dryRun' | 'format'>,
): void {
  // A dry run shows its own rows.
  const { uses } = outline;
  const showsRows = dryRun && uses.includes('changes');
  for (const flag of globalFlags) {
    const isTyped = typed[flag.key] !== undefined && typed[flag.key] !== false;
    if (!isTyped || takes(outline, flag) || (showsRows && flag.key === 'jq')) continue;
    throw unused(`--${flag.flag}`, outline, flag.needs?.lacking ?? '');
  }
  const isTable = format === 'csv' || format === 'tsv' || format === 'md';
  if (isTable && outline.columns.length === 0 && !showsRows)
    throw unused(`--format ${format}`, outline, 'prints no table');
}

function takes({ uses, columns, fields }: Outline, { flag, needs }: GlobalFlag): boolean {
  if (needs === undefined || fields.some((field) => !field.positional && field.flag === flag)) return true;
  return needs.anyOf.some((each) => (each === 'rows' ? columns.length > 0 : uses.includes(each)));
}

function unused(flag: string, { words }: Outline, lacking: string): SotraError {
  return usageError(`${flag} would do nothing: sotra ${words.join(' ')} ${lacking}`, 'Leave it out.');
}
