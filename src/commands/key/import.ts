import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { keyFolder, nameKeyFile } from '../../keys/keystore.ts';
import { checkKeySource, type KeyInput, openKey } from '../../keys/open-key.ts';
import { warnOfReaders } from '../../lib/files/durable-file.ts';
import { showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { sealAndStore } from './seal-and-store.ts';

interface ImportInput extends KeyInput {
  name: string;
  newPasswordFile?: string | undefined;
  replace?: boolean | undefined;
}

/** Errors: `usage` for a name that is in use, before the key is read; `signing-key`, `local-file`. */
export async function importKey(input: ImportInput, context: Context): Promise<Result> {
  const { name, replace, newPasswordFile, passwordFile } = input;
  const file = nameKeyFile(await keyFolder(context), name);
  const exists = existsSync(file);
  if (exists && !replace)
    throw usageError(`key ${name} exists already`, 'Replace it with --replace, or choose another name.');
  checkKeySource(input, context);
  if (context.options.dryRun)
    return showPlan([{ action: exists ? 'replace' : 'store', what: `key ${name}`, detail: file }]);
  const key = await openKey(input, undefined, context);
  if (newPasswordFile !== undefined) warnOfReaders(newPasswordFile, context);
  return sealAndStore(key, { name, replace, passwordFile: newPasswordFile ?? passwordFile }, context);
}
