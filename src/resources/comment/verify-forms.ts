/** Text forms of a Solana signature; the service takes base58 (wire-facts 1, row 22). */
export const encodings = ['base58', 'base64', 'hex'] as const;
export type Encoding = (typeof encodings)[number];
