import { SotraError, usageError } from '../errors.ts';
import { readWhole } from '../files/source.ts';
import type { Io } from '../world.ts';

const maxPasswordTries = 3;

interface SealedSource {
  source: string;
  passwordFile: string | undefined;
  /** How a password is given where nobody can be asked. */
  fix: string;
  io: Io;
  /** Whether the user may be asked. */
  asks: boolean;
  note: (text: string) => void;
}

/**
 * What `open` makes of the right password: that of the file, or one typed in three tries. Errors: `signing-key` where none opens it,
 * `usage` where nobody can be asked.
 */
export async function openWithPassword<T>(
  open: (password: Uint8Array) => Promise<T | undefined>,
  { source, passwordFile, fix, io, asks, note }: SealedSource,
): Promise<T> {
  if (passwordFile !== undefined) {
    for (const password of await filePasswords(passwordFile, io)) {
      const opened = await open(password);
      password.fill(0);
      if (opened !== undefined) return opened;
    }
    throw wrongPassword(`the password in ${passwordFile} does not open ${source}`);
  }
  if (!asks) throw usageError(`${source} needs a password`, `${fix}, or run this on a terminal.`);
  for (let left = maxPasswordTries; left > 0; left -= 1) {
    const typed = await io.ask(`Password of ${source} (not shown): `, { hidden: true });
    const opened = await open(Buffer.from(typed));
    if (opened !== undefined) return opened;
    if (left > 1) note('That password does not open it.');
  }
  throw wrongPassword(`none of the typed passwords opens ${source}`);
}

function wrongPassword(message: string): SotraError {
  return new SotraError('signing-key', message, {
    hint: 'Check which password belongs to it. If it is this one, the file is damaged.',
  });
}

/** What a password file may mean, tried in this order: without the line end that editors add, and as it is. */
export async function filePasswords(file: string, io: Io): Promise<Buffer[]> {
  const bytes = await readWhole(file, io);
  if (bytes.at(-1) !== 0x0a) return [bytes];
  return [Buffer.from(bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1)), bytes];
}
