import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { WebhookList } from '../api/webhook-answers.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { command } from '../client/shell.ts';
import { SotraError, usageError } from '../errors.ts';
import { replaceFile } from '../lib/files/durable-file.ts';
import { confirm } from '../lib/output/confirm.ts';
import { counted } from '../lib/output/format.ts';
import type { Result } from '../lib/output/view.ts';
import { deleteWebhook, listWebhooksFor, yieldToTwin } from './make-webhook.ts';
import { describeSecret, handOverSecret } from './secrets.ts';
import { previewNext, sendAddresses } from './send.ts';
import { describeUnfinished, forgetWebhook, saveState, setWebhook, takeConfirmed } from './state.ts';
import type { UploadInput, UploadRun } from './upload-run.ts';
import { type SyncResult, synced as view } from './view.ts';

/**
 * Gives a webhook the addresses of a list that it lacks, and makes it if the URL has none; a check sends nothing and ends with 10 if something
 * would be sent. Errors: as in `sendAddresses`; `conflict` for several webhooks of which none is known.
 */
export async function syncList(run: UploadRun): Promise<Result> {
  const { input, list, upload, context } = run;
  const { state, isReadOnly } = upload;
  run.listed = await findWebhook(run);
  const whole = list.left;
  const surplus = await takeConfirmed(upload, list);
  const confirmed = list.size - list.left.count + surplus.length;
  // A webhook that this machine knows nothing of may have any addresses.
  const isReplaceable = state.replaces === null && (surplus.length > 0 || confirmed === 0);
  const replaces = input.replace && isReplaceable ? (state.uid ?? undefined) : undefined;
  if (replaces !== undefined) list.left = whole;
  const result: SyncResult = {
    uid: state.uid,
    wanted: list.size,
    confirmed,
    missing: list.left.count,
    sent: 0,
    rejected: list.rejected,
    notRemovable: surplus.length,
    destinationUrl: state.destinationUrl,
    registered: false,
    replaced: replaces ?? state.replaces,
    gapMs: null,
    checked: isReadOnly,
  };
  if (isReadOnly || replaces === undefined) listSurplus(surplus, run);
  if (isReadOnly) return showCheck(run, result);
  if (replaces !== undefined) await confirmReplacing(run, replaces, surplus.length);
  const makes = state.uid === null || replaces !== undefined;
  if (!makes) handOverSecret(run);
  if (makes || result.missing > 0 || state.line !== null) result.registered = await sendAddresses(run, replaces);
  result.sent = result.missing;
  if (state.replaces !== null) {
    await deleteWebhook(state.replaces, context);
    if (state.gap?.toMs) result.gapMs = state.gap.toMs - state.gap.fromMs;
    saveState(upload, { replaces: null, gap: null, line: null });
    result.notRemovable = 0;
    listSurplus([], run);
  }
  const secret = describeSecret(run);
  if (makes && input.secretFile === undefined && secret.secretFile !== undefined)
    context.note(`The secret of webhook ${state.uid} is in ${secret.secretFile}`);
  return { kind: 'answer', answer: { ...result, uid: state.uid, ...secret }, view };
}

/** Errors: `usage` if a command line names no webhook, or two, or one that a flag is not for. */
export function checkSyncFlags({ uid, destinationUrl: url, secretFile, replace }: UploadInput): void {
  if (uid !== undefined && /^https?:/i.test(uid))
    throw usageError(
      `<uid> ${hideUrlSecrets(uid)}: is an address, not the uid of a webhook`,
      'Give the address with --url.',
    );
  if (uid !== undefined && /\.\w+$|\/|^-$/.test(uid))
    throw usageError(`<uid> ${uid}: is a file, not the uid of a webhook`, command`Give it with --file ${uid}.`);
  if ((uid === undefined) === (url === undefined))
    throw usageError(
      uid === undefined ? '--url or a uid is required' : '--url cannot be used with a uid',
      uid === undefined ? 'Give the destination with --url, or the uid of a webhook.' : 'Omit one of them.',
    );
  if (url === undefined && secretFile !== undefined)
    throw usageError('--secret-file needs --url', 'Omit it, or name the webhook with --url.');
  if (url === undefined && replace) throw usageError('--replace needs --url', 'Name the webhook by its destination.');
}

