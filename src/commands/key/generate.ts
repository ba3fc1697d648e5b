import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { findFamily } from '../../api/chain.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { keyFolder, nameKeyFile } from '../../keys/keystore.ts';
import { checkEvmKey, type PrivateKey } from '../../keys/private-key.ts';
import { warnOfReaders } from '../../lib/files/durable-file.ts';
import { showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { sealAndStore } from './seal-and-store.ts';

interface GenerateInput {
  name: string;
  chain?: string | undefined;
  passwordFile?: string | undefined;
}

/** Errors: `usage` for a name that is in use, `local-file`. */
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
