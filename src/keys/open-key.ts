import { normalizeAddress, plainAddress } from '../api/address.ts';
import type { ChainFamily } from '../api/chain.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { readEnv } from '../lib/config/config.ts';
import { warnOfReaders } from '../lib/files/durable-file.ts';
import { readText, readWhole } from '../lib/files/source.ts';
import { mayAsk } from '../lib/output/confirm.ts';
import { type Keystore, keyFolder, openKeystore, readKeystore, readStoredKey } from './keystore.ts';
import { type KeyContent, keyError, type PrivateKey, readKeyContent, refuseKeyAsName } from './private-key.ts';
import { makeCommandSigner, makeSigner, type Signer } from './signer.ts';

export interface KeyInput {
  keyFile?: string | undefined;
  keyEnv?: string | undefined;
  keyStdin?: boolean | undefined;
  key?: string | undefined;
  passwordFile?: string | undefined;
  /** The address that must sign. */
  signer?: string | undefined;
  /** A command of the user's signs for `signer`, and no key is opened. */
  signerCommand?: string | undefined;
  /** A wallet in the browser signs, and no key is opened. */
  browser?: boolean | undefined;
  /** The key, already read: a question or a pipe gives it once. */
  read?: KeySource | undefined;
}

interface KeySource {
  content: KeyContent;
  /** For messages. */
  source: string;
}

const familyNames: Record<ChainFamily, string> = { evm: 'an EVM', solana: 'a Solana' };

/**
 * A signer for the key that the flags name; the caller wipes it. Errors: those of `openKey`; `signing-key` if the key belongs to another address
 * than expected.
 */
export async function openKeySigner(input: KeyInput, family: ChainFamily, context: Context): Promise<Signer> {
  const { signerCommand, signer: expected } = input;
  const { io, options } = context;
  if (signerCommand !== undefined && expected !== undefined)
    return makeCommandSigner(signerCommand, plainAddress(expected), { io, limitMs: options.typedTimeoutMs });
  const key = await openKey(input, family, context);
  const signer = await makeSigner(family, key.bytes).finally(() => key.bytes.fill(0));
  try {
    // Opening a keystore takes a second, in which somebody may have pressed Ctrl-C.
    if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted: nothing was signed');
    checkStatedAddress(key, signer.address);
    if (expected !== undefined && normalizeAddress(plainAddress(expected)) !== normalizeAddress(signer.address))
      throw keyError(
        `the key belongs to ${signer.address}, not to ${expected}`,
        'Give the key of that address, or omit --signer.',
      );
    return signer;
  } catch (thrown) {
    signer.wipe();
    throw thrown;
  }
}

/** Refuses a keystore that names another address than its key has. Errors: `signing-key`. */
export function checkStatedAddress({ statedAddress: stated }: PrivateKey, address: string): void {
  const plain = (text: string) => text.toLowerCase().replace(/^0x/, '');
  if (stated === undefined || stated === address || (address.startsWith('0x') && plain(stated) === plain(address)))
    return;
  throw new SotraError('signing-key', `the keystore names the address ${stated}, but its key belongs to ${address}`);
}

const sourceNames = {
  keyFile: '--key-file',
  keyEnv: '--key-env',
  keyStdin: '--key-stdin',
  key: '--key',
  signerCommand: '--signer-command',
  browser: '--browser',
  read: 'a typed key',
};

export function keySources(input: KeyInput): string[] {
  const keys = Object.keys(sourceNames) as (keyof typeof sourceNames)[];
  return keys.filter((key) => input[key] !== undefined && input[key] !== false).map((key) => sourceNames[key]);
}

const safeWays =
  'Give it with --key-file <file>, --key-env <NAME>, --key-stdin or --key <name>, or type it at the question on a terminal.';

