import type { HttpResponse } from './transport.ts';

/** Replaces a secret that is not shown. */
export const hidden = '***';

/** Hides the key in an answer that repeats it. */
export type HideInAnswer = (answer: HttpResponse) => HttpResponse;

/**
 * Replaces the key by three stars in headers and text of an answer. A key of less than eight characters or of digits alone stays: it could be
 * a word or a number of any answer.
 */
export function hideKeyInAnswers(key: string | null): HideInAnswer {
  if (key === null || key.length < 8 || /^\d+$/.test(key)) return (answer) => answer;
  const hide = keyHider(key);
  const hideInHeaders = (headers: HttpResponse['headers']) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        hide(name),
        Array.isArray(value) ? value.map(hide) : value && hide(value),
      ]),
    );
  return (answer) => {
    const { headers, text } = answer;
    const shown = Object.entries(headers).join();
    const areHeadersSafe = hide(shown) === shown;
    return { ...answer, headers: areHeadersSafe ? headers : hideInHeaders(headers), text: hide(text) };
  };
}

/** Hides a key of at least four characters, however JSON and addresses spell it. */
export function keyHider(key: string | undefined): (text: string) => string {
  if (key === undefined || key.length < 4) return (text) => text;
  let pattern: RegExp | undefined;
  return (text) => {
    // Without one of these characters a text spells no key in another way; the pattern takes a millisecond to compile.
    if (![key, '%', '\\', '+'].some((part) => text.includes(part))) return text;
    pattern ??= new RegExp([...key].map(spellings).join(''), 'g');
    return text.replace(pattern, hidden);
  };
}

/** A pattern of a character as it is, as JSON escapes it, also JSON in JSON, and as addresses and forms code it, also more than once. */
function spellings(character: string): string {
  const literal = character.replace(/[!-/:-@[-^`{-~]/, '\\$&');
  const plain = character === '\\' ? '\\\\{1,16}' : `${/["/]/.test(character) ? '\\\\{0,8}' : ''}${literal}`;
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const escaped = units.map((hex) => `\\\\{1,8}u${anyCase(hex)}`).join('');
  const coded = [...new TextEncoder().encode(character)].map(
    (byte) => `%(?:25){0,4}${anyCase(byte.toString(16).padStart(2, '0'))}`,
  );
  return `(?:${[coded.join(''), escaped, plain, ...(character === ' ' ? ['\\+'] : [])].join('|')})`;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
