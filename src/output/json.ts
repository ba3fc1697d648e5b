// Past this depth lines are not indented further, so that a deeply nested answer stays linear in size.
const deepest = 100;
const quote = 0x22;
const backslash = 0x5c;

/**
 * JSON text indented by two spaces, every number, string and key exactly as it was: integers above 2^53, `1.0` and
 * repeated keys survive. The layout of JSON.stringify(value, null, 2), without a newline at the end. Takes valid JSON
 * text; never throws.
 */
export function indentJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  const newline = () => `\n${'  '.repeat(Math.min(depth, deepest))}`;
  let previous = '';
  for (const token of jsonTokens(text)) {
    if (token === '}' || token === ']') {
      depth -= 1;
      if (previous !== '{' && previous !== '[') out.push(newline());
    } else if (previous === '{' || previous === '[' || previous === ',') {
      out.push(newline());
    }
    if (token === '{' || token === '[') depth += 1;
    out.push(token === ':' ? ': ' : token);
    previous = token;
  }
  return out.join('');
}

/** JSON text on one line without spaces between its tokens, the tokens as they were. Takes valid JSON; never throws. */
export function compactJson(text: string): string {
  return [...jsonTokens(text)].join('');
}

/**
 * JSON text of the same value in which DEL and the C1 controls, which JSON allows raw and terminals obey, are written as
 * `\u` escapes. Takes valid JSON text; never throws.
 */
export function safeJson(text: string): string {
  return text.replace(/[\x7f-\x9f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

/**
 * The same for JSON that people read on a terminal: characters without ink, which reorder text or hide in it, are escaped too. Takes valid
 * JSON text; never throws.
 */
export function visibleJson(text: string): string {
  return safeJson(text).replace(/[\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** The tokens of JSON text, without the white space between them. Takes valid JSON; never throws. */
export function* jsonTokens(text: string): Generator<string> {
  // Strings are found by hand: a pattern for them would overflow the stack on long ones.
  const word = /[{}[\],:"]|[^\s{}[\],:"]+/g;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    if (match[0] !== '"') {
      yield match[0];
      continue;
    }
    let end = word.lastIndex;
    while (end < text.length && text.charCodeAt(end) !== quote) end += text.charCodeAt(end) === backslash ? 2 : 1;
    yield text.slice(match.index, end + 1);
    word.lastIndex = end + 1;
  }
}
