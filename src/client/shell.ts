import { safeText } from '../api/safe-text.ts';

/**
 * A word of a command line for bash, zsh and ksh, quoted if needed. Text that a terminal would not show as it is (controls, line ends,
 * characters that hide or reorder text) is written as `$'...'` in ASCII, so that the line is one line and can be copied from a screen.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text;
  return safeText(text) === text
    ? `'${text.replaceAll("'", `'\\''`)}'`
    : `$'${[...text].map(escapeCharacter).join('')}'`;
}

function escapeCharacter(character: string): string {
  if (/[\x20-\x26\x28-\x5b\x5d-\x7e]/.test(character)) return character;
  const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  // Bytes in octal: every version of these shells reads them, and none takes a digit that follows for one of theirs.
  return (
    named ?? [...new TextEncoder().encode(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  );
}

/** A command line of these words. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** A value as the argument of a command: one that begins with a dash, which would be read as a flag, is left to the reader as `<value>`. */
export function argumentWord(value: string): string {
  return value.startsWith('-') ? '<value>' : shellWord(value);
}

/** A flag with its value: `--flag value`, or `--flag=value` if the value would be read as a flag. */
export function flagWords(flag: string, value: string): string[] {
  return value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];
}

type FlagValue = string | number | boolean | readonly string[] | undefined;

/** Flags as they are typed, with their values: a list repeats its flag; false and absent values have none. */
export function writeFlags(values: Readonly<Record<string, FlagValue>>): string[] {
  return Object.entries(values).flatMap(([flag, given]) =>
    [given].flat().flatMap((value) => {
      if (value === undefined || value === false) return [];
      return value === true ? [flag] : flagWords(flag, String(value));
    }),
  );
}

export type ServiceNames = Partial<Record<'sandbox' | 'context' | 'baseUrl', FlagValue>>;

/** The flags that name a service. */
export function serviceFlags({ sandbox, context, baseUrl }: ServiceNames): string[] {
  return writeFlags({ '--sandbox': sandbox, '--context': context, '--base-url': baseUrl });
}

/**
 * A tag for sentences with a command in them: each value is one word of the command. One that begins with a dash would be read as a flag: it
 * is left to the reader as `<value>`.
 */
export function command(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  const words = values.map((value) => argumentWord(String(value)));
  return texts.map((text, index) => text + (words[index] ?? '')).join('');
}
