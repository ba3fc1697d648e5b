import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { warnOfReaders } from '../files/durable-file.ts';
import { confirm, confirmReplace } from '../output/confirm.ts';
import { showPlan } from '../output/dry-run.ts';
import { safeJson } from '../output/json.ts';
import type { KeyInput } from '../resources/comment/params.ts';
import { familyOf } from '../resources/comment/swap-fields.ts';
import { keyFolder } from './key-folder.ts';
import { keptFile, listKeys, readKept, removeKey, storeKey, writeSecretFile } from './key-store.ts';
import { openKeystore, readKeystore, sealKey } from './keystore.ts';
import { checkKeySource, newPassword, openKey } from './open-key.ts';
import { checkStatedAddress, makeSigner } from './open-signer.ts';
import { checkEvmKey, type PrivateKey, publicKeyOf } from './private-key.ts';
import { keyView, type ShownKey } from './view.ts';

interface ImportInput extends KeyInput {
  name: string;
  newPasswordFile?: string | undefined;
  replace?: boolean | undefined;
}

/** Seals a key and keeps it. Errors: `usage` for a name that is taken, before the key is read; `signing-key`, `local-file`. */
export async function importKey(input: ImportInput, context: Context): Promise<Result> {
  const folder = await keyFolder(context);
  const replace = input.replace === true;
  if (existsSync(keptFile(folder, input.name)) && !replace)
    throw usageError(`key ${input.name} exists already`, 'Replace it with --replace, or take another name.');
  checkKeySource(input, context);
  if (context.options.dryRun)
    return showPlan([
      { action: replace ? 'replace' : 'store', what: `key ${input.name}`, detail: keptFile(folder, input.name) },
    ]);
  const key = await openKey(input, undefined, context);
  if (input.newPasswordFile !== undefined) warnOfReaders(input.newPasswordFile, context);
  return keep(key, { name: input.name, replace, passwordFile: input.newPasswordFile ?? input.passwordFile }, context);
}

interface GenerateInput {
  name: string;
  chain?: string | undefined;
  passwordFile?: string | undefined;
}

/** Makes a new key, seals and keeps it; with `--dry-run` says what it would be. Errors: `usage` for a name that is taken, `local-file`. */
export async function generateKey(
  { name, chain = 'ethereum', passwordFile }: GenerateInput,
  context: Context,
): Promise<Result> {
  const file = keptFile(await keyFolder(context), name);
  if (existsSync(file)) throw usageError(`key ${name} exists already`, 'Take another name.');
  const family = familyOf(chain);
  if (context.options.dryRun) return showPlan([{ action: 'store', what: `a new ${family} key ${name}`, detail: file }]);
  if (passwordFile !== undefined) warnOfReaders(passwordFile, context);
  const key: PrivateKey = { family, bytes: randomBytes(32) };
  // Of 2^128 such numbers one or so is no key of EVM.
  if (family === 'evm') checkEvmKey(key.bytes, 'the random bytes');
  const kept = await keep(key, { name, replace: false, passwordFile }, context);
  context.note(`Keep a copy of it, and the password: sotra key export ${name} --out <file>`);
  return kept;
}

/** Wipes the key when it is kept, or cannot be. */
async function keep(
  key: PrivateKey,
  { name, replace, passwordFile }: { name: string; replace: boolean; passwordFile: string | undefined },
  context: Context,
): Promise<Result> {
  try {
    const address = await addressOf(key);
    const password = await newPassword(passwordFile, context);
    const sealed = await sealChecked(key, address, password).finally(() => password.fill(0));
    const folder = await keyFolder(context);
    const { file, backup } = storeKey(folder, name, sealed, { replace, nowMs: context.world.now() });
    if (backup !== undefined) context.note(`The key that had this name is now in ${backup}.`);
    context.note('The key is sealed with your password: without it, nobody can open it, and neither can you.');
    const kept: ShownKey = { name, family: key.family, address, file };
    return { kind: 'answer', answer: backup === undefined ? kept : { ...kept, backup }, view: keyView };
  } finally {
    key.bytes.fill(0);
  }
}

async function addressOf(key: PrivateKey): Promise<string> {
  const signer = await makeSigner(key.family, key.bytes, 'base58');
  signer.forget();
  checkStatedAddress(key, signer.address);
  return signer.address;
}

/** Seals and opens again, so that no key is kept that could not be opened. */
async function sealChecked(key: PrivateKey, address: string, password: Uint8Array): Promise<object> {
  const sealed = await sealKey(key, address, password);
  const keystore = readKeystore({ ...sealed }, 'the sealed key');
  const opened = await openKeystore(keystore, password, 'the sealed key');
  const isSame = opened !== undefined && Buffer.from(opened.bytes).equals(key.bytes);
  opened?.bytes.fill(0);
  if (isSame) return sealed;
  throw new SotraError('internal', 'the sealed key does not open to the same key: nothing was stored');
}

/** Every kept key, sorted by name; may be empty. */
export async function showKeys(context: Context): Promise<Result> {
  return { kind: 'answer', answer: listKeys(await keyFolder(context), context.warn), view: keyView };
}

/** Removes a kept key after a yes. Errors: those of `confirm`. */
export async function dropKey(name: string, context: Context): Promise<Result> {
  const folder = await keyFolder(context);
  const { kept } = readKept(folder, name);
  const what = `key ${name} (${kept.address})`;
  if (context.options.dryRun) return showPlan([{ action: 'remove', what, detail: kept.file }]);
  await confirm(`remove ${what} for good`, context);
  removeKey(folder, name);
  context.note(`Key ${name} (${kept.address}) is removed.`);
  return { kind: 'none' };
}

interface ExportInput {
  name: string;
  out?: string | undefined;
  unencrypted?: boolean | undefined;
  passwordFile?: string | undefined;
}

/** The sealed form of a kept key, or with `unencrypted` the key itself, into a file. Errors: `usage`, `signing-key`, `local-file`. */
export async function exportKey(input: ExportInput, context: Context): Promise<Result> {
  const { kept, json } = readKept(await keyFolder(context), input.name);
  if (context.options.dryRun) {
    if (input.out === undefined) throw usageError('--dry-run: without --out nothing is written', 'Leave it out.');
    return showPlan([
      { action: 'write', what: `key ${input.name}${input.unencrypted ? ', not sealed' : ''}`, detail: input.out },
    ]);
  }
  if (!input.unencrypted) {
    const text = `${safeJson(JSON.stringify(json, null, 2))}\n`;
    if (input.out === undefined) return { kind: 'text', text };
    await confirmReplace('--out', input.out, context);
    writeSecretFile(input.out, text, { exclusive: false });
    if (kept.family === 'solana')
      context.note('A sealed Solana key opens in sotra only; other wallets take --unencrypted.');
  } else {
    if (input.out === undefined)
      throw usageError('--unencrypted needs --out <file>: a key as it is never goes to the screen or a pipe');
    await confirmReplace('--out', input.out, context);
    const key = await openKey({ key: input.name, passwordFile: input.passwordFile }, kept.family, context);
    try {
      writeSecretFile(input.out, plainText(key), { exclusive: false });
    } finally {
      key.bytes.fill(0);
    }
  }
  context.note(`Key ${input.name} (${kept.address}) is in ${input.out}${input.unencrypted ? ', not sealed' : ''}.`);
  return { kind: 'none' };
}

function plainText({ family, bytes }: PrivateKey): string {
  if (family === 'evm') return `0x${Buffer.from(bytes).toString('hex')}\n`;
  return `${JSON.stringify([...bytes, ...publicKeyOf(bytes)])}\n`;
}
