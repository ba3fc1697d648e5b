/** True under `npm run prove`, which runs all of what `npm test` runs a part of. */
const isProof = process.env['SOTRA_PROVE'] === '1';

/** How much of something a test does: the first number in `npm test`, the second in `npm run prove`. */
export const size = (short: number, whole: number): number => (isProof ? whole : short);

/** So many of the cases, spread over all of them; under `npm run prove` all. */
export function some<T>(cases: readonly T[], count: number): readonly T[] {
  if (isProof || count >= cases.length) return cases;
  return Array.from({ length: count }, (_, index) => cases[Math.floor((index * cases.length) / count)] as T);
}