/**
 * Finds the webhook of a sync and makes it the one of the upload; gives the webhooks of the destination. A preview goes by what this machine
 * knows. Errors: those of the list; `conflict` if a destination has several and none is known to be meant.
 */
async function findWebhook(run: UploadRun): Promise<WebhookList> {
  const { upload, context, input } = run;
  const { state, isReadOnly } = upload;
  const { destinationUrl: url } = input;
  if (url === undefined || context.options.preview) return [];
  let listed = await listWebhooksFor(url, context);
  const isListed = (uid: string | null) => listed.some((each) => each.uid === uid);
  // The run that made it ended before it had looked for a twin.
  if (state.posting !== null && isListed(state.uid) && !isReadOnly) {
    await yieldToTwin(run);
    listed = await listWebhooksFor(url, context);
  }
  if (state.replaces !== null) {
    if (state.uid === null || isListed(state.uid)) return listed;
    // The new webhook is gone: the old one stays.
    saveState(upload, { replaces: null, gap: null });
  }
  const { posting } = state;
  // One of the webhooks that came since may be of a POST whose answer was lost.
  if (
    state.uid === null &&
    posting !== null &&
    (listed.length === 0 || listed.some(({ uid }) => !posting.before.includes(uid)))
  )
    return listed;
  const [first, second] = listed;
  const isKnown = isListed(state.uid);
  if (state.uid !== null && !isKnown) {
    const next = first === undefined ? 'registering a new one' : `using ${first.uid}, which sends to the same address`;
    context.warn(`webhook ${state.uid} of an earlier run is gone${isReadOnly ? '' : `: ${next}`}`);
    forgetWebhook(upload);
  }
  const uids = listed.map(({ uid }) => uid).join(', ');
  const several = `${listed.length} webhooks send to ${hideUrlSecrets(url)}`;
  if (second !== undefined && !isKnown)
    throw new SotraError('conflict', several, {
      hint: `Name one instead of --url: ${uids}. sotra webhook delete removes another.`,
    });
  if (second !== undefined)
    context.warn(`${several}: ${uids}. This sync uses ${state.uid}; sotra webhook delete removes another.`);
  if (first !== undefined && !isKnown) setWebhook(upload, first.uid, { posting: null });
  return listed;
}

async function showCheck(run: UploadRun, result: SyncResult): Promise<Result> {
  const { input, list, upload, context } = run;
  for (const line of describeUnfinished([upload], () => true)) context.note(line);
  if (context.options.curl && list.left.count > 0) return previewNext(run);
  const isSent = result.missing > 0 || upload.state.replaces !== null;
  const isOff = isSent || (input.exact === true && result.notRemovable > 0);
  return { kind: 'answer', answer: result, view, exitCode: isOff ? 10 : 0 };
}

/** Writes the addresses that left the file to a file of their own, and prints its name; without any, removes it. */
function listSurplus(surplus: readonly string[], { upload, context }: UploadRun): void {
  if (context.options.preview) return;
  const file = join(upload.folder, 'not-in-file.txt');
  if (surplus.length === 0) rmSync(file, { force: true });
  else {
    replaceFile(file, `${surplus.join('\n')}\n`);
    context.note(`The addresses that are not in the file are listed in ${file}`);
  }
}

async function confirmReplacing({ upload, list, context }: UploadRun, old: string, surplus: number): Promise<void> {
  const what = `replace webhook ${old} with a new one of ${counted(list.size, 'address')}`;
  const shown =
    `Webhook ${old} sends to ${upload.state.destinationUrl}; ${counted(surplus, 'address')} of it ${surplus === 1 ? 'is' : 'are'} not in the file.\n` +
    'The new one has another secret. If the service allows one webhook per URL, the old one is deleted first.\n';
  await confirm(what, context, shown);
}
