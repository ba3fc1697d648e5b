import * as endpoints from '../../api/webhook.ts';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { checkedList, findSecret } from '../../upload/secrets.ts';
import { listUploads } from '../../upload/state.ts';

/** The secret of a webhook, as this machine or the service knows it. Errors: `not-found`. */
export async function webhookSecret(uid: string, context: Context): Promise<string> {
  const kept = context.options.preview ? undefined : findSecret(uid, await listUploads(context), []);
  if (kept !== undefined) return kept;
  const listed = checkedList((await context.client.call(endpoints.list, {})).data);
  const shown = findSecret(uid, [], listed);
  if (shown !== undefined) return shown;
  if (!listed.some((each) => each.uid === uid))
    throw new SotraError('not-found', `webhook ${uid} does not exist`, { hint: 'sotra webhook list shows yours.' });
  throw new SotraError('not-found', `the service does not show the secret of webhook ${uid}`, {
    hint: 'It is shown once, at registration. If it is lost, register a new webhook and delete this one.',
  });
}
