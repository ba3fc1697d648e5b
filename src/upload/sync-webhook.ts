import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { SotraError, toSotraError } from '../errors.ts';
import { normalizeDestination } from '../model/http-address.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { addSecret, fingerprintSecret, keptSecret, readOwnSecret, shownSecret } from '../resources/webhook/secrets.ts';
import { isSameDestination, type Job, jobsFolder, jobsOfKey, setAside } from './jobs.ts';
import { openJournal, readJournal } from './journal.ts';
import type { AddressList } from './read-addresses.ts';
import { planUpload, type UploadInput, withUpload } from './run-upload.ts';
import type { UploadDisplay } from './show-upload.ts';
import { continuing, listWebhooksFor, registerWebhook, splitChunks, type Upload, withRetries } from './upload.ts';

/** The webhook that a list is for. */
export interface Target {
  /** `undefined` where it is still to be made. */
  uid: string | undefined;
  /** A replacement that an earlier run began. */
  replacement: Job | undefined;
  /** The webhooks of the destination. */
  listed: endpoints.WebhookList;
}

/**
 * Finds the webhook of a destination; a preview asks nobody and goes by what this machine made. Errors: those of the list; `conflict` where
 * there are several and none is known to be meant. With `isCheck` nothing is changed.
 */
export async function findSyncedWebhook(
  url: string,
  { jobs, isCheck }: { jobs: readonly Job[]; isCheck: boolean },
  context: Context,
): Promise<Target> {
  const own = jobs.filter(({ state }) => isSameDestination(state.plan.destinationUrl, url));
  const made = own.flatMap(({ state }) => (state.uid === undefined ? [] : [{ uid: state.uid, destinationUrl: url }]));
  const listed = context.options.preview ? made.slice(-1) : await listWebhooksFor(url, context);
  const isListed = (uid: string | undefined) => listed.some((each) => each.uid === uid);
  const open = own.filter(({ state }) => state.finishedMs === undefined);
  const replacement = open.find(({ state }) => state.plan.replaces !== undefined);
  if (replacement !== undefined) {
    const { uid } = replacement.state;
    if (uid === undefined || isListed(uid)) return { uid, replacement, listed };
    if (!isCheck) setAside(replacement.folder);
  }
  // A POST without an answer made one of those that came since.
  const lost = open.find(({ state }) => state.posting !== undefined)?.state.posting;
  if (lost !== undefined && (listed.length === 0 || listed.some(({ uid }) => !lost.before.includes(uid))))
    return { uid: undefined, replacement: undefined, listed };
  const [first, second] = listed;
  const known = listed.filter(({ uid }) => jobs.some(({ state }) => state.uid === uid));
  if (second !== undefined && known.length !== 1)
    throw new SotraError('conflict', `${listed.length} webhooks send to ${hideUrlSecrets(url)}`, {
      hint: `Name one in place of --url: ${listed.map(({ uid }) => uid).join(', ')}. sotra webhook delete removes another.`,
    });
  return { uid: (second === undefined ? first : known[0])?.uid, replacement: undefined, listed };
}

export interface SyncTask {
  url: string;
  /** The webhook that goes once the new one has its addresses. */
  replaces: string | undefined;
  input: UploadInput;
  list: AddressList;
  show: UploadDisplay;
  context: Context;
}

export interface MadeWebhook {
  job: Job;
  uid: string;
  secret: string | undefined;
}

/**
 * Makes the webhook of a destination, with the first addresses; where the service refuses a second one beside the one to be replaced, that
 * goes first. The same call continues after a kill at any moment. Errors: as in `registerWebhook`; `partial` once the old one is gone.
 */
export async function makeTarget({ url, replaces, input, list, show, context }: SyncTask): Promise<MadeWebhook> {
  const jobs = await jobsFolder(context);
  const addresses = new Set([...splitChunks(list.addresses)][0]?.addresses);
  const parts = ['sync', null, normalizeDestination(url), replaces ?? null];
  const planned = await planUpload(parts, input, { ...list, addresses }, context);
  const folder = join(jobs, planned.job);
  let earlier = readJournal(folder);
  if (earlier?.finishedMs !== undefined) {
    // What it made is gone.
    setAside(folder);
    earlier = undefined;
  }
  const plan = { ...planned, ...(replaces !== undefined && { replaces }) };
  const retires = replaces === undefined ? undefined : findSecret(replaces, await jobsOfKey(context), []);
  if (retires !== undefined) Object.assign(plan, { retires: fingerprintSecret(retires) });
  const journal = openJournal(folder, earlier, plan);
  const job = { folder, state: journal.state };
  const own = { ...input, addresses, another: true, destinationUrl: url };
  await withUpload(job, journal, own, context, async (upload) => {
    const shown: Upload = { ...upload, onEvent: show.event };
    if (replaces === undefined) await registerWebhook(shown);
    else await registerSecond(shown, replaces, [...addresses]);
    if (replaces === undefined) await journal.write({ kind: 'finished', atMs: context.world.now() });
  });
  const { uid = '' } = journal.state;
  return { job: { folder, state: journal.state }, uid, secret: keptSecret(job) };
}

