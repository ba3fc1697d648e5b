import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { createFile, readStateFile, replaceFile } from '../files/durable-file.ts';
import type { ChainFamily } from '../model/chain.ts';
import { parseJson } from '../model/json.ts';
import { checksumAddress } from '../model/keccak.ts';
import { readKeystore } from './keystore.ts';

/** A stored key, as far as it is known without the password. */
export interface StoredKey {
  name: string;
  family: ChainFamily;
  address: string;
  file: string;
}

/** The folder of the stored keys, beside the settings. */
export async function keyFolder({ store }: Pick<Context, 'store'>): Promise<string> {
  return join((await store()).path, '..', 'keys');
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The file of a stored key. Errors: `usage` for an invalid name. */
export function keyFileOf(folder: string, name: string): string {
  if (namePattern.test(name) && !name.endsWith('.json')) return join(folder, `${name}.json`);
  throw usageError(`${name}: a key's name is 1 to 64 letters, digits, dots, dashes or underscores`);
}

/** The stored keys, sorted by name; may be empty. A file that is not a keystore is skipped with a warning. */
export function listKeys(folder: string, warn: (problem: string) => void): StoredKey[] {
  return keyNames(folder).flatMap((name) => {
    try {
      return [readStoredKey(folder, name).stored];
    } catch (error) {
      if (!(error instanceof SotraError)) throw error;
      warn(error.message);
      return [];
    }
  });
}

function keyNames(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => file.slice(0, -'.json'.length)).sort();
}

/** One stored key with its sealed form. Errors: `usage` where there is none, naming those there are; `local-file`, `signing-key`. */
export function readStoredKey(folder: string, name: string): { stored: StoredKey; json: Record<string, unknown> } {
  const file = keyFileOf(folder, name);
  if (!existsSync(file)) {
    const known = keyNames(folder);
    const hint = `No keys are stored. Make one: sotra key generate ${name}, or sotra key import ${name} --key-file <file>.`;
    throw usageError(`key ${name} does not exist`, known.length === 0 ? hint : `Known keys: ${known.join(', ')}.`);
  }
  const json = readJson(file);
  const { address = '', sotra } = readKeystore(json, file);
  const shown = sotra.family === 'evm' ? checksumAddress(address.replace(/^0x/, '')) : address;
  return { stored: { name, family: sotra.family, address: shown, file }, json };
}

function readJson(file: string): Record<string, unknown> {
  try {
    const json: unknown = parseJson(readStateFile(file));
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>;
    throw new Error('it is not an object');
  } catch (cause) {
    // The parser's words would show what the file holds.
    const why = cause instanceof SyntaxError ? 'it is not JSON' : (cause as Error).message;
    throw new SotraError('local-file', `cannot read the key in ${file}: ${why}`, {
      hint: 'Restore a backup of it (replaced keys end in .bak), or import the key again with --replace.',
      cause,
    });
  }
}

/**
 * Stores a sealed key, mode 0600, completely or not at all. With `replace` a file of this name stays beside it as a backup, whose path is
 * returned; without, it is an error: `usage`.
 */
export function storeKey(
  folder: string,
  name: string,
  sealed: object,
  { replace, nowMs }: { replace: boolean; nowMs: number },
): { file: string; backup: string | undefined } {
  const file = keyFileOf(folder, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode } = statSync(folder);
  // Takes permissions away from others; gives the owner none.
  if ((mode & 0o077) !== 0) chmodSync(folder, mode & 0o700);
  if (existsSync(file) && !replace)
    throw usageError(
      `key ${name} exists already`,
      'Replace it with --replace (the old one is kept as a backup), or choose another name.',
    );
  const backup = existsSync(file) ? `${file}.${new Date(nowMs).toISOString().replaceAll(':', '-')}.bak` : undefined;
  if (backup !== undefined) writeSecretFile(backup, readStateFile(file), { exclusive: true });
  writeSecretFile(file, `${JSON.stringify(sealed, null, 2)}\n`, { exclusive: backup === undefined });
  return { file, backup };
}

/** Writes a file that only its owner may read, completely or not at all. Errors: `local-file` naming it. */
export function writeSecretFile(file: string, text: string, { exclusive }: { exclusive: boolean }): void {
  try {
    if (!exclusive) replaceFile(file, text);
    else if (!createFile(file, text)) throw new Error('it exists already');
  } catch (cause) {
    throw new SotraError('local-file', `cannot write ${file}: ${(cause as Error).message}`, {
      hint: 'Free some disk space, or correct the permissions of its folder.',
      cause,
    });
  }
}
