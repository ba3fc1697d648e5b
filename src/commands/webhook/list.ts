import * as endpoints from '../../api/webhook.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { maskSecrets } from '../../model/mask-secrets.ts';
import type { Result } from '../../output/result.ts';
import { describeUnfinished, findUnfinished, jobsOfService, removeGone } from '../../upload/jobs.ts';
import { checkedList, findWebhookSecret } from '../../upload/secrets.ts';
import { list as listView } from './view.ts';

/** The caller's webhooks, secrets masked in every format unless asked for. */
export async function listWebhooks(showSecrets: boolean, context: Context): Promise<Result> {
  if (context.options.preview) return { kind: 'request', request: await context.previewCall(endpoints.list, {}) };
  // Read before the list is: an upload that another process makes meanwhile is not taken for one whose webhook is gone.
  const unfinished = await findUnfinished(context);
  const { data, text } = await context.call(endpoints.list, {});
  const left = Array.isArray(data) ? await removeGone(unfinished, data, context) : unfinished;
  const shown = { view: listView, notes: describeUnfinished(left) };
  if (showSecrets) return { kind: 'answer', answer: data, text, ...shown };
  return { kind: 'answer', answer: maskSecrets(data), ...shown };
}

/** The secret of a webhook, as this machine or the service knows it. Errors: `not-found`. */
export async function webhookSecret(uid: string, context: Context): Promise<string> {
  const kept = context.options.preview ? undefined : findWebhookSecret(uid, await jobsOfService(context), []);
  if (kept !== undefined) return kept;
  const listed = checkedList((await context.call(endpoints.list, {})).data);
  const shown = findWebhookSecret(uid, [], listed);
  if (shown !== undefined) return shown;
  if (!listed.some((each) => each.uid === uid))
    throw new SotraError('not-found', `webhook ${uid} does not exist`, { hint: 'sotra webhook list shows yours.' });
  throw new SotraError('not-found', `the service does not show the secret of webhook ${uid}`, {
    hint: 'It is shown once, at registration. Where it is lost, register a new webhook and delete this one.',
  });
}
