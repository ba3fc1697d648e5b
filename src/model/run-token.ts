import { randomBytes } from 'node:crypto';

/** A secret of one run, which nobody can guess: for the address of a page or a header. */
export function newRunToken(): string {
  return randomBytes(24).toString('base64url');
}
