import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { decodeUtf8, readWhole } from '../../files/source.ts';
import { parseJson } from '../../model/json.ts';
import { readSigned, type SignedComment } from './signed.ts';

/** The signed comment in a file that `comment sign --out` wrote, its signature not yet checked. Errors: `local-file`, `usage`. */
export async function readSignedFile(file: string, { world }: Context): Promise<SignedComment> {
  const text = decodeUtf8(await readWhole(file, world.io), file).replace(/^\uFEFF/, '');
  const name = file === '-' ? 'stdin' : file;
  const value = parse(text);
  if (value === undefined) {
    if (text.trim().split('\n').length > 1 && parse(text.trim().split('\n')[0] ?? '') !== undefined)
      throw usageError(`${name} holds several comments`, `Post them with --file ${file}.`);
    throw usageError(`${name} is not JSON`, 'It is written by sotra comment sign --out <file>.');
  }
  const read = readSigned(value);
  if (read.ok) return read.signed;
  throw new SotraError('usage', `${name} is not a signed comment: ${read.problem}`, {
    hint: 'It is written by sotra comment sign --out <file>.',
  });
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
