import { test } from 'vitest';

/** True under `npm run prove`, which runs all of what `npm test` runs a part of. */
export const isProof = process.env['SOTRA_PROVE'] === '1';

/** How much of something a test does: the first number in `npm test`, the second in `npm run prove`. */
export const size = (short: number, whole: number): number => (isProof ? whole : short);

/** Gives one of the cases at each call, in turn; under `npm run prove` all. */
export function inTurn<T>(cases: readonly T[]): () => readonly T[] {
  let calls = 0;
  return () => {
    if (isProof) return cases;
    const at = calls % cases.length;
    calls += 1;
    return cases.slice(at, at + 1);
  };
}

/** So many of the cases, spread over all of them; under `npm run prove` all. */
export function some<T>(cases: readonly T[], count: number): readonly T[] {
  if (isProof || count >= cases.length) return cases;
  return Array.from({ length: count }, (_, index) => cases[Math.floor((index * cases.length) / count)] as T);
}

/** A test that takes long, of `npm run prove` alone. */
export const long: (name: string, run: () => void | Promise<void>) => void = isProof ? test : () => undefined;
