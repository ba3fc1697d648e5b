/** Why a text cannot be stored or signed as it is; `undefined` if it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character';
  return /\p{Surrogate}/u.test(text) ? 'holds half of a character (a lone surrogate)' : undefined;
}
