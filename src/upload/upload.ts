import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { WebhookList } from '../api/answers.ts';
import { chunkSize } from '../api/webhook.ts';
import { webhookHint } from '../client/hints.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { command } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { replaceFile } from '../lib/files/durable-file.ts';
import { confirm } from '../lib/output/confirm.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import { showProgress } from '../lib/output/progress.ts';
import type { Result } from '../lib/output/view.ts';
import {
  deleteWebhook,
  isRefusal,
  listWebhooks,
  refuseSecond,
  type UploadInput,
  type UploadRun,
} from './make-webhook.ts';
import { readAddresses } from './read-addresses.ts';
import { previewNext, sendAddresses } from './send.ts';
import {
  checkSecretFile,
  describeSecret,
  describeUnfinished,
  handOverSecret,
  openUpload,
  saveState,
  setWebhook,
  takeConfirmed,
} from './state.ts';
import { describeComplete, type SyncResult, synced, type UploadResult, uploaded } from './view.ts';

/**
 * The one path of a list to a webhook: every line is checked, confirmed addresses are removed, and the rest is sent. Errors: `usage` with
 * nothing sent; `locked`; as in `sendAddresses`.
 */
export async function uploadAddresses(input: UploadInput, context: Context): Promise<Result> {
  const isSync = input.task === 'sync';
  if (isSync) checkUid(input);
  const isReadOnly = context.options.preview || input.check === true;
  const isCheck = isSync && isReadOnly;
  const progress = await showProgress(context);
  const stepLive = progress.live ? progress.step : () => undefined;
  context.client.onWait = ({ ms, why }) =>
    stepLive(`${why}; trying again after ${Math.max(1, Math.round(ms / 1000))} s`);
  let unlock = () => {};
  try {
    const onRead = (count: number) => stepLive(`reading addresses: ${formatCount(count)}`);
    const list = await readAddresses(input, context, { isCheck, onRead });
    if (input.secretFile !== undefined && !isReadOnly) checkSecretFile(input.secretFile, input.file);
    const opened = await openUpload(input, isReadOnly, context);
    unlock = opened.unlock;
    const { upload } = opened;
    const run: UploadRun = { input, list, upload, listed: [], sent: 0, gapMs: null, progress, context };
    return await (isSync ? syncList(run) : sendList(run));
  } finally {
    progress.stop();
    unlock();
  }
}

/** Sends a list to a webhook, which it registers unless one is given. */
async function sendList(run: UploadRun): Promise<Result> {
  const { input, list, upload, listed, context } = run;
  const { state } = upload;
  if (input.task === 'register') await checkRegistered(run);
  if (!input.again) await takeConfirmed(upload, list);
  const isFinished = list.left.count === 0 && state.uid !== null && state.line === null;
  if (isFinished) {
    await requireKnown(run);
    const hint = input.task === 'register' ? '' : ' --again sends them once more.';
    context.note(`Nothing was sent: ${describeComplete(state.uid, list.size)}.${hint}`);
  }
  if (context.options.preview) return isFinished ? { kind: 'none' } : previewList(run);
  handOverSecret(upload, listed, input.secretFile);
  if (!isFinished) await sendAddresses(run);
  const answer: UploadResult = {
    uid: state.uid ?? '',
    destinationUrl: state.destinationUrl,
    addresses: list.size,
    chunks: Math.ceil(list.size / chunkSize),
    duplicates: list.duplicates,
    rejected: list.rejected,
    ...(input.task === 'register' && describeSecret(upload, listed, input)),
  };
  return { kind: 'answer', answer, view: uploaded };
}

/** Looks whether a webhook named by its uid is there, before an upload ends without a request to it. Errors: `not-found`. */
async function requireKnown({ input: { uid }, context }: UploadRun): Promise<void> {
  if (uid === undefined || context.options.preview || (await findKnown(uid, context)).length > 0) return;
  throw new SotraError('not-found', `webhook ${uid} does not exist`, { hint: webhookHint });
}

async function findKnown(uid: string, context: Context): Promise<WebhookList> {
  const listed = await listWebhooks(context, { uid });
  return listed.filter((each) => each.uid === uid);
}

/** Looks whether the webhook of an earlier run is there, and is of the same list. Errors: `conflict`. */
async function checkRegistered({ input, list, upload, context }: UploadRun): Promise<void> {
  const { uid, digest } = upload.state;
  if (uid === null) return;
  const { preview } = context.options;
  const isSame = digest === list.digest;
  const known = preview ? [] : await findKnown(uid, context);
  const isGone = !preview && known.length === 0;
  if (isGone) context.warn(`webhook ${uid} of an earlier run is gone: registering a new one`);
  else if (!isSame && !input.another) refuseSecond(known);
  if (isGone || !isSame) setWebhook(upload, null, { digest: null });
}

/** Previews the next request, and says how many there are. */
async function previewList(run: UploadRun): Promise<Result> {
  const { list, context } = run;
  const { count } = list.left;
  const requests = Math.ceil(count / chunkSize);
  const some = count < list.size ? `${formatCount(count)} of ` : '';
  const others = requests === 1 ? '' : '; this is the first, the others are PUTs of up to 1,000';
  context.note(`${some}${counted(list.size, 'address')} in ${counted(requests, 'request')}${others}.`);
  return previewNext(run);
}

/**
 * Gives a webhook the addresses of a list that it lacks, and makes it if the URL has none; a check sends nothing and ends with 10 if something
 * would be sent. Errors: as in `sendAddresses`; `conflict` for several webhooks of which none is known.
 */
