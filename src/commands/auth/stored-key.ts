import type { Context } from '../../context.ts';
import type { StoredContext } from '../../lib/config/settings.ts';

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
