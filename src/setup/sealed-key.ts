import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { SotraError } from '../errors.ts';
import { type ScryptCost, scrypt } from '../model/scrypt.ts';
import { command } from '../model/shell.ts';
import type { World } from '../world.ts';
import { openWithPassword } from './password.ts';
import { readEnv, type StoredContext } from './settings.ts';

/** 128 MB and about half a second: it is paid by each command that sends. */
const sealCost: ScryptCost = { n: 131_072, r: 8, p: 1 };
const sealedForm = /^scrypt:(\d{1,6}):8:1:([\w-]{22}):([\w-]{16}):([\w-]{23,})$/;
const tagBytes = 16;

/** An API key sealed with a password (scrypt, AES-256-GCM), for this context and origin alone: `scrypt:N:r:p:salt:iv:key`. */
export async function sealApiKey(
  key: string,
  password: Uint8Array,
  place: { name: string; origin: string },
  cost: ScryptCost = sealCost,
): Promise<string> {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', await scrypt(password, salt, cost, 32), iv).setAAD(boundTo(place));
  const sealed = Buffer.concat([cipher.update(key, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return ['scrypt', cost.n, cost.r, cost.p, ...[salt, iv, sealed].map((bytes) => bytes.toString('base64url'))].join(
    ':',
  );
}

/**
 * The API key of a context, with the password of the file that SOTRA_PASSWORD_FILE names or one that is typed. Errors: `config` for a
 * damaged one, `usage` where nobody can be asked, `signing-key` for a wrong password.
 */
export function openApiKey(
  name: string,
  { sealedKey = '', keyOrigin = '' }: StoredContext,
  { world, asks, note }: { world: World; asks: boolean; note: (text: string) => void },
): Promise<string> {
  const source = `the API key of context ${name}`;
  const [, n, salt = '', iv = '', sealed = ''] = sealedForm.exec(sealedKey) ?? [];
  if (n === undefined || Number(n) < 2 || (Number(n) & (Number(n) - 1)) !== 0)
    throw new SotraError('config', `${source} is sealed in an unknown form`, {
      hint: command`Store it again: sotra auth login --context ${name} --store sealed.`,
    });
  const bytes = Buffer.from(sealed, 'base64url');
  const open = async (password: Uint8Array) => {
    const derived = await scrypt(password, Buffer.from(salt, 'base64url'), { n: Number(n), r: 8, p: 1 }, 32);
    const decipher = createDecipheriv('aes-256-gcm', derived, Buffer.from(iv, 'base64url'));
    decipher.setAAD(boundTo({ name, origin: keyOrigin })).setAuthTag(bytes.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString();
    } catch {
      return undefined;
    }
  };
  const passwordFile = readEnv(world.env, 'SOTRA_PASSWORD_FILE');
  const fix = 'Name the file that holds it in SOTRA_PASSWORD_FILE, set SOTRA_API_KEY';
  return openWithPassword(open, { source, passwordFile, fix, io: world.io, asks, note });
}

function boundTo({ name, origin }: { name: string; origin: string }): Buffer {
  return Buffer.from(`${name}@${origin}`);
}
