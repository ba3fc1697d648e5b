import { scrypt as scryptWithCallback } from 'node:crypto';
import { loadScrypt } from '../api/keccak.ts';

export interface ScryptCost {
  n: number;
  r: number;
  p: number;
}

/** Bytes that a password and a salt make. Errors: a `RangeError` for a cost that does not fit. */
export async function scrypt(
  password: Uint8Array,
  salt: Uint8Array,
  { n, r, p }: ScryptCost,
  dklen: number,
): Promise<Buffer> {
  // OpenSSL refuses N >= 2^(16 r), which old wallets wrote (r = 1).
  if (r === 1 && n >= 65_536) {
    const scryptAsync = await loadScrypt();
    return Buffer.from(await scryptAsync(password, salt, { N: n, r, p, dkLen: dklen, maxmem: 2 * 128 * n * r }));
  }
  const maxmem = 128 * n * r + 128 * r * p + 1024 * 1024;
  return new Promise((resolve, reject) => {
    scryptWithCallback(password, salt, dklen, { N: n, r, p, maxmem }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
