import { hidden } from '../../client/hide-key.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { written } from '../quoted.ts';
import { warnOfReaders } from './durable-file.ts';
import { decodeText, readWhole } from './source.ts';

const hint = 'sotra webhook sync --url <url> --file <file> --secret-file <file> writes one.';

/**
 * The secrets in files of the user, one a line, without comments (#) and empty lines. Warns if others may read a file. Errors: `local-file` naming
 * the file; `interrupted`.
 */
export async function readOwnSecrets(files: readonly string[], context: Context): Promise<string[]> {
  const secrets: string[] = [];
  for (const file of files) {
    warnOfReaders(file, context);
    secrets.push(...(await readSecrets(file, context)));
  }
  return secrets;
}

async function readSecrets(file: string, { io }: Context): Promise<string[]> {
  let text: string;
  try {
    text = decodeText(await readWhole(file, io), written(file));
  } catch (cause) {
    if (cause instanceof SotraError && cause.code !== 'local-file') throw cause;
    // Perhaps the secret itself was given instead of its file: only the words of the system are quoted.
    const message = `the secret file ${written(file)} cannot be read: ${readMessage((cause as Error).cause)}`;
    throw new SotraError('local-file', message, { hint, cause });
  }
  const secrets = text.split('\n').flatMap((line) => (/^\s*(#.*)?$/.test(line) ? [] : [line.trim()]));
  if (secrets.includes(hidden))
    throw new SotraError('local-file', `the secret file ${file} holds ${hidden} instead of a secret`, { hint });
  if (secrets.length > 0) return secrets;
  throw new SotraError('local-file', `the secret file ${file} holds no secret`, { hint });
}
