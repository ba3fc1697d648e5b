import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { draftOf, replaceFile } from '../../durable-file.ts';
import { SotraError, usageError } from '../../errors.ts';
import { written } from '../../model/quoted.ts';

/** The secrets in a file: one a line, lines that start with # and empty ones left out. Errors: `local-file` (exit 3) naming the file. */
export function readSecrets(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    // Perhaps the secret itself was given in the place of its file.
    const name = written(file);
    throw new SotraError('local-file', `the secret file ${name} cannot be read: ${why.replaceAll(file, name)}`, {
      hint: 'sotra webhook secret <uid> --out <file> writes one.',
      cause,
    });
  }
  const secrets = text.split('\n').flatMap((line) => (/^\s*(#.*)?$/.test(line) ? [] : [line.trim()]));
  if (secrets.length > 0) return secrets;
  throw new SotraError('local-file', `the secret file ${file} holds no secret`, {
    hint: 'sotra webhook secret <uid> --out <file> writes one.',
  });
}

/** Refuses a file that a secret could not be written to later, or that holds another one. Errors: `usage`. */
export function checkSecretFile(file: string): void {
  if (existsSync(file)) {
    if (readFileSync(file, 'utf8').trim() !== '')
      throw usageError(`--secret-file ${file}: exists and holds something`, 'Name a new file, or remove this one.');
    return;
  }
  const probe = draftOf(file);
  try {
    closeSync(openSync(probe, 'wx', 0o600));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw usageError(`--secret-file ${file}: cannot be written: ${why}`);
  }
  rmSync(probe);
}

/** Writes a secret to a file of mode 0600, whole and safe on disk when it returns. Errors: those of the file system. */
export function writeSecret(file: string, secret: string): void {
  replaceFile(file, `${secret}\n`);
}

/** A secret for people who look over a shoulder: its start, the rest starred. Never throws. */
export function maskSecret(secret: string): string {
  return `${secret.slice(0, secret.startsWith('whsec_') ? 8 : 2)}***`;
}
