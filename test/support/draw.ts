import fc from 'fast-check';
import { size } from './size.ts';

// The suite draws the same values each time, so that it tells what a change did; FUZZ_SEED=new draws others, FUZZ_SEED=123 those of a failure.
const given = process.env['FUZZ_SEED'];
export const randomSeed = () => Math.floor(Math.random() * 2 ** 31);
export const chooseSeed = (usual: number) => (given === 'new' ? randomSeed() : Number(given ?? usual));
fc.configureGlobal({ numRuns: size(40, 100), seed: chooseSeed(1) });

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
