import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { normalizeAddress } from '../model/address.ts';
import type { KeyInput } from '../resources/comment/params.ts';
import type { Signer } from '../resources/comment/signed.ts';
import type { Family } from '../resources/comment/swap-fields.ts';
import { plainAddress } from '../resources/comment/verify.ts';
import type { Encoding } from '../resources/comment/verify-forms.ts';
import { openKey } from './open-key.ts';
import type { PrivateKey } from './private-key.ts';

interface Wanted {
  family: Family;
  encoding?: Encoding | undefined;
  /** The address that must come out. */
  expected?: string | undefined;
}

/**
 * What `act` gives, called with a signer for the key that the flags name; the key is wiped afterwards, whatever happened. Errors: those of
 * `openKey`; `signing-key` where the key belongs to another address than expected.
 */
export async function withSigner<T>(
  input: KeyInput,
  { family, encoding = 'base58', expected }: Wanted,
  context: Context,
  act: (signer: Signer) => Promise<T>,
): Promise<T> {
  const key = await openKey(input, family, context);
  const signer = await makeSigner(family, key.bytes, encoding).finally(() => key.bytes.fill(0));
  try {
    // Opening a keystore takes a second, in which somebody may have pressed Ctrl-C.
    if (context.world.signal.aborted) throw new SotraError('interrupted', 'interrupted: nothing was signed');
    checkStatedAddress(key, signer.address);
    if (expected !== undefined && normalizeAddress(plainAddress(expected)) !== normalizeAddress(signer.address))
      throw new SotraError('signing-key', `the key is that of ${signer.address}, not of ${expected}`, {
        hint: 'Give the key of that address, or leave --signer out.',
      });
    return await act(signer);
  } finally {
    signer.forget();
  }
}

/** Refuses a keystore that names another address than its key has. Errors: `signing-key`. */
export function checkStatedAddress({ statedAddress: stated }: PrivateKey, address: string): void {
  const plain = (text: string) => text.toLowerCase().replace(/^0x/, '');
  if (stated === undefined || stated === address || (address.startsWith('0x') && plain(stated) === plain(address)))
    return;
  throw new SotraError('signing-key', `the keystore says it is of ${stated}, but its key is that of ${address}`);
}

/** A signer for 32 bytes of key, with the library of its family, loaded now. Errors: `signing-key`, without what the library says. */
export async function makeSigner(family: Family, bytes: Uint8Array, encoding: Encoding): Promise<Signer> {
  try {
    if (family === 'solana') return (await import('./solana.ts')).openSolanaSigner(bytes, encoding);
    return (await import('./evm.ts')).openEvmSigner(bytes);
  } catch {
    // What a library says of a key might show it, so nothing of it is kept.
    throw new SotraError('signing-key', 'the signing library refuses this key');
  }
}
