import type { Outline } from '../cli/outline.ts';
import type { Context } from '../context.ts';
import type { JsonSchema } from '../contract/kind.ts';
import { usageError } from '../errors.ts';
import { bulkJsonSchema } from '../resources/follow/endpoints.ts';
import { type Tool, toolName } from './tool.ts';

/** Tools that are no command, or one that reads a file. */
export function ownTools(outlines: readonly Outline[], secretFiles: readonly string[]): Tool[] {
  const bulk = outlines.filter(({ words }) => words.join(' ') === 'follow bulk');
  return [...bulk.map(bulkTool), verifyTool(secretFiles)];
}

function objectSchema(properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

const textSchema = (description: string): JsonSchema => ({ type: 'string', description });

/** A required text. Errors: `usage`. */
function textInput(input: Readonly<Record<string, unknown>>, key: string, help: string): string {
  const value = input[key];
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (value === undefined) throw usageError(`${key} is required: ${help}`);
  throw usageError(`${key} ${JSON.stringify(value)}: must be text`);
}

const bodyHelp = 'the body, exactly as it came';
const headerHelp = 'the daylight-signature header';

/** `secretFiles` hold the secrets of webhooks. */
function verifyTool(secretFiles: readonly string[]): Tool {
  const uidHelp = "webhook whose secret counts; default: this server's --secret-file";
  return {
    name: 'verify_webhook',
    description: 'Whether a webhook delivery is genuine, and if not, why',
    access: 'read',
    isIdempotent: true,
    inputSchema: objectSchema(
      { header: textSchema(headerHelp), body: textSchema(bodyHelp), uid: textSchema(uidHelp) },
      ['header', 'body'],
    ),
    call: async (input, { context, notes }) => {
      const header = textInput(input, 'header', headerHelp);
      const body = Buffer.from(textInput(input, 'body', bodyHelp));
      const uid = input['uid'];
      if (uid === undefined && secretFiles.length === 0)
        throw usageError(`uid is required: ${uidHelp}`, 'webhook_list shows the webhooks.');
      const { readOwnSecrets, webhookSecret } = await import('../resources/webhook/secrets.ts');
      const secrets =
        uid === undefined
          ? readOwnSecrets(secretFiles, context)
          : [await webhookSecret(textInput(input, 'uid', uidHelp), context)];
      const { verifyDelivery } = await import('../inbox/verify.ts');
      const answer = verifyDelivery({ header, body }, secrets, { nowMs: context.io.now(), toleranceMs: undefined });
      const { verdict } = await import('../resources/webhook/view.ts');
      const { formatAnswer } = await import('./answer.ts');
      return formatAnswer({ kind: 'answer', answer, view: verdict }, { ...whole, notes });
    },
  };
}

const whole = { input: {}, maxRows: Number.POSITIVE_INFINITY, next: undefined };

/** The command reads its entries from a file, here stdin. */
const bulkTool = (outline: Outline): Tool => ({
  name: toolName(outline.words),
  description: outline.summary,
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  inputSchema: objectSchema(
    { entries: { ...bulkJsonSchema, description: 'who follows whom; action: follow unless given' } },
    ['entries'],
  ),
  call: async ({ entries }, { context, notes }) => {
    if (!Array.isArray(entries) || entries.length === 0)
      throw usageError('entries is required: a list of {addressOrUid, targets}');
    const { loadCommand } = await import('./run-command.ts');
    const { formatAnswer } = await import('./answer.ts');
    const command = await loadCommand(outline, context);
    const result = await command.run({ file: '-' } as never, withStdin(context, JSON.stringify(entries)));
    return formatAnswer(result, { ...whole, notes });
  },
});

function withStdin(context: Context, given: string): Context {
  async function* bytes() {
    yield new TextEncoder().encode(given);
  }
  const { io } = context;
  return { ...context, io: { ...io, in: bytes() } };
}
