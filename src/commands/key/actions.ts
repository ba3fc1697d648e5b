import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { findFamily } from '../../api/chain.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import {
  describeStoredKey,
  keyFolder,
  listBackups,
  nameKeyFile,
  readStoredKey,
  type StoredKey,
  sealKey,
  storeKey,
  writePrivateFile,
} from '../../keys/keystore.ts';
import { checkKeySource, checkStatedAddress, type KeyInput, newPassword, openKey } from '../../keys/open-key.ts';
import { derivePublicKey, type PrivateKey } from '../../keys/private-key.ts';
import { makeSigner } from '../../keys/signer.ts';
import { warnOfReaders } from '../../lib/files/durable-file.ts';
import { confirm, confirmReplace, showPlan } from '../../lib/output/confirm.ts';
import { safeJson } from '../../lib/output/json.ts';
import type { Result } from '../../lib/output/view.ts';

interface GenerateInput {
  name: string;
  chain?: string | undefined;
  passwordFile?: string | undefined;
}

/** Errors: `usage` for a name that is in use, `local-file`. */
export async function generateKey(input: GenerateInput, context: Context): Promise<Result> {
  const { name, chain = 'ethereum', passwordFile } = input;
  const file = nameKeyFile(await keyFolder(context), name);
  if (existsSync(file)) throw usageError(`key ${name} already exists`, 'Choose another name.');
  const family = findFamily(chain);
  if (context.options.dryRun) return showPlan([{ action: 'store', what: `a new ${family} key ${name}`, detail: file }]);
  if (passwordFile !== undefined) warnOfReaders(passwordFile, context);
  const key: PrivateKey = { family, bytes: randomBytes(32) };
  const result = await sealAndStore(key, { name, passwordFile }, false, context);
  context.note(command`Back it up, and keep the password: sotra key export ${name} --out <file>`);
  return result;
}

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
    throw usageError(`key ${name} already exists`, 'Replace it with --replace, or choose another name.');
  checkKeySource(input, context, newPasswordFile === '-' ? '--new-password-file -' : undefined);
  if (context.options.dryRun)
    return showPlan([{ action: exists ? 'replace' : 'store', what: `key ${name}`, detail: file }]);
  const key = await openKey(input, undefined, context);
  if (newPasswordFile !== undefined) warnOfReaders(newPasswordFile, context);
  const password = newPasswordFile === undefined ? key.password : undefined;
  const kept = { name, passwordFile: newPasswordFile ?? passwordFile, password };
  return sealAndStore(key, kept, replace === true, context);
}

/** A stored key, as it is shown. */
export interface ShownKey extends StoredKey {
  backup?: string;
}

/** Stores a key encrypted with a password, else with a new one, and wipes it. Errors: `usage`, `signing-key`, `local-file`. */
async function sealAndStore(
  key: PrivateKey,
  { name, passwordFile, password }: Pick<ImportInput, 'name' | 'passwordFile'> & Pick<PrivateKey, 'password'>,
  replace: boolean,
  context: Context,
): Promise<Result> {
  try {
    const signer = await makeSigner(key.family, key.bytes);
    signer.wipe();
    const { address } = signer;
    checkStatedAddress(key, address);
    const newOne = password?.normalize('NFC') || (await newPassword(passwordFile, context));
    const sealed = await sealKey(key, address, newOne, context.io.scryptCost);
    const folder = await keyFolder(context);
    const { file, backup } = storeKey(folder, name, sealed, { replace, nowMs: context.io.now() });
    if (backup !== undefined) context.note(`The previous key of this name is in ${backup}.`);
    context.note('Encrypted with your password. Without the password nobody can open the key.');
    const stored: ShownKey = { name, family: key.family, address, file };
    return { kind: 'answer', answer: backup === undefined ? stored : { ...stored, backup } };
  } finally {
    key.bytes.fill(0);
  }
}

export async function removeKey(name: string, context: Context): Promise<Result> {
  const { stored } = readStoredKey(await keyFolder(context), name);
  const what = describeStoredKey(stored);
  if (context.options.dryRun) return showPlan([{ action: 'remove', what, detail: stored.file }]);
  await confirm(`remove ${what} for good`, context);
  rmSync(stored.file);
  context.note(`Removed ${what}.`);
  for (const backup of listBackups(stored.file)) context.note(`A key that it replaced is still in ${backup}.`);
  return { kind: 'none' };
}

interface ExportInput {
  name: string;
  out?: string | undefined;
  unencrypted?: boolean | undefined;
  passwordFile?: string | undefined;
}

/** The keystore of a stored key, or with `unencrypted` the key itself in a file. Errors: `usage`, `signing-key`, `local-file`. */
export async function exportKey(input: ExportInput, context: Context): Promise<Result> {
  const { name, out, unencrypted, passwordFile } = input;
  const { stored, json } = readStoredKey(await keyFolder(context), name);
  const form = unencrypted ? ', unencrypted' : '';
  if (context.options.dryRun) {
    if (out === undefined) throw usageError('--dry-run needs --out: without it nothing is written', 'Omit --dry-run.');
    return showPlan([{ action: 'write', what: `key ${name}${form}`, detail: out }]);
  }
  const sealed = `${safeJson(JSON.stringify(json, null, 2))}\n`;
  if (out === undefined) return { kind: 'text', text: sealed };
  await confirmReplace('--out', out, context);
  if (unencrypted) {
    const key = await openKey({ key: name, passwordFile }, stored.family, context);
    const plain = formatPlainKey(key);
    key.bytes.fill(0);
    writePrivateFile(out, plain, { exclusive: false });
  } else {
    writePrivateFile(out, sealed, { exclusive: false });
    if (stored.family === 'solana')
      context.note('Only sotra opens this file. For other Solana wallets, export it with --unencrypted.');
  }
  context.note(`Exported ${describeStoredKey(stored)} to ${out}${form}.`);
  return { kind: 'none' };
}

function formatPlainKey({ family, bytes }: PrivateKey): string {
  if (family === 'evm') return `0x${Buffer.from(bytes).toString('hex')}\n`;
  return `${JSON.stringify([...bytes, ...derivePublicKey(bytes)])}\n`;
}
