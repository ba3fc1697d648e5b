const recoveryPhrase = /^(?:[a-z]{3,8}[\s,;]+){11,23}[a-z]{3,8}$/i;

/** A recovery phrase, a Solana keypair as numbers, a webhook's secret, and text as long as a private key. */
const secretForms = [recoveryPhrase, /(?:\d{1,3}\s*,\s*){31,63}\d{1,3}/, /\bwhsec_/, /[0-9a-z]{60}/i];

/** Mistyped EVM addresses, external ids and names. */
const shownWhole = [/^(?:0x|\\x)\S{0,48}$/i, /^ext:.{0,40}$/, /^[\w.-]{1,56}\.(?:eth|sol|xyz|lens|fc)$/i];
/** Three to eight letters could be a word of a recovery phrase, one a line. */
const plainWord = /^(?![a-z]{3,8}$)[\p{L}_/-]{1,24}$/iu;
/** A Solana address, an EVM address without its 0x, a UUID; keys of services look the same. */
const shownAtItsEnds = /^(?:[0-9a-z]{38,46}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * A wrong line of a list of addresses, safe for a message. A mistyped address is quoted (`0x` and up to 48 characters, `ext:` and an id,
 * `x.eth`, `N/A`); text as long as an address without `0x` is shown by its first six and last four characters. Text that looks like a key, a
 * secret or a recovery phrase is only called that; the rest is described by its length.
 */
export function quoted(text: string): string {
  if (isSecret(text)) return written(text);
  if (plainWord.test(text) || shownWhole.some((form) => form.test(text))) return text;
  if (shownAtItsEnds.test(text)) return `${text.slice(0, 6)}…${text.slice(-4)}`;
  return text === '' ? '(empty)' : `(${text.length} character${text.length === 1 ? '' : 's'}, not shown)`;
}

/** The same for the user's own file of rejected lines: only secrets are hidden, and long lines cut. */
export function written(text: string): string {
  if (isSecret(text)) return '(looks like a secret, not shown)';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** The first names of a header, safe for a message. */
export function quotedColumns(cells: readonly string[]): string {
  const line = cells.join(' ');
  if (recoveryPhrase.test(line)) return written(line);
  const names = cells.map((cell) => (/^[\p{L} _-]{1,24}$/u.test(cell) ? cell.trim() : '…'));
  // Five words of a recovery phrase open nothing.
  return [...names.slice(0, 5), ...(names.length > 5 ? ['…'] : [])].join(', ');
}

function isSecret(text: string): boolean {
  return secretForms.some((form) => form.test(text));
}
