/**
 * Why a text is no JSON, in the words of `JSON.parse` but without the piece of the text that they quote: it may be a key in the wrong file.
 * Never throws.
 */
export function whyNotJson(cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (/^"[\s\S]*" is not valid JSON$/.test(why)) return 'not a JSON value';
  return why.replace(/^(Unexpected token '.[^,]*'), [\s\S]*$/u, '$1');
}
