import { chunkSize } from '../api/webhook.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import type { Result } from '../lib/output/view.ts';
import { listWebhooks, refuseSecond } from './make-webhook.ts';
import { readAddresses } from './read-addresses.ts';
import { checkSecretFile, describeSecret, findSecret, handOverSecret, readSecretFile } from './secrets.ts';
import { previewNext, sendAddresses } from './send.ts';
import { dropConfirmed, forgetWebhook, openUpload, takeConfirmed } from './state.ts';
import { checkSyncFlags, syncList } from './sync.ts';
import { showUpload, type UploadInput, type UploadRun } from './upload-run.ts';
import { type UploadResult, uploaded as view } from './view.ts';

/**
 * The one path of a list to a webhook: every line is checked, confirmed addresses are removed, and the rest is sent. Errors: `usage` with
 * nothing sent; `locked`; as in `sendAddresses`.
 */
export async function uploadAddresses(input: UploadInput, context: Context): Promise<Result> {
  const isSync = input.task === 'sync';
  if (isSync) checkSyncFlags(input);
  const isReadOnly = context.options.preview || input.check === true;
  const isCheck = isSync && isReadOnly;
  const show = await showUpload(context, { brief: isSync });
  let unlock = () => {};
  try {
    show.read(0);
    const list = await readAddresses(input, context, { refusesStrays: isCheck, onRead: show.read });
    if (isCheck && list.duplicates > 0) context.note(`${counted(list.duplicates, 'duplicate')} in the list.`);
    if (input.secretFile !== undefined && !isReadOnly) checkSecretFile(input.secretFile);
    const opened = await openUpload(input, isReadOnly, context);
    unlock = opened.unlock;
    const run: UploadRun = { input, list, upload: opened.upload, listed: [], sent: 0, show, context };
    return await (isSync ? syncList(run) : sendList(run));
  } finally {
    show.stop();
    unlock();
  }
}

/** Sends a list to a webhook, which it registers unless one is given. */
async function sendList(run: UploadRun): Promise<Result> {
  const { input, list, upload, context } = run;
  const { state } = upload;
  if (input.task === 'register') await checkRegistered(run);
  // An interrupted --again continues.
  if (input.again && state.line === null) await dropConfirmed(upload, list);
  else await takeConfirmed(upload, list);
  const isFinished = list.left.count === 0 && state.uid !== null && state.line === null;
  if (isFinished) {
    const hint = input.task === 'register' ? '' : ' --again sends them once more.';
    context.note(`Nothing was sent: webhook ${state.uid} has all ${counted(list.size, 'address')}.${hint}`);
  }
  if (context.options.preview) return isFinished ? { kind: 'none' } : previewList(run);
  handOverSecret(run);
  if (!isFinished) await sendAddresses(run);
  const answer: UploadResult = {
    uid: state.uid ?? '',
    destinationUrl: state.destinationUrl,
    addresses: list.size,
    chunks: Math.ceil(list.size / chunkSize),
    duplicates: list.duplicates,
    rejected: list.rejected,
    ...(input.task === 'register' && describeSecret(run)),
  };
  return { kind: 'answer', answer, view };
}

/** Looks whether the webhook of an earlier run is there, and is of the same list. Errors: `conflict`; `usage` for a --secret-file in use. */
async function checkRegistered({ input, list, upload, context }: UploadRun): Promise<void> {
  const { uid, digest } = upload.state;
  const { secretFile } = input;
  const { preview } = context.options;
  const isSame = digest === list.digest;
  if (uid !== null) {
    const listed = preview ? [] : await listWebhooks(context);
    const known = listed.filter((webhook) => webhook.uid === uid);
    const isGone = !preview && known.length === 0;
    if (isGone) context.warn(`webhook ${uid} of an earlier run is gone: registering a new one`);
    else if (!isSame && !input.another) refuseSecond(known);
    if (isGone || !isSame) forgetWebhook(upload);
  }
  if (secretFile === undefined || preview) return;
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
  const requests = Math.ceil(count / chunkSize);
  const some = count < list.size ? `${formatCount(count)} of ` : '';
  const many =
    requests === 1
      ? 'one request.'
      : `${formatCount(requests)} requests; this is the first, the others are PUTs of up to 1,000.`;
  context.note(`${some}${counted(list.size, 'address')} in ${many}`);
  return previewNext(run);
}
