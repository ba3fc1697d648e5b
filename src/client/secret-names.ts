/** Names whose values let somebody in, whatever holds them: a field of JSON, a header or a parameter of an address. */
const words = [
  ...[
    'secret',
    'signature',
    'passw(?:or)?d',
    'passphrase',
    'pwd',
    'credentials?',
    'jwt',
    'hmac',
    'bearer',
    'authorization',
  ],
  '(?:api|access|private|secret)[_-]?key',
  '(?:access|api|auth|bearer|client|csrf|id|refresh|security|session|xsrf)[_-]?token',
].join('|');

/** The source of a pattern of these names, with words before them. */
export const secretName = `[\\w.%-]{0,40}?(?:${words})`;

/** The same for headers and parameters: `token`, `key` and `code` are everyday fields of JSON. */
export const secretParameter = `(?:${secretName}|[\\w.%-]{0,40}?token|(?:[\\w.%-]{0,40}?[._-])?(?:key|session|auth)|sig|pass|sid|code)`;
