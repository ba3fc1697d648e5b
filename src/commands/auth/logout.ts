import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import {
  chosenContext,
  findContext,
  readEnv,
  readKeyOrigin,
  type StoredContext,
  type StoredSettings,
} from '../../lib/config/settings.ts';
import { confirm, showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';

/** Errors: `usage` if no context is chosen or the answer is no; `config` if the keychain refuses. */
export async function logOut(context: Context): Promise<Result> {
  const { options, io, note, warn } = context;
  const store = await context.config.settings();
  const stored = store.read();
  const name = chosenContext(options, io.env, stored);
  if (name === undefined)
    throw usageError('no context is chosen', 'Name one with --context; sotra context list shows them.');
  const before = findContext(name, stored);
  if (readKeyOrigin(before) === undefined) note(`Context ${name} has no stored key.`);
  else {
    const place = before.keyStore === 'keychain' ? 'the keychain' : store.path;
    if (options.dryRun) return showPlan([{ action: 'remove', what: `API key of context ${name}`, detail: place }]);
    await confirm(`remove the API key of context ${name}`, context);
    await removeFromKeychain(name, before, {}, context);
    await store.update(io, (now) => forgetKey(name, now));
    if (before.keyStore !== 'keychain') note(`Removed the key of context ${name} from ${store.path}.`);
  }
  if (readEnv(io.env, 'SOTRA_API_KEY') !== undefined) warn('SOTRA_API_KEY is still set and is used');
  return { kind: 'none' };
}

/** A preset with nothing else stored is no longer stored at all. */
function forgetKey(name: string, now: StoredSettings): StoredSettings {
  const { [name]: own = {}, ...others } = now.contexts;
  const kept = withoutKey(own);
  return { ...now, contexts: { ...others, ...(Object.keys(kept).length === 0 ? {} : { [name]: kept }) } };
}

export function withoutKey({ apiKey: _, keyStore, keyOrigin, keySuffix, ...kept }: StoredContext): StoredContext {
  return kept;
}

/** Removes the key of `before` from the keychain, unless `after` still uses it. Errors: `config` if the keychain refuses. */
export async function removeFromKeychain(
  name: string,
  before: StoredContext,
  after: StoredContext,
  context: Context,
): Promise<void> {
  if (before.keyStore !== 'keychain' || before.keyOrigin === undefined) return;
  if (after.keyStore === 'keychain' && after.keyOrigin === before.keyOrigin) return;
  const { deleteKeychain } = await import('../../lib/config/keychain.ts');
  await deleteKeychain({ name, baseUrl: before.keyOrigin }, context);
  context.note(`Removed the key ...${before.keySuffix ?? ''} for ${before.keyOrigin} from the keychain.`);
}
