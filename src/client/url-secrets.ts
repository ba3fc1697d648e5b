import { secretParameter } from './secret-names.ts';

/** What stands for a secret that is not shown. */
export const hidden = '***';

// User and password before a host, in a plain address, in JSON with escaped slashes, and in an address inside a query.
const userInfo = /((?:\b[a-z][a-z0-9+.-]{1,20}):(?:\\?\/){2})[^\s/?#"'<>\\]{1,1024}@/gi;
const codedUserInfo = /(%3a%2f%2f)(?:(?!%2f|%3f|%23|%40)[^\s&"'<>]){1,1024}%40/gi;

// Parameters whose names say that their values let somebody in, also in an address inside a query; the address of a wallet does not.
const parameter = new RegExp(
  `((?:[?&;#]|%3f|%26|%23|\\\\u0026)${secretParameter}(?:=|%3d))(?!0x[0-9a-f]{40}\\b)(?:(?!%26|%23)[^\\s&#"'<>\\\\;]){1,4096}`,
  'gi',
);

/**
 * The text with what is secret in its addresses as three stars: user and password, and the values of parameters whose names say so. The address
 * of a wallet or token is none. Idempotent; linear in the text.
 */
export function hideUrlSecrets(text: string): string {
  if (!/[@=]|%40|%3d/i.test(text)) return text;
  return text
    .replace(userInfo, `$1${hidden}@`)
    .replace(codedUserInfo, `$1${hidden}%40`)
    .replace(parameter, `$1${hidden}`);
}
