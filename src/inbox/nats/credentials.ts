import { readMessage, SotraError } from '../../errors.ts';
import { readSmallFile } from '../../files/source.ts';

/** Who a connection is for: the text of a credentials file as `nsc` writes it, or what stands in lines `user:`, `password:` and `token:`. */
export type Credentials = { creds: Uint8Array } | { user: string; password: string } | { token: string };

/** Reads a credentials file. Errors: `config` naming the file and what it lacks, never what it holds. */
export function readCredentials(file: string): Credentials {
  const refuse = (why: string, hint: string, cause?: unknown) =>
    new SotraError('config', `the credentials of the inbox, ${file}: ${why}`, { hint, cause });
  let bytes: Buffer;
  try {
    bytes = readSmallFile(file);
  } catch (cause) {
    const hint = 'Name the file with --inbox-creds or SOTRA_NATS_CREDS.';
    throw refuse(readMessage(cause).replace(`, open '${file}'`, ''), hint, cause);
  }
  if (bytes.includes('-----BEGIN')) return { creds: bytes };
  const hint = 'Write two lines, user: <name> and password: <password>, or one, token: <token>; or nsc generate creds.';
  const values = new Map<string, string>();
  for (const [index, line] of bytes.toString().split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const [, name = '', text = ''] = /^\s*(user|password|token)\s*:(.*)$/.exec(line) ?? [];
    const value = text.trim();
    if (name === '') throw refuse(`line ${index + 1} is not a user:, password: or token: line`, hint);
    if (value === '' || values.has(name))
      throw refuse(`line ${index + 1}: ${name}: ${value === '' ? 'is empty' : 'is given twice'}`, hint);
    values.set(name, value);
  }
  const [user, password, token] = ['user', 'password', 'token'].map((name) => values.get(name));
  if (token !== undefined && values.size === 1) return { token };
  if (token !== undefined) throw refuse('holds a token beside a user or a password', hint);
  if (user !== undefined && password !== undefined) return { user, password };
  throw refuse(values.size === 0 ? 'is empty' : user === undefined ? 'holds no user' : 'holds no password', hint);
}