async function syncList(run: UploadRun): Promise<Result> {
  const { input, list, upload, context } = run;
  const { state, isReadOnly } = upload;
  run.listed = await findWebhook(run);
  const whole = list.left;
  const surplus = await takeConfirmed(upload, list);
  if (list.left.count === 0) await requireKnown(run);
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
  if (isReadOnly) return input.check ? showCheck(run, result) : previewSync(run, result);
  if (replaces !== undefined) await confirmReplacing(run, replaces, surplus.length);
  const makes = state.uid === null || replaces !== undefined;
  if (!makes && !handOverSecret(upload, run.listed, input.secretFile))
    throw new SotraError(
      'not-found',
      `webhook ${state.uid} exists, but its secret is not stored on this machine, and the service does not show it`,
      { hint: `Write it to ${input.secretFile} if you have it; --replace makes a webhook with a new one.` },
    );
  if (makes || result.missing > 0 || state.line !== null)
    try {
      result.registered = await sendAddresses(run, replaces);
    } catch (thrown) {
      if (state.uid === null && isRefusal(thrown) && (await isTaken(run))) return syncList(run);
      throw thrown;
    }
  result.sent = result.missing;
  if (state.replaces !== null) {
    await deleteWebhook(state.replaces, context);
    saveState(upload, { replaces: null, line: null });
    result.gapMs = run.gapMs;
    result.notRemovable = 0;
    listSurplus([], run);
  }
  const shown = describeSecret(upload, run.listed, input);
  if (makes && input.secretFile === undefined && shown.secretFile !== undefined)
    context.note(`The secret of webhook ${state.uid} is in ${shown.secretFile}`);
  return { kind: 'answer', answer: { ...result, uid: state.uid, ...shown }, view: synced };
}

/** Whether another machine registered the destination in the meantime, at a service that allows one webhook per URL. */
async function isTaken({ input: { destinationUrl }, listed, context }: UploadRun): Promise<boolean> {
  return (await listWebhooks(context, { destinationUrl })).length > listed.length;
}

/** Errors: `usage` for an address or a file where a uid belongs, and for a uid beside an address. */
function checkUid({ uid, destinationUrl }: UploadInput): void {
  if (uid === undefined) return;
  if (/^https?:/i.test(uid))
    throw usageError(
      `<uid> ${hideUrlSecrets(uid)}: is an address, not the uid of a webhook`,
      'Give the address with --url.',
    );
  if (/\.\w+$|\/|^-$/.test(uid))
    throw usageError(`<uid> ${uid}: is a file, not the uid of a webhook`, command`Give it with --file ${uid}.`);
  if (destinationUrl !== undefined) throw usageError('--url cannot be used with a uid', 'Omit one of them.');
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
  const listed = await listWebhooks(context, { destinationUrl: url, uid: state.uid });
  const isListed = (uid: string | null) => listed.some((each) => each.uid === uid);
  if (state.replaces !== null) {
    const isTaken = state.gapFromMs !== null && listed.length > 0 && !isListed(state.replaces);
    if (state.uid === null ? !isTaken : isListed(state.uid)) return listed;
    // The new webhook is gone, and the old one stays; or another machine registered one in the gap.
    saveState(upload, { replaces: null, gapFromMs: null });
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
    setWebhook(upload, null, { digest: null });
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

/** Previews the next request of a sync; if there is none, shows why. */
async function previewSync(run: UploadRun, result: SyncResult): Promise<Result> {
  if (run.list.left.count === 0) return { kind: 'answer', answer: result, view: synced };
  if (result.replaced !== null) {
    run.context.note(`Would replace webhook ${result.replaced}: registers a new one, and deletes the old one.`);
    setWebhook(run.upload, null, { digest: null });
  }
  return previewList(run);
}

async function showCheck(run: UploadRun, result: SyncResult): Promise<Result> {
  const { input, list, upload, context } = run;
  for (const line of describeUnfinished([upload], () => true)) context.note(line);
  if (context.options.curl && list.left.count > 0) return previewNext(run);
  const isSent = result.missing > 0 || upload.state.replaces !== null;
  const isOff = isSent || (input.exact === true && result.notRemovable > 0);
  const hint = 'Run the same command without --check to send what is missing.';
  const failure = new SotraError('partial', 'the webhook does not have exactly the addresses of the list', { hint });
  return { kind: 'answer', answer: result, view: synced, ...(isOff && { failure, exitCode: failure.exitCode }) };
}

/** Writes the addresses that left the file to a file of their own, and prints its name; without any, removes it. */
function listSurplus(surplus: readonly string[], { upload, context }: UploadRun): void {
  if (context.options.preview) return;
  const file = join(upload.folder, 'not-in-file.txt');
  if (surplus.length === 0) rmSync(file, { force: true });
  else {
    replaceFile(file, `${surplus.join('\n')}\n`);
    context.note(`The addresses that are not in the list are written to ${file}`);
  }
}

async function confirmReplacing({ upload, list, context }: UploadRun, old: string, surplus: number): Promise<void> {
  const what = `replace webhook ${old} with a new one of ${counted(list.size, 'address')}`;
  const shown =
    `Webhook ${old} sends to ${upload.state.destinationUrl}; ${counted(surplus, 'address')} of it ${surplus === 1 ? 'is' : 'are'} not in the list.\n` +
    'The new one has another secret. If the service allows one webhook per URL, the old one is deleted first.\n';
  await confirm(what, context, shown);
}
