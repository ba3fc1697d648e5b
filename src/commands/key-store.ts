import { existsSync } from 'node:fs';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { safeJson } from '../output/json.ts';
import { keyFolder } from '../resources/comment/keys/key-folder.ts';
import {
  keptFile,
  listKeys,
  readKept,
  removeKey,
  storeKey,
  writeSecretFile,
} from '../resources/comment/keys/key-store.ts';
import { openKeystore, readKeystore, sealKey } from '../resources/comment/keys/keystore.ts';
import { checkKeySource, mayAsk, newPassword, openKey } from '../resources/comment/keys/open-key.ts';
import { type PrivateKey, publicKeyOf } from '../resources/comment/keys/private-key.ts';
import { checkStatedAddress, makeSigner } from '../resources/comment/open-signer.ts';
import type { KeyInput } from '../resources/comment/params.ts';
import { keyView, type ShownKey } from './key-view.ts';

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
  const key = await openKey(input, undefined, context);
  try {
    const address = await addressOf(key);
    const password = await newPassword(input.newPasswordFile ?? input.passwordFile, context);
    const sealed = await sealChecked(key, address, password).finally(() => password.fill(0));
    const { file, backup } = storeKey(folder, input.name, sealed, { replace, nowMs: context.world.now() });
    if (backup !== undefined) context.note(`The key that had this name is now in ${backup}.`);
    context.note('The key is sealed with your password: without it, nobody can open it, and neither can you.');
    const kept: ShownKey = { name: input.name, family: key.family, address, file };
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

/** Removes a kept key after a yes. Errors: `usage` where nobody can be asked and `--yes` is not set, `interrupted` for a no. */
export async function dropKey(name: string, context: Context): Promise<Result> {
  const folder = await keyFolder(context);
  const { kept } = readKept(folder, name);
  if (!context.options.yes) {
    if (!mayAsk(context)) throw usageError(`removing key ${name} needs a yes`, 'Add --yes.');
    const question = `Remove key ${name} (${kept.address}) for good? [y/N] `;
    const answer = await context.world.io.ask(question, { hidden: false });
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new SotraError('interrupted', `key ${name} was not removed: the answer was no`);
  }
  removeKey(folder, name);
  context.note(`Key ${name} (${kept.address}) is removed.`);
  return { kind: 'none' };
}

interface ExportInput {
  name: string;
  out?: string | undefined;
  plain?: boolean | undefined;
  passwordFile?: string | undefined;
}

/** The sealed form of a kept key, or with `plain` the key itself, into a file. Errors: `usage`, `signing-key`, `local-file`. */
export async function exportKey(input: ExportInput, context: Context): Promise<Result> {
  const { kept, json } = readKept(await keyFolder(context), input.name);
  if (!input.plain) {
    const text = `${safeJson(JSON.stringify(json, null, 2))}\n`;
    if (input.out === undefined) return { kind: 'text', text };
    writeSecretFile(input.out, text, { exclusive: true });
    if (kept.family === 'solana') context.note('A sealed Solana key opens in sotra only; other wallets take --plain.');
  } else {
    if (input.out === undefined)
      throw usageError('--plain needs --out <file>: a key as it is never goes to the screen or a pipe');
    const key = await openKey({ key: input.name, passwordFile: input.passwordFile }, kept.family, context);
    try {
      writeSecretFile(input.out, plainText(key), { exclusive: true });
    } finally {
      key.bytes.fill(0);
    }
  }
  context.note(`Key ${input.name} (${kept.address}) is in ${input.out}${input.plain ? ', not sealed' : ''}.`);
  return { kind: 'none' };
}

function plainText({ family, bytes }: PrivateKey): string {
  if (family === 'evm') return `0x${Buffer.from(bytes).toString('hex')}\n`;
  return `${JSON.stringify([...bytes, ...publicKeyOf(bytes)])}\n`;
}
