import { SotraError, usageError } from '../errors.ts';
import type { Input } from './source.ts';
import { bytesOf } from './source.ts';
import { maxLineBytes } from './text-file.ts';

/** All of a file, or of stdin for `-`, which is a text, a key or a comment. Errors: `local-file`; `usage` for more than such a file can hold. */
export async function readWhole(file: string, input: Input, maxBytes = maxLineBytes): Promise<Buffer> {
  const { name, bytes } = bytesOf(file, input);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw usageError(`${name} is larger than ${maxBytes / 1024 / 1024} MB`);
  }
  return Buffer.concat(chunks);
}

/** The bytes as text, none lost or replaced. Errors: `usage` where they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SotraError('usage', `${file === '-' ? 'stdin' : file} is not UTF-8 text`, { cause });
  }
}