/** Refuses no key source (`orElse`: an alternative to a key), several, or two uses of stdin. Errors: `usage`. */
export function checkKeySource(input: KeyInput, context: Context, stdinUse?: string, orElse = ''): void {
  const sources = keySources(input);
  if (sources.length > 1)
    throw usageError(`${sources.join(' and ')} cannot be used together`, 'Give the key in one way only.');
  if (sources.length === 0 && !mayAsk(context)) throw usageError('no key is given', safeWays + orElse);
  const readers = [
    input.keyStdin && '--key-stdin',
    input.keyFile === '-' && '--key-file -',
    input.passwordFile === '-' && '--password-file -',
    stdinUse,
  ].filter((use) => typeof use === 'string');
  if (readers.length > 1)
    throw usageError(`${readers.join(' and ')} cannot both read stdin`, 'Give one of them another way.');
}

/**
 * The key that the flags name, opened; `undefined` family takes any. The caller wipes it. Errors: `usage`, `signing-key` for a key that
 * does not open or is of the other family (before a password is asked for), `local-file`, `interrupted`.
 */
export async function openKey(input: KeyInput, family: ChainFamily | undefined, context: Context): Promise<PrivateKey> {
  const { content, source } = await readSource(input, family, context);
  if (input.passwordFile !== undefined) warnOfReaders(input.passwordFile, context);
  const found = content.kind === 'plain' ? content.key.family : readKeystore(content.json, source).sotra.family;
  if (family !== undefined && found !== family) {
    if (content.kind === 'plain') content.key.bytes.fill(0);
    throw keyError(
      `${source} holds ${familyNames[found]} key, the chain needs ${familyNames[family]} key`,
      'Check --chain, or give the key of the other wallet.',
    );
  }
  if (content.kind === 'plain') return content.key;
  return unseal(readKeystore(content.json, source), source, input.passwordFile, context);
}

/**
 * The address that will sign, before it does, with the input to sign with: a key that can be read once only is in it. Keystores are not
 * opened. Errors: `usage` if the address is not known; those of `openKey`.
 */
export async function findKeyAddress<Input extends KeyInput>(
  input: Input,
  context: Context,
  stdinUse?: string,
): Promise<{ address: string; input: Input }> {
  if (input.signer !== undefined) return { address: plainAddress(input.signer), input };
  checkKeySource(input, context, stdinUse);
  if (input.key !== undefined)
    return { address: readStoredKey(await keyFolder(context), input.key).stored.address, input };
  const sayAddress = 'Name the wallet: --signer <address>.';
  if (input.browser || input.signerCommand !== undefined)
    throw usageError(`${keySources(input)[0]} does not say which address signs`, sayAddress);
  const read = await readSource(input, undefined, context);
  const kept = { ...input, keyFile: undefined, keyEnv: undefined, keyStdin: undefined, read };
  const { content, source } = read;
  if (content.kind === 'plain') {
    const signer = await makeSigner(content.key.family, content.key.bytes);
    signer.wipe();
    return { address: signer.address, input: kept };
  }
  const { address, sotra } = readKeystore(content.json, source);
  if (address === undefined) throw usageError(`${source} does not say its address`, sayAddress);
  return { address: sotra.family === 'evm' ? `0x${address.replace(/^0x/, '')}` : address, input: kept };
}

async function readSource(input: KeyInput, family: ChainFamily | undefined, context: Context): Promise<KeySource> {
  const { io } = context;
  if (input.read !== undefined) return input.read;
  if (input.key !== undefined) {
    const { json } = readStoredKey(await keyFolder(context), input.key);
    return { content: { kind: 'keystore', json }, source: `key ${input.key}` };
  }
  if (input.keyFile !== undefined) {
    refuseKeyAsName('--key-file', input.keyFile);
    warnOfReaders(input.keyFile, context);
    return readContent(await readWhole(input.keyFile, io, { flag: '--key-file' }), input.keyFile);
  }
  if (input.keyEnv !== undefined)
    return readContent(readVariable(input.keyEnv, context), `the variable ${input.keyEnv}`);
  if (input.keyStdin === true) return readContent(await readWhole('-', io), 'stdin');
  return readTypedKey(await askKey(family, context));
}

