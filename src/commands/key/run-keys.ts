import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { warnOfReaders } from '../../files/durable-file.ts';
import {
  keyFolder,
  listKeys,
  nameKeyFile,
  openKeystore,
  readKeystore,
  readStoredKey,
  type StoredKey,
  sealKey,
  storeKey,
  writeSecretFile,
} from '../../keys/keystore.ts';
import { checkKeySource, checkStatedAddress, type KeyInput, newPassword, openKey } from '../../keys/open-key.ts';
import { checkEvmKey, derivePublicKey, type PrivateKey } from '../../keys/private-key.ts';
import { makeSigner } from '../../keys/signer.ts';
import { findFamily } from '../../model/chain.ts';
import { command } from '../../model/shell.ts';
import { column } from '../../output/columns.ts';
import { confirm, confirmReplace, showPlan } from '../../output/confirm.ts';
import { safeJson } from '../../output/json.ts';
import type { View } from '../../output/view.ts';

interface StoreInput {
  name: string;
  passwordFile?: string | undefined;
  replace?: boolean | undefined;
}

type ImportInput = StoreInput & KeyInput & { newPasswordFile?: string | undefined };

/** Errors: `usage` for a name that is taken, before the key is read; `signing-key`, `local-file`. */
export async function importKey(input: ImportInput, context: Context): Promise<Result> {
  const { name, replace } = input;
  const file = nameKeyFile(await keyFolder(context), name);
  if (existsSync(file) && !replace)
    throw usageError(`key ${name} exists already`, 'Replace it with --replace, or choose another name.');
  checkKeySource(input, context);
  if (context.options.dryRun)
    return showPlan([{ action: replace ? 'replace' : 'store', what: `key ${name}`, detail: file }]);
  const key = await openKey(input, undefined, context);
  if (input.newPasswordFile !== undefined) warnOfReaders(input.newPasswordFile, context);
  return sealAndStore(key, { name, replace, passwordFile: input.newPasswordFile ?? input.passwordFile }, context);
}

type GenerateInput = Omit<StoreInput, 'replace'> & { chain?: string | undefined };

/** Errors: `usage` for a name that is taken, `local-file`. */
export async function generateKey(input: GenerateInput, context: Context): Promise<Result> {
  const { name, chain = 'ethereum', passwordFile } = input;
  const file = nameKeyFile(await keyFolder(context), name);
  if (existsSync(file)) throw usageError(`key ${name} exists already`, 'Choose another name.');
  const family = findFamily(chain);
  if (context.options.dryRun) return showPlan([{ action: 'store', what: `a new ${family} key ${name}`, detail: file }]);
  if (passwordFile !== undefined) warnOfReaders(passwordFile, context);
  const key: PrivateKey = { family, bytes: randomBytes(32) };
  // About one in 2^128 such numbers is not an EVM key.
  if (family === 'evm') checkEvmKey(key.bytes, 'the random bytes');
  const result = await sealAndStore(key, { name, passwordFile }, context);
  context.note(command`Back it up, and keep the password: sotra key export ${name} --out <file>`);
  return result;
}

async function sealAndStore(key: PrivateKey, input: StoreInput, context: Context): Promise<Result> {
  const { name, passwordFile, replace = false } = input;
  try {
    const signer = await makeSigner(key.family, key.bytes);
    signer.wipe();
    const { address } = signer;
    checkStatedAddress(key, address);
    const password = await newPassword(passwordFile, context);
    const sealed = await sealChecked(key, address, password, context).finally(() => password.fill(0));
    const folder = await keyFolder(context);
    const { file, backup } = storeKey(folder, name, sealed, { replace, nowMs: context.io.now() });
    if (backup !== undefined) context.note(`The previous key of this name is in ${backup}.`);
    context.note('Sealed with your password: without it nobody can open the key, you included.');
    const stored: ShownKey = { name, family: key.family, address, file };
    return { kind: 'answer', answer: backup === undefined ? stored : { ...stored, backup }, view: keyView };
  } finally {
    key.bytes.fill(0);
  }
}