/** Statuses of a service that allows one webhook a destination; of others nothing can be concluded. */
const refusals = [400, 409, 422];

async function registerSecond(upload: Upload, old: string, walletAddresses: string[]): Promise<void> {
  const { context, journal } = upload;
  if (journal.state.gap === undefined)
    try {
      return await registerWebhook(upload);
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || !refusals.includes(thrown.status ?? 0)) throw thrown;
      // The old webhook takes the same addresses: what is refused is the second webhook. Otherwise this throws, and the old one stays.
      await withRetries(context, (retries) =>
        context.call(endpoints.addAddresses, { uid: old, walletAddresses }, undefined, retries),
      );
      await journal.write({ kind: 'deleting', atMs: context.world.now() });
    }
  try {
    await deleteWebhook(old, context);
    await registerWebhook(upload);
  } catch (cause) {
    if (journal.state.uid !== undefined || context.world.signal.aborted) throw cause;
    const { message, hint } = toSotraError(cause);
    throw new SotraError(
      'partial',
      `webhook ${old} had to be deleted first, and the new one is not made yet: ${message}`,
      {
        hint: hint === undefined ? continuing : `${continuing} ${hint}`,
        cause,
      },
    );
  }
}

/** Deletes a webhook, also one that is gone already. Errors: those of the call. */
async function deleteWebhook(uid: string, context: Context): Promise<void> {
  try {
    await withRetries(context, (retries) => context.call(endpoints.remove, { uid }, undefined, retries));
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.code !== 'not-found') throw thrown;
  }
}

/** The last step of a replacement: the old webhook goes, with all that this machine keeps of it. Errors: those of the call. */
export async function finishReplacement({ folder, state }: Job, context: Context): Promise<void> {
  const { replaces } = state.plan;
  if (replaces === undefined) return;
  await deleteWebhook(replaces, context);
  for (const other of await jobsOfKey(context))
    if (other.state.uid === replaces && other.folder !== folder) rmSync(other.folder, { recursive: true });
  await finishJob({ folder, state }, context);
}

export async function finishJob({ folder, state }: Job, { world }: Context): Promise<void> {
  const journal = openJournal(folder, state, state.plan);
  await journal.write({ kind: 'finished', atMs: world.now() });
  journal.close();
}

/** The secret of a webhook, as this machine keeps it or the service lists it. */
function findSecret(uid: string, jobs: readonly Job[], listed: endpoints.WebhookList): string | undefined {
  const [kept] = jobs.filter(({ state }) => state.registered === uid).flatMap((job) => keptSecret(job) ?? []);
  const shown = listed.find((each) => each.uid === uid);
  return kept ?? (shown && shownSecret(shown));
}

/**
 * Sees to it that a file has the secret of a webhook, beside others that it holds; without the one that this webhook's predecessor replaced.
 * Errors: `not-found` where nobody knows the secret and the file is empty; those of the file system.
 */
export function keepInFile(file: string, uid: string, jobs: readonly Job[], listed: endpoints.WebhookList): void {
  const isEmpty = readOwnSecret(file) === undefined;
  const secret = findSecret(uid, jobs, isEmpty ? listed : []);
  if (secret === undefined && isEmpty)
    throw new SotraError(
      'not-found',
      `webhook ${uid} exists, and neither this machine nor the service tells its secret`,
      { hint: `Write it to ${file} if you have it; --replace makes a webhook with a new one.` },
    );
  if (secret === undefined) return;
  const before = jobs.find(({ state }) => state.registered === uid)?.state.plan.replaces;
  const retired = jobs.find(({ state }) => before !== undefined && state.registered === before)?.state.plan.retires;
  addSecret(file, secret, retired);
}
