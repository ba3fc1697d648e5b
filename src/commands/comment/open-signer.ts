import type { Context } from '../../context.ts';
import { openKeySigner } from '../../keys/open-key.ts';
import { makeSignedComment } from './signed.ts';
import type { CommentSigner, Signing } from './signing.ts';

/** A signer, which the caller closes. Errors: those of `openKeySigner` and `openBrowserWallet`. */
export async function openSigner(signing: Signing, context: Context): Promise<CommentSigner> {
  const { way, family, form } = signing;
  if (way.browser) return (await import('./browser-wallet.ts')).openBrowserWallet(signing, context);
  const signer = await openKeySigner(way, { family, expected: way.signer }, context);
  return {
    address: signer.address,
    sign: (fields) => makeSignedComment(fields, form, signer),
    show: () => undefined,
    close: async () => signer.wipe(),
  };
}

/** The result of `act`, called with a signer that is closed afterwards. Errors: those of `openSigner` and `act`. */
export async function withSigner<T>(
  signing: Signing,
  context: Context,
  act: (signer: CommentSigner) => Promise<T>,
): Promise<T> {
  const signer = await openSigner(signing, context);
  try {
    const made = await act(signer);
    await signer.close();
    return made;
  } catch (thrown) {
    await signer.close(thrown);
    throw thrown;
  }
}
