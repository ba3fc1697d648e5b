import { findFamily } from '../../api/chain.ts';
import { post } from '../../api/comment.ts';
import { local } from '../../api/endpoint.ts';
import { optional, text } from '../../api/kind.ts';
import { showUnseen, unseenIn } from '../../api/safe-text.ts';
import { signedText } from '../../api/signed-text.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { formatAnswer } from '../../mcp/answer.ts';
import { defaultRows, shownParams, type Tool } from '../../mcp/tools.ts';
import { listWebhooks } from '../../upload/make-webhook.ts';
import { findSecret, listUploads } from '../../upload/state.ts';
import { type CommentInput, readComment, readTextForm } from '../comment/comment-text.ts';
import { eventsParams } from '../webhook/params.ts';

/** The stored key that signs, and the file with its password. */
export interface SigningKey {
  key: string;
  passwordFile: string | undefined;
}

/** Signs a comment, or signs and posts it, with one key; each time the user reads the exact text first. */
export function commentTool(key: SigningKey, isPost: boolean): Tool {
  const { chain, transactionHash, tokenAddress, commentText } = post.params;
  return {
    name: isPost ? 'comment_post' : 'comment_sign',
    description: `Sign a comment on a swap${isPost ? ' and post it' : ''}; the user is shown the text first`,
    access: 'sign',
    annotations: { destructiveHint: false },
    params: { chain, transactionHash, tokenAddress, commentText },
    question: async (input, context) => {
      const lines = signedText(await readComment(input, context), await readTextForm({}, context)).split('\n');
      if (isPost) await context.client.requireKey();
      const { nameDestination } = await import('../comment/send-comment.ts');
      const where = nameDestination(await context.config.service());
      const isUnseen = lines.some((line) => unseenIn(line).length > 0);
      const note = isUnseen ? '\n\n<U+...> is an invisible character.' : '';
      return `Sign this text${isPost ? ` and post it to ${where}` : ''}, with the key ${key.key}?\n\n${lines.map(showUnseen).join('\n')}${note}`;
    },
    call: async (input, context) => {
      const views = await import('../comment/view.ts');
      const signed = await signComment(input, key, context);
      if (!isPost) return formatAnswer(views.sign, signed, { input });
      const { sendComment } = await import('../comment/send-comment.ts');
      const { comment, notes = [] } = await sendComment(signed, context);
      for (const note of notes) context.note(note);
      return formatAnswer(views.post, comment, { input });
    },
  };
}

async function signComment(input: CommentInput, key: SigningKey, context: Context) {
  const { withSigner } = await import('../comment/sign.ts');
  const comment = await readComment(input, context);
  const form = await readTextForm({}, context);
  const family = findFamily(comment.chain);
  const signing = { lines: [{ line: 1, fields: comment }], form, family, purpose: 'sign', way: key } as const;
  return withSigner(signing, context, (signer) => signer.sign(comment));
}

const { type, since, name } = eventsParams;

export const eventsTool: Tool = {
  name: 'webhook_events',
  description: 'Events that webhook listen stored, newest first',
  access: 'read',
  annotations: { readOnlyHint: true, openWorldHint: false },
  params: { type, since, name, ...shownParams },
  call: async ({ limit = defaultRows, fields, ...input }, context) => {
    const view = (await import('../webhook/view.ts')).events;
    const { showEvents } = await import('../webhook/run-events.ts');
    const maxRows = Number(limit);
    // One more tells whether there is more.
    const { answer } = (await showEvents({ ...input, limit: maxRows + 1 }, context)) as { answer: unknown };
    return formatAnswer(view, answer, { input, fields, maxRows });
  },
};

/** `secretFiles` hold secrets of webhooks. */
export const verifyTool = (secretFiles: readonly string[]): Tool => ({
  name: 'verify_webhook',
  description: 'Check whether a webhook delivery is genuine, and if not, why',
  access: 'read',
  annotations: { readOnlyHint: true },
  params: {
    header: local(text(), 'the daylight-signature header'),
    body: local(text({ minLength: 0 }), 'the body, exactly as it came'),
    uid: local(optional(text()), "webhook whose secret to verify with; default: this server's --secret-file"),
  },
  call: async (input, context) => {
    const { header, body, uid } = input as { header: string; body: string; uid?: string };
    if (uid === undefined && secretFiles.length === 0)
      throw usageError('uid is required: no --secret-file is given', 'webhook_list shows the webhooks.');
    const secrets =
      uid === undefined
        ? await (await import('../../lib/files/source.ts')).readOwnSecrets(secretFiles, context)
        : [await webhookSecret(uid, context)];
    const { verifyDelivery } = await import('../../webhooks/verify.ts');
    const tolerance = { nowMs: context.io.now(), toleranceMs: undefined };
    const verdict = verifyDelivery({ header, body: Buffer.from(body) }, secrets, tolerance);
    const view = (await import('../webhook/view.ts')).verdict;
    return formatAnswer(view, verdict, { input });
  },
});

/** The secret of a webhook, as this machine or the service knows it. Errors: `not-found`. */
async function webhookSecret(uid: string, context: Context): Promise<string> {
  const kept = context.options.preview ? undefined : findSecret(uid, await listUploads(context), []);
  if (kept !== undefined) return kept;
  const listed = await listWebhooks(context);
  const shown = findSecret(uid, [], listed);
  if (shown !== undefined) return shown;
  if (!listed.some((each) => each.uid === uid))
    throw new SotraError('not-found', `webhook ${uid} does not exist`, { hint: 'sotra webhook list shows yours.' });
  throw new SotraError('not-found', `the service does not show the secret of webhook ${uid}`, {
    hint: 'It is shown once, at registration. If it is lost, register a new webhook and delete this one.',
  });
}
