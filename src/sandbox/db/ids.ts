import { createRequire } from 'node:module';

// Loaded when the first id is made: most answers make none, and it takes 4 ms.
const load = createRequire(import.meta.url);
const hash = (algorithm: 'md5' | 'sha1', text: string): string =>
  (load('node:crypto') as typeof import('node:crypto')).hash(algorithm, text);

/** A UUID that is always the same for the same text, so that a world made twice has the same identifiers. */
export function uuidOf(text: string): string {
  const hex = hash('sha1', text);
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}

/** How many hex digits a digest has. */
export const digestDigits = 32;

/** Hex digits that stand for a text in a unique index. */
export function digestOf(text: string): string {
  return hash('md5', text);
}

/** The profile id of a wallet that nobody has grouped with others. */
export function profileIdOf(address: string): string {
  return uuidOf(`profile:${address}`);
}
