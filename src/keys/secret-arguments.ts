import { usageError } from '../errors.ts';
import { decodeBase58 } from '../model/address.ts';
import { isKeypair } from './private-key.ts';

/** The safe ways to give a key. */
export const safeWays =
  'Give it with --key-file <file>, --key-env <NAME>, --key-stdin or --key <name>, or type it at the question on a terminal.';

/**
 * Refuses a command line that holds what looks like a private key, without showing it: arguments are seen by every process and kept by the
 * shell. `--tx` may be 64 hex digits. Errors: `usage`.
 */
export async function refuseSecretArguments(argv: readonly string[]): Promise<void> {
  for (const [index, token] of argv.entries()) {
    const joined = /^(--[\w-]+)=([\s\S]*)$/.exec(token);
    const before = argv[index - 1] ?? '';
    const flag = joined?.[1] ?? (before.startsWith('--') && !before.includes('=') ? before : undefined);
    const value = joined?.[2] ?? token;
    if (flag === '--tx' && /^(0x)?[0-9a-f]{64}$/i.test(value)) continue;
    const what = await secretIn(value);
    // 64 zero bytes in base58 are 64 digits: a bad signature, and the form of a key.
    if (what === undefined || (flag === '--signature' && value === '1'.repeat(64))) continue;
    const where = flag ?? 'an argument';
    throw usageError(
      `${where} holds what looks like ${what} (not shown here): arguments are seen by other processes and kept by the shell`,
      `${safeWays} Treat the one you typed as known to others.`,
    );
  }
}

/** What kind of secret a text looks like: `a private key`; `undefined` where it looks like none. */
export async function secretIn(value: string): Promise<string | undefined> {
  const text = value.trim();
  if (/^(0x)?[0-9a-f]{64}$/i.test(text)) return 'a private key';
  if (isByteList(text)) return 'a Solana keypair';
  const bytes = /^(0x)?[0-9a-f]{128}$/i.test(text)
    ? Buffer.from(text.replace(/^0x/i, ''), 'hex')
    : text.length >= 86 && text.length <= 90
      ? decodeBase58(text)
      : undefined;
  if (bytes?.length === 64 && isKeypair(bytes)) return 'a Solana keypair';
  const words = text.split(/\s+/);
  if (![12, 15, 18, 21, 24].includes(words.length) || !words.every((word) => /^[a-z]{3,8}$/.test(word)))
    return undefined;
  return (await import('./evm.ts')).areRecoveryWords(words) ? 'a recovery phrase' : undefined;
}

function isByteList(text: string): boolean {
  return /^\[\s*(\d{1,3}\s*,\s*){31,63}\d{1,3}\s*\]$/.test(text);
}
