import { hidden } from '../../client/hide-key.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { written } from '../quoted.ts';
import { warnOfReaders } from './durable-file.ts';
import { decodeText, readSmallFile } from './source.ts';

const hint = 'sotra webhook sync --url <url> --file <file> --secret-file <file> writes one.';

/** The secrets in files of the user. Warns if others may read a file. Errors: as in `readSecrets`. */
export function readOwnSecrets(files: readonly string[], context: Context): string[] {
  return files.flatMap((file) => {
    warnOfReaders(file, context);
    return readSecrets(file);
  });
}

/** The secrets in a file, one a line, without comments (#) and empty lines. Errors: `local-file` naming the file. */
export function readSecrets(file: string): string[] {
  let text: string;
  try {
    text = decodeText(readSmallFile(file), written(file));
  } catch (cause) {
    if (cause instanceof SotraError && cause.code === 'usage') throw cause;
    // Perhaps the secret itself was given instead of its file.
    const message = `the secret file ${written(file)} cannot be read: ${readMessage(cause)}`;
    throw new SotraError('local-file', message, { hint, cause });
  }
  const secrets = text.split('\n').flatMap((line) => (/^\s*(#.*)?$/.test(line) ? [] : [line.trim()]));
  if (secrets.includes(hidden))
    throw new SotraError('local-file', `the secret file ${file} holds ${hidden} instead of a secret`, { hint });
  if (secrets.length > 0) return secrets;
  throw new SotraError('local-file', `the secret file ${file} holds no secret`, { hint });
}