/** Asks for a key; `before` is printed first. */
export function askKey(family: ChainFamily | undefined, { io }: Context, before = ''): Promise<string> {
  const what = family === undefined ? 'Private key' : `Private key of ${familyNames[family]} wallet`;
  return io.ask(`${before}${what} (not shown): `, { hidden: true });
}

export function readTypedKey(typed: string): KeySource {
  return readContent(Buffer.from(typed), 'the answer');
}

function readContent(bytes: Buffer, source: string): KeySource {
  try {
    return { content: readKeyContent(bytes, source), source };
  } finally {
    bytes.fill(0);
  }
}

function readVariable(name: string, { io }: Context): Buffer {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw usageError('--key-env: must be the name of an environment variable', 'For example: --key-env TRADER_KEY');
  const value = readEnv(io.env, name);
  if (value === undefined) throw usageError(`--key-env ${name}: that variable is not set`);
  return Buffer.from(value);
}

const maxPasswordTries = 3;

/** Opens a keystore with the password of the file, or one typed in three tries. */
async function unseal(
  keystore: Keystore,
  source: string,
  passwordFile: string | undefined,
  context: Context,
): Promise<PrivateKey> {
  const { io } = context;
  if (passwordFile !== undefined) {
    for (const text of await readPasswords(passwordFile, context)) {
      const opened = await tryPassword(keystore, text, source);
      if (opened !== undefined) return opened;
    }
    throw wrongPassword(`the password in ${passwordFile} does not open ${source}`);
  }
  if (!mayAsk(context))
    throw usageError(`${source} needs a password`, 'Give it with --password-file <file>, or run this on a terminal.');
  for (let left = maxPasswordTries; left > 0; left -= 1) {
    const typed = await io.ask(`Password of ${source} (not shown): `, { hidden: true });
    const opened = await tryPassword(keystore, typed, source);
    if (opened !== undefined) return opened;
    if (left > 1) context.note('That password does not open it.');
  }
  throw wrongPassword(`none of the typed passwords opens ${source}`);
}

/** Tries a password as it is, then composed (NFC) and decomposed (NFD): keyboards and programs differ in how they write an accent. */
async function tryPassword(keystore: Keystore, text: string, source: string): Promise<PrivateKey | undefined> {
  for (const password of new Set([text, text.normalize('NFC'), text.normalize('NFD')])) {
    const opened = await openKeystore(keystore, password, source);
    if (opened !== undefined) return { ...opened, password };
  }
  return undefined;
}

function wrongPassword(message: string): SotraError {
  return new SotraError('signing-key', message, {
    hint: 'Check which password belongs to it. If it is this one, the file is damaged.',
  });
}

/** The passwords to try from a file, in this order: without the line end that editors add, and as it is. */
async function readPasswords(file: string, { io }: Context): Promise<string[]> {
  const text = await readText(file, io);
  const line = text.replace(/\r?\n$/, '');
  return line === text ? [text] : [line, text];
}

/** The password to encrypt a key with, in NFC: from a file, or typed twice. Errors: `usage` for an empty one, or if nobody can be asked. */
export async function newPassword(file: string | undefined, context: Context): Promise<string> {
  if (file !== undefined) {
    const [password = ''] = await readPasswords(file, context);
    if (password === '')
      throw usageError(
        `${file} holds no password to encrypt with`,
        'A keystore that an empty password opens is imported with --new-password-file <file>, which holds another one.',
      );
    return password.normalize('NFC');
  }
  if (!mayAsk(context))
    throw usageError(
      'a password to encrypt the key is needed',
      'Give it with --password-file <file>, or run this on a terminal.',
    );
  const ask = async (question: string) => (await context.io.ask(question, { hidden: true })).normalize('NFC');
  const first = await ask('Password to encrypt the key with (not shown): ');
  if (first === '') throw usageError('the password is empty');
  const second = await ask('The same password again: ');
  if (first !== second) throw new SotraError('signing-key', 'the two passwords differ: nothing was stored');
  return first;
}
