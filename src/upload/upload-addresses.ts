import * as endpoints from '../api/webhook.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import type { Result } from '../lib/output/result.ts';
import { dropConfirmed, takeConfirmed } from './confirmed.ts';
import { refuseSecond } from './make-webhook.ts';
import { readAddresses } from './read-addresses.ts';
import { checkedList, checkSecretFile, describeSecret, findSecret, handOverSecret, readSecretFile } from './secrets.ts';
import { previewNext, sendAddresses } from './send.ts';
import { showUpload } from './show-upload.ts';
import { forgetWebhook, openUpload } from './state.ts';
import { checkSyncFlags, syncList } from './sync.ts';
import type { UploadInput, UploadRun } from './upload-run.ts';
import { type UploadResult, uploaded as view } from './view.ts';
import { callWithRetries } from './with-retries.ts';

/**
 * The one path of a list to a webhook: every line is checked, confirmed addresses are removed, and the rest is sent. Errors: `usage` with
 * nothing sent; `locked`; as in `sendAddresses`.
 */
export async function uploadAddresses(input: UploadInput, context: Context): Promise<Result> {
  const isSync = input.task === 'sync';
  if (isSync) checkSyncFlags(input);
  const isReadOnly = context.options.preview || input.check === true;
  const show = await showUpload(context, { brief: isSync });
  let unlock = () => {};
  try {
    show.reading();
    const list = await readAddresses({ ...input, refusesStrays: isSync && isReadOnly }, context, show.reading);
    if (isSync && isReadOnly && list.duplicates > 0)
      context.note(`${counted(list.duplicates, 'duplicate')} in the list.`);
    if (input.secretFile !== undefined && !isReadOnly) checkSecretFile(input.secretFile);
    const opened = await openUpload(input, isReadOnly, context);
    unlock = opened.unlock;
    const run = { input, list, upload: opened.upload, show, context };
    return await (isSync ? syncList(run) : sendList(run));
  } finally {
    show.stop();
    unlock();
  }
}

/** Sends a list to a webhook, which it registers unless one is given. */
async function sendList(run: UploadRun): Promise<Result> {
  const { input, list, upload, show, context } = run;
  const { state } = upload;
  if (input.task === 'register') await checkRegistered(run);
  // An interrupted --again continues.
  if (input.again && state.line === null) await dropConfirmed(upload, list);
  else await takeConfirmed(upload, list);
  const left = list.left.count;
  const isFinished = left === 0 && state.uid !== null && state.line === null;
  if (isFinished) {
    const hint = input.task === 'register' ? '' : ' --again sends them once more.';
    context.note(`Nothing was sent: webhook ${state.uid} has all ${counted(list.size, 'address')}.${hint}`);
  }
  if (context.options.preview) return isFinished ? { kind: 'none' } : previewList(run);
  handOverSecret(run, []);
  if (!isFinished) await sendAddresses(run);
  const result: UploadResult = {
    uid: state.uid ?? '',
    destinationUrl: state.destinationUrl,
    addresses: list.size,
    chunks: Math.ceil(list.size / endpoints.chunkSize),
    duplicates: list.duplicates,
    rejected: list.rejected,
    ...(input.task === 'register' && describeSecret(run, [])),
  };
  return show.result(result, view);
}

/** Looks whether the webhook of an earlier run is there, and is of the same list. Errors: `conflict`; `usage` for a --secret-file in use. */
async function checkRegistered({ input, list, upload, context }: UploadRun): Promise<void> {
  const { uid, digest } = upload.state;
  const { secretFile } = input;
  const isSame = digest === list.digest;
  if (context.options.preview) {
    if (!isSame) forgetWebhook(upload);
    return;
  }
  if (uid !== null) {
    const listed = checkedList((await callWithRetries(context, endpoints.list, {})).data);
    const known = listed.filter((webhook) => webhook.uid === uid);
    if (known.length === 0) context.warn(`webhook ${uid} of an earlier run is gone: registering a new one`);
    else if (!isSame && !input.another) refuseSecond(known);
    if (known.length === 0 || !isSame) forgetWebhook(upload);
  }
  if (secretFile === undefined) return;
  const text = readSecretFile(secretFile);
  const own = upload.state.uid === null ? undefined : findSecret(upload.state.uid, [upload], []);
  if (text !== '' && !(own && text.split('\n').includes(own)))
    throw usageError(
      `--secret-file ${secretFile}: exists and is not empty`,
      'Name a new file. If it is the one of this webhook, sotra webhook sync sends what changed in the list.',
    );
}

/** Previews the next request, and says how many there are. */
async function previewList(run: UploadRun): Promise<Result> {
  const { list, context } = run;
  const { count } = list.left;
  const requests = Math.ceil(count / endpoints.chunkSize);
  const some = count < list.size ? `${formatCount(count)} of ` : '';
  const more = requests > 1 ? 's; this is the first, the others are PUTs of up to 1,000.' : '.';
  context.note(
    `${some}${counted(list.size, 'address')} in ${requests === 1 ? 'one' : formatCount(requests)} request${more}`,
  );
  return previewNext(run);
}
