import type { Context } from '../../context.ts';
import { toSotraError, usageError } from '../../errors.ts';
import {
  findContext,
  presets,
  readKeyOrigin,
  type StoredContext,
  type StoredSettings,
} from '../../lib/config/settings.ts';
import { confirm, showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import type { Command } from '../command.ts';
import { nameParam } from './entry.ts';

export function addRemove(context: Command): void {
  context
    .command('remove')
    .summary('Remove a context and its API key')
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .params({ name: nameParam })
    .example('context remove staging --yes', 'without asking')
    .changes()
    .run(({ name }, given) => removeContext(name, given));
}

async function removeContext(name: string, context: Context): Promise<Result> {
  const store = await context.config.settings();
  const before = store.read();
  const after = withoutContext(name, before);
  const own = before.contexts[name] ?? {};
  const what = `context ${name}${readKeyOrigin(own) === undefined ? '' : ' and its key'}`;
  if (context.options.dryRun) return showPlan([{ action: 'remove', what, detail: store.path }]);
  await confirm(`remove ${what}`, context);
  await removeFromKeychain(name, own, context);
  await store.update(context.io, (now) => withoutContext(name, now));
  context.note(`Removed ${what}${Object.hasOwn(presets, name) ? '; the preset of this name stays' : ''}.`);
  if (before.current === name && after.current === undefined)
    context.note('There is no current context now. Choose one: sotra context use <name>.');
  return { kind: 'none' };
}

/** Errors: `usage` if nothing is stored under the name. */
function withoutContext(name: string, stored: StoredSettings): StoredSettings {
  if (!Object.hasOwn(stored.contexts, name)) {
    findContext(name, stored);
    throw usageError(`context ${name} is built in and has nothing stored`);
  }
  const { [name]: _, ...others } = stored.contexts;
  const { current, ...rest } = stored;
  return { ...rest, ...(current === undefined || current === name ? {} : { current }), contexts: others };
}

async function removeFromKeychain(
  name: string,
  { keyStore, keyOrigin }: StoredContext,
  context: Context,
): Promise<void> {
  if (keyStore !== 'keychain' || keyOrigin === undefined) return;
  try {
    const { deleteKeychain } = await import('../../lib/config/keychain.ts');
    await deleteKeychain({ name, baseUrl: keyOrigin }, context);
  } catch (error) {
    context.warn(`its key is still in the keychain: ${toSotraError(error).message}`);
  }
}
