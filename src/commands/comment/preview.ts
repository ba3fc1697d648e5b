import { createHash } from 'node:crypto';
import { formatCodePoint, showUnseen, unseenIn } from '../../api/safe-text.ts';
import { maxCommentCharacters, signedText, type TextFields, type TextForm } from '../../api/signed-text.ts';
import type { Context } from '../../context.ts';
import type { Sink } from '../../lib/io.ts';
import { breakText } from '../../lib/output/text-width.ts';
import { inSlices, type Result } from '../../lib/output/view.ts';
import { preview as view } from './view.ts';

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

/** The texts to be signed: readable text, or rows if a format is asked for. */
export function showPreviews(
  lines: readonly { fields: TextFields }[],
  form: TextForm,
  { options: { format, jq }, io }: Context,
  isMany: boolean,
): Result {
  const previews = lines.map(({ fields }) => previewText(fields, form));
  if (jq === undefined && (format === undefined || format === 'table'))
    return { kind: 'text', text: previews.map((each) => describePreview(each, io.out)).join('\n') };
  return isMany ? { kind: 'items', batches: inSlices(previews), view } : { kind: 'answer', answer: previews[0], view };
}

/** Warns about invisible characters and other surprises in a comment. */
export function warnOfText(commentText: string, { warn }: Pick<Context, 'warn'>, before = ''): void {
  for (const warning of textWarnings(commentText)) warn(before + warning);
}

const maxCodesShown = 5;

function textWarnings(text: string): string[] {
  const found: string[] = [];
  if (/\r\n/.test(text)) found.push('the comment has Windows line endings (CR LF), which are signed unchanged');
  if (/\n$/.test(text)) found.push('the comment ends with a newline, which is signed too');
  else if (/\s$|^\s/u.test(text)) found.push('the comment begins or ends with a space');
  if (text.normalize('NFC') !== text)
    found.push('the comment is not in Unicode normal form NFC: an app that normalizes it breaks the signature');
  // Line feeds are shown as lines, and Windows line ends have a warning of their own.
  const hidden = unseenIn(text.replaceAll(/\r?\n/g, ' '));
  if (hidden.length > 0) {
    const codes = [...new Set(hidden)].map(formatCodePoint);
    const rest = codes.length > maxCodesShown ? ` and ${codes.length - maxCodesShown} more` : '';
    found.push(`the comment has invisible characters: ${codes.slice(0, maxCodesShown).join(', ')}${rest}`);
  }
  if (/\p{Bidi_Control}/u.test(text))
    found.push('the comment has bidirectional controls, which can show the text in another order');
  return found;
}

/** For people: lines with numbers, the comment behind a bar so that no line of it looks like a field, invisible characters as codes. */
export function describePreview(preview: Preview, { isTTY, width }: Pick<Sink, 'isTTY' | 'width'>): string {
  const { message, layout, characters, warnings, commentText } = preview;
  const lines = message.split('\n');
  const comment = commentText.split('\n');
  const fields = lines.slice(0, lines.length - comment.length);
  const digits = String(lines.length).length;
  const numbered = (index: number, text: string) => `  ${String(index + 1).padStart(digits)}  ${text}`;
  const label = 'Comment: ';
  const blank = ' '.repeat(digits + label.length + 4);
  const room = isTTY ? Math.max(20, width - blank.length - 2) : Number.POSITIVE_INFINITY;
  const shownComment = comment.flatMap((line, index) => {
    const [first = '', ...rest] = breakText(showUnseen(line), room);
    const before = index === 0 ? label : ' '.repeat(label.length);
    return [
      numbered(fields.length + index, before + (first === '' ? '|' : `| ${first}`)),
      ...rest.map((part) => `${blank}| ${part}`),
    ];
  });
  return [
    `Text to be signed (${layout}, ${lines.length} lines):`,
    ...fields.map((line, index) => numbered(index, line === '' ? '(empty line)' : showUnseen(line))),
    ...shownComment,
    `Comment: ${characters} of ${maxCommentCharacters} characters (UTF-16 units, as the service counts), ${Buffer.byteLength(commentText)} bytes`,
    `SHA-256 of the whole text: ${createHash('sha256').update(message).digest('hex')}`,
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
  ].join('\n');
}
