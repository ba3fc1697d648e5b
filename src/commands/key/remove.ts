import { rmSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { describeStoredKey, keyFolder, readStoredKey } from '../../keys/keystore.ts';
import { confirm, showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';

export async function removeKey(name: string, context: Context): Promise<Result> {
  const { stored } = readStoredKey(await keyFolder(context), name);
  const what = describeStoredKey(stored);
  if (context.options.dryRun) return showPlan([{ action: 'remove', what, detail: stored.file }]);
  await confirm(`remove ${what} for good`, context);
  rmSync(stored.file);
  context.note(`Removed ${what}.`);
  return { kind: 'none' };
}
