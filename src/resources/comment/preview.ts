import { countCharacters, longestComment } from './endpoints.ts';
import { signedText, type TextFields, type TextForm } from './signing.ts';

/** A text to be signed, and what is odd about the comment in it. */
export interface Preview extends TextFields, TextForm {
  message: string;
  /** Of the comment, in Unicode code points: what the interface's `maxLength` counts. */
  characters: number;
  warnings: string[];
}

/** The preview of a comment. Never throws. */
export function previewOf(fields: TextFields, form: TextForm): Preview {
  const { commentText } = fields;
  return {
    message: signedText(fields, form),
    layout: form.layout,
    serviceName: form.serviceName,
    chain: fields.chain,
    tokenAddress: fields.tokenAddress,
    transactionHash: fields.transactionHash,
    commentText,
    characters: countCharacters(commentText),
    warnings: oddities(commentText),
  };
}

const bidirectional = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const zeroWidth = /\u034F|[\u00AD\u180E\u200B\u2060-\u2064\uFEFF\u{E0000}-\u{E007F}]/u;
const joiner = /[\u200C\u200D]/u;
const control = /[\x00-\x09\x0B-\x1F\x7F-\x9F\u2028\u2029]/u;

/** Sentences on what readers of a comment may not see. Empty where there is nothing; never throws. */
export function oddities(text: string): string[] {
  const found: string[] = [];
  const units = text.length;
  if (/\r\n/.test(text)) found.push('the comment has Windows line ends (CR LF), which are signed as they are');
  if (/\n$/.test(text)) found.push('the comment ends with a newline, which is signed too');
  else if (/\s$|^\s/u.test(text)) found.push('the comment begins or ends with a space');
  if (text.normalize('NFC') !== text)
    found.push('the comment is not in Unicode normal form NFC: an app that normalises it breaks the signature');
  for (const [what, pattern] of [
    ['a zero-width character', zeroWidth],
    ['a joiner without width', /\p{Extended_Pictographic}/u.test(text) ? /(?!)/ : joiner],
    ['a bidirectional control, which can show the text in another order', bidirectional],
    ['a control character', control],
  ] as const) {
    const hit = pattern.exec(text.replaceAll('\r\n', '\n'));
    if (hit) found.push(`the comment has ${what}: ${codeOf(hit[0])}`);
  }
  if (units > longestComment && countCharacters(text) <= longestComment)
    found.push(
      `the comment has ${units} UTF-16 units: a service that counts those instead of characters refuses more than ${longestComment}`,
    );
  return found;
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The preview for people: each line with its number, empty ones marked, what cannot be seen spelled out. Ends with a newline. */
export function describePreview({ message, layout, characters, warnings, commentText }: Preview): string {
  const lines = message.split('\n');
  const width = String(lines.length).length;
  const shown = lines.map((line, index) => `  ${String(index + 1).padStart(width)} | ${visible(line)}`);
  const bytes = new TextEncoder().encode(commentText).length;
  return [
    `Text to be signed (${layout}, ${lines.length} lines):`,
    ...shown,
    `Comment: ${characters} of ${longestComment} characters (Unicode code points, as maxLength of the interface counts), ${bytes} bytes`,
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
  ].join('\n');
}

const unseen = new RegExp([bidirectional, zeroWidth, joiner, control].map(({ source }) => source).join('|'), 'gu');

function visible(line: string): string {
  if (line === '') return '(empty line)';
  const kept = /\p{Extended_Pictographic}/u.test(line) ? line.replaceAll(/(?<=\S)\u200D(?=\S)/gu, '\uE000') : line;
  return kept.replaceAll(unseen, (character) => `<${codeOf(character)}>`).replaceAll('\uE000', '\u200D');
}
