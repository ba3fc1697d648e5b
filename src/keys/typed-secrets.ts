import type { SotraError } from '../errors.ts';
import { isHashOrKey } from '../model/address.ts';

/** What hides texts that may be private keys, typed in the wrong place. Of 64 hex digits, which may be a hash, the ends stay. */
export async function hidingTyped(
  typed: readonly string[],
  { outcome, status }: Pick<SotraError, 'outcome' | 'status'>,
): Promise<(text: string) => string> {
  const bare = typed.map((token) => token.replace(/^-+/, ''));
  const tokens = bare.flatMap((token) => [token, token.slice(token.indexOf('=') + 1), ...token.split(/[=,\s"'`]/)]);
  const hidden = new Map<string, string>();
  for (const token of new Set(tokens.map((each) => each.trim()).filter(({ length }) => length >= minSecretLength))) {
    const { secretIn } = await import('./private-key.ts');
    const what = await secretIn(token);
    const isHash = isHashOrKey(token);
    const ends = `${token.slice(0, 6)}…${token.slice(-4)}`;
    // What was sent as a hash is one, and the hint of an unfinished request has to be typed with it.
    if (isHash && (outcome ?? status) !== undefined) continue;
    if (what !== undefined) hidden.set(token, isHash ? ends : `(looks like ${what}, not shown)`);
  }
  return (text) => [...hidden].reduce((shown, [token, mark]) => withoutStart(shown, token, mark), text);
}

/** Twelve words of three letters, with separators. */
const minSecretLength = 47;

/** Replaces each place where the other text begins, as far as it goes: messages cut what they quote. */
function withoutStart(text: string, other: string, mark: string): string {
  const [inText, wanted] = [text.toLowerCase(), other.toLowerCase()];
  const parts: string[] = [];
  let done = 0;
  for (let at = inText.indexOf(wanted.slice(0, 16)); at !== -1; at = inText.indexOf(wanted.slice(0, 16), done)) {
    parts.push(text.slice(done, at), mark);
    done = at;
    while (done < text.length && done - at < wanted.length && inText[done] === wanted[done - at]) done += 1;
  }
  return parts.join('') + text.slice(done);
}
