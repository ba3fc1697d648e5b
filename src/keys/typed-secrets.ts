import { type SotraError, usageError } from '../errors.ts';
import { isHashOrKey } from '../model/address.ts';
import { decodeKeypair, isKeypair } from './private-key.ts';

/** What hides texts that may be private keys, typed in the wrong place. Of 64 hex digits, which may be a hash, the ends stay. */
export async function hideTyped(
  typed: readonly string[],
  { outcome, status }: Pick<SotraError, 'outcome' | 'status'>,
): Promise<(text: string) => string> {
  const bare = typed.map((token) => token.replace(/^-+/, ''));
  const tokens = bare.flatMap((token) => [
    ...[token, ...token.split(/[=,\s"'`]/)],
    ...token.split(/[/?&=#]/).map((part) => part.replaceAll(/\+|%20/g, ' ')),
  ]);
  const hidden = new Map<string, string>();
  for (const token of new Set(tokens.map((each) => each.trim()))) {
    const what = await findSecret(token);
    const isHash = isHashOrKey(token);
    const ends = `${token.slice(0, 6)}…${token.slice(-4)}`;
    // What was sent as a hash is one, and the hint of an unfinished request has to be typed with it.
    if (isHash && (outcome ?? status) !== undefined) continue;
    if (what === undefined) continue;
    // In an address a phrase has other spaces, and what was typed so is encoded once more.
    const spellings = [' ', '+', '%20'].map((space) => token.replaceAll(' ', space));
    for (const spelling of spellings.flatMap((each) => [each, encodeURIComponent(each)]))
      hidden.set(spelling, isHash ? ends : `(looks like ${what}, not shown)`);
  }
  return (text) => [...hidden].reduce((shown, [token, mark]) => withoutStart(shown, token, mark), text);
}

/** Replaces each place where the other text begins, as far as it goes: messages cut what they quote. */
function withoutStart(text: string, other: string, mark: string): string {
  const [inText, wanted] = [text.toLowerCase(), other.toLowerCase()];
  const parts: string[] = [];
  let done = 0;
  for (let at = inText.indexOf(wanted.slice(0, 16)); at !== -1; at = inText.indexOf(wanted.slice(0, 16), done)) {
    parts.push(text.slice(done, at), mark);
    done = at;
    while (done < text.length && inText[done] === wanted[done - at]) done += 1;
  }
  return parts.join('') + text.slice(done);
}

export const safeWays =
  'Give it with --key-file <file>, --key-env <NAME>, --key-stdin or --key <name>, or type it at the question on a terminal.';

/** Refuses a command line with what looks like a private key, without showing it. `--tx` may be 64 hex digits. Errors: `usage`. */
export async function refuseSecretArguments(argv: readonly string[]): Promise<void> {
  for (const [index, token] of argv.entries()) {
    const joined = /^(--[\w-]+)=(.*)/s.exec(token);
    const before = argv[index - 1] ?? '';
    const flag = joined?.[1] ?? (before.startsWith('--') && !before.includes('=') ? before : undefined);
    const value = joined?.[2] ?? token;
    if (flag === '--tx' && isHashOrKey(value)) continue;
    const parts = flag === '--signer-command' ? value.split(/[\s'"]/) : [];
    const [what] = (await Promise.all([value, ...parts].map(findSecret))).filter((found) => found !== undefined);
    // 64 zero bytes in base58 are 64 ones: an invalid signature in the form of a key.
    if (what === undefined || (flag === '--signature' && value === '1'.repeat(64))) continue;
    const where = flag ?? 'an argument';
    throw usageError(
      `${where} holds what looks like ${what} (not shown here): other processes see arguments, and the shell keeps them`,
      `${safeWays} Treat the one you typed as compromised.`,
    );
  }
}

/** What kind of secret a text looks like: `a private key`; `undefined` where it looks like none. */
export async function findSecret(value: string): Promise<string | undefined> {
  const text = value.trim();
  if (isHashOrKey(text)) return 'a private key';
  if (/^\[\s*(\d{1,3}\s*,\s*){31,63}\d{1,3}\s*\]$/.test(text)) return 'a Solana keypair';
  const bytes = readKeypair(text);
  if (bytes?.length === 64 && isKeypair(bytes)) return 'a Solana keypair';
  const words = text.split(/\s+/);
  if (![12, 15, 18, 21, 24].includes(words.length) || !words.every((word) => /^[a-z]{3,8}$/.test(word)))
    return undefined;
  const { areRecoveryWords } = await import('./signer.ts');
  return (await areRecoveryWords(words)) ? 'a recovery phrase' : undefined;
}

function readKeypair(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text.replace(/^0x/i, ''), 'hex');
  return bytes.length === 64 ? bytes : decodeKeypair(text);
}
