import { createHash } from 'node:crypto';
import { formatCodePoint, showUnseen, unseenIn } from '../../api/safe-text.ts';
import { maxCommentCharacters, signedText, type TextFields, type TextForm } from '../../api/signed-text.ts';
import type { Context } from '../../context.ts';
import type { Sink } from '../../lib/io.ts';
import { breakText } from '../../lib/output/text-width.ts';

/** A text to be signed, with warnings about its comment. */
export interface Preview extends TextFields, TextForm {
  message: string;
  characters: number;
  warnings: string[];
}

export function previewText(fields: TextFields, form: TextForm): Preview {
  const { chain, tokenAddress, transactionHash, commentText } = fields;
  const { layout, serviceName } = form;
  const message = signedText(fields, form);
  const [characters, warnings] = [commentText.length, textWarnings(commentText)];
  const text = { message, layout, serviceName, chain, tokenAddress, transactionHash, commentText };
  return { ...text, characters, warnings };
}

/** Warns about invisible characters and other surprises in a comment. */
export function warnOfText(commentText: string, { warn }: Pick<Context, 'warn'>, before = ''): void {
  for (const warning of textWarnings(commentText)) warn(before + warning);
}

function textWarnings(text: string): string[] {
  const found: string[] = [];
  if (/\r\n/.test(text)) found.push('the comment has Windows line endings (CR LF), which are signed unchanged');
  if (/\n$/.test(text)) found.push('the comment ends with a newline, which is signed too');
  else if (/\s$|^\s/u.test(text)) found.push('the comment begins or ends with a space');
  if (text.normalize('NFC') !== text)
    found.push('the comment is not in Unicode normal form NFC: an app that normalizes it breaks the signature');
  found.push(...unseenWarnings(text));
  return found;
}

const reorders = 'which can show the text in another order';
/** Kinds of invisible characters: singular, plural and pattern; the first match counts. */
const kinds = [
  [`a bidirectional control, ${reorders}`, `bidirectional controls, ${reorders}`, /\p{Bidi_Control}/u],
  ['a control character', 'control characters', /[\p{Cc}\p{Cs}\u2028\u2029]/u],
  ['a surplus combining mark', 'surplus combining marks', /(?!\p{Default_Ignorable_Code_Point})[\p{Mn}\p{Me}]/u],
  ['an invisible character', 'invisible characters', /./su],
] as const;
const maxCodesShown = 5;

function unseenWarnings(text: string): string[] {
  // Line feeds are shown as lines, and Windows line ends have a warning of their own.
  const hidden = unseenIn(text.replaceAll(/\r?\n/g, ' '));
  const findKind = (character: string) => kinds.find(([, , pattern]) => pattern.test(character));
  return kinds.flatMap((kind) => {
    const [one, several] = kind;
    const ofKind = hidden.filter((character) => findKind(character) === kind);
    if (ofKind.length === 0) return [];
    const codes = [...new Set(ofKind)].map(formatCodePoint);
    const rest = codes.length > maxCodesShown ? ` and ${codes.length - maxCodesShown} more` : '';
    const what = ofKind.length === 1 ? one : `${ofKind.length} ${several}`;
    return [`the comment has ${what}: ${codes.slice(0, maxCodesShown).join(', ')}${rest}`];
  });
}

/** For people: lines with numbers, the comment behind a bar so that no line of it looks like a field, invisible characters as codes. */
export function describePreview(preview: Preview, { isTTY, width }: Pick<Sink, 'isTTY' | 'width'>): string {
  const { message, layout, characters, warnings, commentText } = preview;
  const count = message.split('\n').length;
  const comment = commentText.split('\n');
  const digits = String(count).length;
  const numbered = (line: number, text: string) => `  ${String(line).padStart(digits)}  ${text}`;
  const fields = signedText({ ...preview, commentText: '' }, preview)
    .split('\n')
    .slice(0, count - comment.length);
  const label = 'Comment: ';
  const room = isTTY ? Math.max(20, width - digits - label.length - 6) : Number.POSITIVE_INFINITY;
  const lines = comment.flatMap((line, index) => {
    const [first = '', ...rest] = breakText(showUnseen(line), room);
    const before = index === 0 ? label : ' '.repeat(label.length);
    const blank = ' '.repeat(digits + label.length + 4);
    const shown = first === '' ? '|' : `| ${first}`;
    return [numbered(fields.length + index + 1, before + shown), ...rest.map((part) => `${blank}| ${part}`)];
  });
  const bytes = new TextEncoder().encode(commentText).length;
  const digest = createHash('sha256').update(message).digest('hex');
  return [
    `Text to be signed (${layout}, ${count} lines):`,
    ...fields.map((line, index) => numbered(index + 1, line === '' ? '(empty line)' : showUnseen(line))),
    ...lines,
    `Comment: ${characters} of ${maxCommentCharacters} characters (UTF-16 units, as the service counts), ${bytes} bytes`,
    `SHA-256 of the whole text: ${digest}`,
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
  ].join('\n');
}
