const recoveryPhrase = /^(?:[a-z]{3,8}[\s,;]+){11,23}[a-z]{3,8}$/i;

/** What a line holds that opens something, most telling first. */
const secretForms: readonly (readonly [kind: string, form: RegExp])[] = [
  ['a recovery phrase', recoveryPhrase],
  ['a Solana keypair', /(?:\d{1,3}\s*,\s*){31,63}\d{1,3}/],
  ["a webhook's secret", /\bwhsec_/],
  ['a keypair or a signature', /[0-9a-z]{80}/i],
  ['a private key', /[0-9a-z]{60}/i],
];

/** An EVM address, an external id and a name that stands for an address, as they are mistyped. */
const shownWhole = [/^(?:0x|\\x)\S{0,48}$/i, /^ext:.{0,40}$/, /^[\w.-]{1,56}\.(?:eth|sol|xyz|lens|fc)$/i];
/** Three to eight letters could be a word of a recovery phrase that stands one a line. */
const plainWord = /^(?![a-z]{3,8}$)[\p{L}_/-]{1,24}$/iu;
/** A Solana address, an EVM address without its 0x, a UUID; and keys of services, which look no different. */
const shownAtItsEnds = /^(?:[0-9a-z]{38,46}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * A wrong line of a list of addresses as a message may show it. What has the form of an address that is mistyped is quoted: with `0x` and
 * up to 48 characters, `ext:` and an id, a name such as `x.eth`, a placeholder such as `N/A`; what is as long as an address without
 * `0x`, by its first six and last four characters. Nothing else is, since it could open something: what looks like a key, a secret or a
 * recovery phrase is called that, the rest by its length. The line's number leads to it.
 */
export function quoted(text: string): string {
  if (kindOf(text) !== undefined) return written(text);
  if (plainWord.test(text) || shownWhole.some((form) => form.test(text))) return text;
  if (shownAtItsEnds.test(text)) return `${text.slice(0, 6)}…${text.slice(-4)}`;
  return text === '' ? '(empty)' : `(${text.length} characters, not shown)`;
}

/**
 * The same for the file that the user has bad lines written to, which is his alone: all is kept but what looks like a key, a secret or a
 * phrase; of long lines the start.
 */
export function written(text: string): string {
  const kind = kindOf(text);
  if (kind !== undefined) return `(looks like ${kind}, not shown)`;
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** The first names of a header as a message may show it; of what is no name, and of many, three dots stand there. */
export function quotedColumns(cells: readonly string[]): string {
  const line = cells.join(' ');
  if (recoveryPhrase.test(line)) return written(line);
  const names = cells.map((cell) => (/^[\p{L} _-]{1,24}$/u.test(cell) ? cell.trim() : '…'));
  // Five words of a recovery phrase open nothing.
  return [...names.slice(0, 5), ...(names.length > 5 ? ['…'] : [])].join(', ');
}

/** An address as a message may show it: without the name and password in front of its host. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1***@');
}

function kindOf(text: string): string | undefined {
  return secretForms.find(([, form]) => form.test(text))?.[0];
}
