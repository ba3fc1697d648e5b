import fc from 'fast-check';
import { size } from './size.ts';

/** The seed of all random values: fixed, so that only a change makes a test fail. `npm run prove` sets a random one and prints it. */
export const seed = Number(process.env['FUZZ_SEED'] ?? 1);
fc.configureGlobal({ numRuns: size(40, 100), seed });

/** Any character but half a pair, as of `unit: 'binary'`, for which fast-check makes a table of all 1.1 million in each process. */
export const anyCharacter = fc.nat(0x10ffff - 0x800).map(
  (place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800),
  (text) => placeOf(String(text)),
);

/** Throws what is no single character, as fast-check asks of it. */
function placeOf(text: string): number {
  const code = text.codePointAt(0) ?? 0;
  if (text !== String.fromCodePoint(code) || (code >= 0xd800 && code < 0xe000)) throw new Error('no character');
  return code < 0xd800 ? code : code - 0x800;
}

export { fc };