/** Seals and opens again, so that no key is stored that could not be opened. */
async function sealChecked(key: PrivateKey, address: string, password: Uint8Array, { io }: Context): Promise<object> {
  const sealed = await sealKey(key, address, password, io.scryptCost);
  const opened = await openKeystore(readKeystore(sealed, 'the sealed key'), password, 'the sealed key');
  const isSame = opened !== undefined && Buffer.from(opened.bytes).equals(key.bytes);
  opened?.bytes.fill(0);
  if (isSame) return sealed;
  throw new SotraError('internal', 'the sealed key does not open to the same key: nothing was stored');
}

export async function showKeys(context: Context): Promise<Result> {
  return { kind: 'answer', answer: listKeys(await keyFolder(context), context.warn), view: keyView };
}

export async function removeKey(name: string, context: Context): Promise<Result> {
  const { stored } = readStoredKey(await keyFolder(context), name);
  const what = describeStored(stored);
  if (context.options.dryRun) return showPlan([{ action: 'remove', what, detail: stored.file }]);
  await confirm(`remove ${what} for good`, context);
  rmSync(stored.file);
  context.note(`Removed ${what}.`);
  return { kind: 'none' };
}

/** A keystore need not name its address. */
function describeStored({ name, address }: StoredKey): string {
  return address === '' ? `key ${name}` : `key ${name} (${address})`;
}

interface ExportInput {
  name: string;
  out?: string | undefined;
  unencrypted?: boolean | undefined;
  passwordFile?: string | undefined;
}

/** The sealed form of a stored key, or with `unencrypted` the key itself in a file. Errors: `usage`, `signing-key`, `local-file`. */
export async function exportKey(input: ExportInput, context: Context): Promise<Result> {
  const { name, out, unencrypted, passwordFile } = input;
  if (passwordFile !== undefined && !unencrypted)
    throw usageError(
      '--password-file goes with --unencrypted: a sealed export needs no password',
      'Omit --password-file, or add --unencrypted.',
    );
  const { stored, json } = readStoredKey(await keyFolder(context), name);
  const form = unencrypted ? ', not sealed' : '';
  if (context.options.dryRun) {
    if (out === undefined) throw usageError('--dry-run: without --out nothing is written', 'Omit it.');
    return showPlan([{ action: 'write', what: `key ${name}${form}`, detail: out }]);
  }
  const sealed = `${safeJson(JSON.stringify(json, null, 2))}\n`;
  if (out === undefined && unencrypted)
    throw usageError('--unencrypted needs --out <file>: an unencrypted key never goes to the screen or a pipe');
  if (out === undefined) return { kind: 'text', text: sealed };
  await confirmReplace('--out', out, context);
  if (unencrypted) {
    const key = await openKey({ key: name, passwordFile }, stored.family, context);
    try {
      writeSecretFile(out, formatPlainKey(key), { exclusive: false });
    } finally {
      key.bytes.fill(0);
    }
  } else {
    writeSecretFile(out, sealed, { exclusive: false });
    if (stored.family === 'solana')
      context.note('A sealed Solana key opens in sotra only; for other wallets export it with --unencrypted.');
  }
  context.note(`Exported ${describeStored(stored)} to ${out}${form}.`);
  return { kind: 'none' };
}

function formatPlainKey({ family, bytes }: PrivateKey): string {
  if (family === 'evm') return `0x${Buffer.from(bytes).toString('hex')}\n`;
  return `${JSON.stringify([...bytes, ...derivePublicKey(bytes)])}\n`;
}

interface ShownKey extends StoredKey {
  backup?: string;
}

export const keyView: View<readonly ShownKey[] | ShownKey, ShownKey> = {
  layout: 'table',
  rows: (answer) => ('name' in answer ? [answer] : answer),
  columns: [
    column.text('name', 'Name', 'name of the key, for --key'),
    column.text('family', 'Kind', 'evm or solana'),
    column.address('address', 'Address', 'address that it signs as', { tone: 'strong' }),
    column.text('file', 'File', 'encrypted file that holds it', { drop: 1, cut: true }),
    column.address('backup', 'Backup', 'file of the key that it replaced', { extra: true }),
  ],
  empty: 'No keys are stored. Make one: sotra key generate <name>.',
};
