import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { warnOfReaders } from '../files/durable-file.ts';
import { readWhole } from '../files/source.ts';
import { mayAsk } from '../output/confirm.ts';
import type { KeyInput } from '../resources/comment/params.ts';
import type { Family } from '../resources/comment/swap-fields.ts';
import { readEnv } from '../settings/settings.ts';
import { keyFolder } from './key-folder.ts';
import { readKept } from './key-store.ts';
import { familyOfKeystore, openKeystore, readKeystore } from './keystore.ts';
import { type KeyContent, keyError, type PrivateKey, readKeyContent } from './private-key.ts';
import { safeWays } from './secret-arguments.ts';

const wrongPassword = 'Check which password belongs to it. If it is this one, the file is damaged.';
/** How often a password may be typed. */
const passwordTries = 3;

const familyNames: Record<Family, string> = { evm: 'an EVM', solana: 'a Solana' };

/** The flags of the key sources that were used. */
export function keySources({ keyFile, keyEnv, keyStdin, key }: KeyInput): string[] {
  return [
    ...(keyFile === undefined ? [] : ['--key-file']),
    ...(keyEnv === undefined ? [] : ['--key-env']),
    ...(keyStdin === true ? ['--key-stdin'] : []),
    ...(key === undefined ? [] : ['--key']),
  ];
}

/** Refuses no source, several, or one that cannot be, before anything else happens. Errors: `usage`. */
export function checkKeySource(input: KeyInput, context: Context, stdinUse?: string): void {
  const sources = keySources(input);
  if (sources.length > 1) throw usageError(`${sources.join(' and ')} contradict each other`, 'Give the key one way.');
  if (sources.length === 0 && !mayAsk(context)) throw usageError('no key is given', safeWays);
  if (input.keyStdin === true && stdinUse !== undefined)
    throw usageError(`--key-stdin and ${stdinUse} cannot both read stdin`, 'Give the key another way.');
}

/**
 * The key that the flags name, opened; `undefined` family takes any. The caller wipes it. Errors: `usage`, `signing-key` (11) for a key that
 * does not open or is of the other family, which is said before a password is asked for; `local-file`, `interrupted`.
 */
export async function openKey(input: KeyInput, family: Family | undefined, context: Context): Promise<PrivateKey> {
  for (const file of [input.keyFile, input.passwordFile]) if (file !== undefined) warnOfReaders(file, context);
  const { content, source } = await readSource(input, family, context);
  const found = content.kind === 'plain' ? content.key.family : familyOfKeystore(readKeystore(content.json, source));
  if (family !== undefined && found !== family) {
    if (content.kind === 'plain') content.key.bytes.fill(0);
    throw keyError(
      `${source} holds ${familyNames[found]} key, the chain wants ${familyNames[family]} key`,
      'Check --chain, or give the key of the other wallet.',
    );
  }
  if (content.kind === 'plain') return content.key;
  return unseal(content.json, source, input, context);
}

interface Source {
  content: KeyContent;
  source: string;
}

async function readSource(input: KeyInput, family: Family | undefined, context: Context): Promise<Source> {
  const { world } = context;
  if (input.key !== undefined) {
    const { json } = readKept(await keyFolder(context), input.key);
    return { content: { kind: 'keystore', json }, source: `key ${input.key}` };
  }
  if (input.keyFile !== undefined) {
    return readContent(await readWhole(input.keyFile, world.io), input.keyFile);
  }
  if (input.keyEnv !== undefined) return readContent(fromEnv(input.keyEnv, context), `the variable ${input.keyEnv}`);
  if (input.keyStdin === true) return readContent(await readWhole('-', world.io), 'stdin');
  if (!mayAsk(context)) throw usageError('no key is given', safeWays);
  const what = family === undefined ? 'Private key' : `Private key of ${familyNames[family]} wallet`;
  const typed = await world.io.ask(`${what} (not shown): `, { hidden: true });
  return readContent(Buffer.from(typed), 'the answer');
}

function readContent(bytes: Buffer, source: string): Source {
  try {
    return { content: readKeyContent(bytes, source), source };
  } finally {
    bytes.fill(0);
  }
}

function fromEnv(name: string, { world }: Context): Buffer {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw usageError('--key-env: must be the name of an environment variable', 'For example: --key-env TRADER_KEY');
  const value = readEnv(world.env, name);
  if (value === undefined) throw usageError(`--key-env ${name}: that variable is not set`);
  return Buffer.from(value);
}

async function unseal(
  json: Record<string, unknown>,
  source: string,
  { passwordFile }: KeyInput,
  context: Context,
): Promise<PrivateKey> {
  const keystore = readKeystore(json, source);
  if (passwordFile !== undefined) {
    for (const password of await filePasswords(passwordFile, context)) {
      const key = await openKeystore(keystore, password, source);
      password.fill(0);
      if (key !== undefined) return key;
    }
    throw keyError(`the password in ${passwordFile} does not open ${source}`, wrongPassword);
  }
  if (!mayAsk(context))
    throw usageError(`${source} needs a password`, 'Give it with --password-file <file>, or run this on a terminal.');
  for (let left = passwordTries; left > 0; left -= 1) {
    const typed = await context.world.io.ask(`Password of ${source} (not shown): `, { hidden: true });
    const key = await openKeystore(keystore, Buffer.from(typed), source);
    if (key !== undefined) return key;
    if (left > 1) context.note('That password does not open it.');
  }
  throw keyError(`no password that was typed opens ${source}`, wrongPassword);
}

/** What a password file may mean: without the line end that editors add, and, should that not open, as it is. */
async function filePasswords(file: string, { world }: Context): Promise<Buffer[]> {
  const bytes = await readWhole(file, world.io);
  const end = bytes.at(-1) !== 0x0a ? bytes.length : bytes.at(-2) === 0x0d ? bytes.length - 2 : bytes.length - 1;
  return end === bytes.length ? [bytes] : [Buffer.from(bytes.subarray(0, end)), bytes];
}

/** The password to seal a key with: from a file, or typed twice. Errors: `usage` for an empty one, or where nobody can be asked. */
export async function newPassword(file: string | undefined, context: Context): Promise<Uint8Array> {
  if (file !== undefined) {
    const [password = Buffer.alloc(0)] = await filePasswords(file, context);
    if (password.length === 0) throw usageError(`${file} holds no password`);
    return password;
  }
  if (!mayAsk(context))
    throw usageError(
      'a password to seal the key is needed',
      'Give it with --password-file <file>, or run this on a terminal.',
    );
  const first = await context.world.io.ask('Password to seal the key with (not shown): ', { hidden: true });
  if (first === '') throw usageError('an empty password seals nothing');
  const second = await context.world.io.ask('The same password again: ', { hidden: true });
  if (first !== second) throw new SotraError('signing-key', 'the two passwords differ: nothing was stored');
  return Buffer.from(first);
}
