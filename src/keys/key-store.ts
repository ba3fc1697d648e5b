import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SotraError, usageError } from '../errors.ts';
import { createFile, readStateFile, replaceFile } from '../files/durable-file.ts';
import { parseJson } from '../model/json.ts';
import { checksumAddress } from '../resources/comment/secp256k1.ts';
import type { Family } from '../resources/comment/swap-fields.ts';
import { familyOfKeystore, readKeystore } from './keystore.ts';

/** A key that sotra keeps, as far as it is known without the password. */
export interface KeptKey {
  name: string;
  family: Family;
  address: string;
  file: string;
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The file of a kept key. Errors: `usage` where the name could not be one. */
export function keptFile(folder: string, name: string): string {
  if (namePattern.test(name) && !name.endsWith('.json')) return join(folder, `${name}.json`);
  throw usageError(`${name}: a key's name is 1 to 64 letters, digits, dots, dashes or underscores`);
}

/** The keys in a folder, sorted by name; empty where there are none. A file that is no keystore is passed over and told. */
export function listKeys(folder: string, tell: (problem: string) => void): KeptKey[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []));
  return names.sort().flatMap((name) => {
    try {
      return [readKept(folder, name).kept];
    } catch (error) {
      if (!(error instanceof SotraError)) throw error;
      tell(error.message);
      return [];
    }
  });
}

/** One kept key with its sealed form. Errors: `usage` where there is none, naming those there are. */
export function readKept(folder: string, name: string): { kept: KeptKey; json: Record<string, unknown> } {
  const file = keptFile(folder, name);
  if (!existsSync(file)) {
    const known = existsSync(folder) ? readdirSync(folder).filter((each) => each.endsWith('.json')) : [];
    throw usageError(
      `key ${name} does not exist`,
      known.length === 0
        ? `No keys are kept. Make one: sotra key generate ${name}, or sotra key import ${name} --key-file <file>.`
        : `Known keys: ${known.map((each) => each.slice(0, -'.json'.length)).join(', ')}.`,
    );
  }
  const json = readJson(file);
  const keystore = readKeystore(json, file);
  const family = familyOfKeystore(keystore);
  const address = keystore.address ?? '';
  return {
    kept: { name, family, address: family === 'evm' ? checksumAddress(address.replace(/^0x/, '')) : address, file },
    json,
  };
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
      hint: 'Put a backup of it in its place (older ones end in .bak), or import the key again with --replace.',
      cause,
    });
  }
}

/**
 * Stores a sealed key, mode 0600, whole or not at all. Errors: `usage` where the name is taken and `replace` is not set; with it the
 * old file stays beside as a backup, whose path is given.
 */
export function storeKey(
  folder: string,
  name: string,
  sealed: object,
  { replace, nowMs }: { replace: boolean; nowMs: number },
): { file: string; backup: string | undefined } {
  const file = keptFile(folder, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode } = statSync(folder);
  // What the owner does not allow himself stays as it is.
  if ((mode & 0o077) !== 0) chmodSync(folder, mode & 0o700);
  if (existsSync(file) && !replace)
    throw usageError(
      `key ${name} exists already`,
      'Replace it with --replace (the old one is kept as a backup), or take another name.',
    );
  const backup = existsSync(file) ? `${file}.${new Date(nowMs).toISOString().replaceAll(':', '-')}.bak` : undefined;
  if (backup !== undefined) writeSecretFile(backup, readStateFile(file), { exclusive: true });
  writeSecretFile(file, `${JSON.stringify(sealed, null, 2)}\n`, { exclusive: backup === undefined });
  return { file, backup };
}

/** Removes a kept key for good. */
export function removeKey(folder: string, name: string): void {
  rmSync(keptFile(folder, name));
}

/** Writes a file that only its owner may read, whole or not at all. Errors: `local-file` naming it. */
export function writeSecretFile(file: string, text: string, { exclusive }: { exclusive: boolean }): void {
  try {
    if (!exclusive) replaceFile(file, text);
    else if (!createFile(file, text)) throw new Error('it exists already');
  } catch (cause) {
    throw new SotraError('local-file', `cannot write ${file}: ${(cause as Error).message}`, {
      hint: 'Make room, or correct the permissions of its folder.',
      cause,
    });
  }
}
