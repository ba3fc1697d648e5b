/** Longest comment, in Unicode code points: what `maxLength` counts in the service's OpenAPI description. Section "Limits". */
export const maxCommentCharacters = 9999;

/** Characters of a comment as the interface counts them: Unicode code points. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
