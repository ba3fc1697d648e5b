import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { keyFolder, openKeystore, readKeystore, sealKey, storeKey } from '../../keys/keystore.ts';
import { checkStatedAddress, newPassword } from '../../keys/open-key.ts';
import type { PrivateKey } from '../../keys/private-key.ts';
import { makeSigner } from '../../keys/signer.ts';
import type { Result } from '../../lib/output/result.ts';
import { keyView, type ShownKey } from './view.ts';

interface StoreInput {
  name: string;
  passwordFile?: string | undefined;
  replace?: boolean | undefined;
}

/** Stores a key encrypted with a password, and wipes it. Errors: `usage`, `signing-key`, `local-file`. */
export async function sealAndStore(key: PrivateKey, input: StoreInput, context: Context): Promise<Result> {
  const { name, passwordFile, replace = false } = input;
  try {
    const signer = await makeSigner(key.family, key.bytes);
    signer.wipe();
    const { address } = signer;
    checkStatedAddress(key, address);
    const password = await newPassword(passwordFile, context);
    const sealed = await sealChecked(key, address, password, context);
    const folder = await keyFolder(context);
    const { file, backup } = storeKey(folder, name, sealed, { replace, nowMs: context.io.now() });
    if (backup !== undefined) context.note(`The previous key of this name is in ${backup}.`);
    context.note('Encrypted with your password. Without the password nobody can open the key.');
    const stored: ShownKey = { name, family: key.family, address, file };
    return { kind: 'answer', answer: backup === undefined ? stored : { ...stored, backup }, view: keyView };
  } finally {
    key.bytes.fill(0);
  }
}

/** Seals a key and opens it again, so that every stored key can be opened. */
async function sealChecked(key: PrivateKey, address: string, password: string, { io }: Context): Promise<object> {
  const sealed = await sealKey(key, address, password, io.scryptCost);
  const opened = await openKeystore(readKeystore({ ...sealed }, 'the sealed key'), password, 'the sealed key');
  const isSame = opened !== undefined && Buffer.from(opened.bytes).equals(key.bytes);
  opened?.bytes.fill(0);
  if (isSame) return sealed;
  throw new SotraError('internal', 'the sealed key does not open to the same key: nothing was stored');
}
