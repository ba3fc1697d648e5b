import type { Field, Outline } from '../cli/outline.ts';
import type { Context } from '../context.ts';
import { showUnseen, unseenIn } from '../model/safe-text.ts';
import { readComment, readForm } from '../resources/comment/read-comment.ts';
import { signedText } from '../resources/comment/signing.ts';
import { formatAnswer } from './answer.ts';
import { checkValues, loadCommand } from './run-command.ts';
import type { SigningKey, ToolAnswer, ToolCall } from './tool.ts';

interface SigningTool {
  outline: Outline;
  fields: readonly Field[];
  key: SigningKey;
}

/** Signs, and posts where the command does, once the user has agreed to the exact text. Errors: `usage`; those of the command. */
export async function runSigning(
  { outline, fields, key }: SigningTool,
  given: Readonly<Record<string, unknown>>,
  { context, confirm, notes }: ToolCall,
): Promise<ToolAnswer> {
  const command = await loadCommand(outline, context);
  const input = await checkValues(fields, command, given, context);
  const message = signedText(await readComment(input, context), await readForm({}, context));
  await confirm(await askToSign(outline, message, key, context));
  const result = await command.run({ ...input, ...key } as never, context);
  return formatAnswer(result, { input, maxRows: 1, next: undefined, notes });
}

/** What the user reads: the exact text, with what cannot be seen as its code. */
async function askToSign(
  { endpoint }: Outline,
  message: string,
  { key }: SigningKey,
  context: Context,
): Promise<string> {
  const { kind, baseUrl } = await context.service();
  const where = kind === 'sandbox' ? 'the sandbox' : new URL(baseUrl).origin;
  const action = endpoint === undefined ? 'Sign this text' : `Sign this text and post it to ${where}`;
  const lines = message.split('\n');
  const note = lines.some((line) => unseenIn(line).length > 0) ? '\n\n<U+...> is a character that cannot be seen.' : '';
  return `${action}, with the key ${key}?\n\n${lines.map(showUnseen).join('\n')}${note}`;
}
