import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { orUndefined, SotraError, toSotraError } from '../errors.ts';
import { createAddressSet } from '../model/address-set.ts';
import { sameDestination } from '../model/http-address.ts';
import { isIdentifier } from '../model/identifier.ts';
import type { BulkEntry } from '../resources/follow/endpoints.ts';
import type { WebhookList } from '../resources/webhook/endpoints.ts';
import { secretIn, webhookSecret, writeSecret } from '../resources/webhook/secrets.ts';
import { checkAddresses } from '../resources/webhook/upload/first-pass.ts';
import { addressesFile, jobsOfService, readChunks } from '../resources/webhook/upload/jobs.ts';
import { syncAddresses } from '../resources/webhook/upload/run-sync.ts';
import { uploadAddresses } from '../resources/webhook/upload/run-upload.ts';
import type { SyncResult } from '../resources/webhook/view.ts';
import { hashOf } from '../settings/project.ts';
import type { WantedWebhook } from './project-file.ts';

/** One difference between file and service. */
export interface Change {
  action: 'register' | 'continue' | 'add' | 'remove' | 'write secret' | 'follow' | 'unfollow';
  /** A destination, a webhook's uid, a follower. */
  what: string;
  /** Addresses or targets. */
  count: number;
  detail: string | null;
}

/** A change and what makes it; without `run` or `entry` it can only be made by hand. */
export interface Step {
  change: Change;
  run?: () => Promise<Result | undefined>;
  entry?: BulkEntry;
}

/** All addresses of a webhook, each once, in one file. */
export interface AddressList {
  file: string;
  count: number;
  digest: string;
}

/** Errors: `usage` naming the list and the line; `local-file`. */
export async function readLists(
  projectFile: string,
  { addresses, column, destination }: WantedWebhook,
  folder: string,
  context: Context,
): Promise<AddressList> {
  const file = addressesFile(folder);
  const known = createAddressSet();
  let count = 0;
  mkdirSync(folder);
  const typed = addresses.filter(isIdentifier);
  const files = addresses.filter((each) => !isIdentifier(each)).map((each) => resolve(dirname(projectFile), each));
  const sources = [
    ...files.map((each) => ({ file: each, column })),
    ...(typed.length > 0 ? [{ walletAddresses: typed }] : []),
  ];
  for (const [index, source] of sources.entries()) {
    const part = join(folder, String(index));
    mkdirSync(part);
    const more = { to: addressesFile(part), onRead: () => undefined, ...(index > 0 && { known }) };
    try {
      count += (await checkAddresses(source, context, more)).addresses;
    } catch (thrown) {
      const { code, message, details } = toSotraError(thrown);
      if (code !== 'usage') throw thrown;
      const hint = 'Correct the list that sotra.yaml names.';
      throw new SotraError(code, `webhook to ${destination}: ${message}`, { hint, details, cause: thrown });
    }
    if (sources.length > 1)
      for (const { addresses: some } of readChunks(part)) for (const address of some) known.add(address);
    appendFileSync(file, readFileSync(addressesFile(part)));
  }
  return { file, count, digest: hashOf(readFileSync(file)) };
}

/** What makes a webhook of the service that of the file. Errors: those of the calls and of this machine's uploads. */
export async function webhookSteps(
  { destination, addresses, secretFile }: WantedWebhook,
  { file, count, digest }: AddressList,
  existing: WebhookList,
  context: Context,
): Promise<Step[]> {
  // Lists are normalized and were checked already; events of an upload are no part of this result.
  const list = { file, allowBadChecksum: true } as const;
  const { options } = context;
  const quiet = { ...context, options: { ...options, format: options.format && ('json' as const) } };
  const jobs = await jobsOfService(context);
  const webhooks = existing.filter((each) => sameDestination(each.destinationUrl, destination));
  const webhook = webhooks.find(({ uid }) => jobs.some(({ state }) => state.uid === uid)) ?? webhooks[0];
  const started = jobs.some(
    ({ state: { plan, finishedMs, uid } }) =>
      plan.task === 'register' &&
      finishedMs === undefined &&
      plan.digest === digest &&
      sameDestination(plan.destinationUrl ?? '', destination) &&
      (uid === undefined || uid === webhook?.uid),
  );
  if (webhook === undefined || started)
    return [
      {
        change: {
          action: started ? 'continue' : 'register',
          what: destination,
          count,
          detail: addresses.join(', '),
        },
        run: () => uploadAddresses({ ...list, task: 'register', destinationUrl: destination, secretFile }, quiet),
      },
    ];
  const { uid } = webhook;
  const checked = await syncAddresses({ ...list, uid, check: true }, { ...quiet, warn: () => undefined });
  const { missing, notRemovable, notRemovableAddresses } = (checked as { answer: SyncResult }).answer;
  const steps: Step[] = [];
  if (missing > 0)
    steps.push({
      change: { action: 'add', what: uid, count: missing, detail: `addresses for ${destination}` },
      run: () => syncAddresses({ ...list, uid }, quiet),
    });
  if (notRemovable > 0) {
    const detail = `the service has no way to remove an address: ${notRemovableAddresses.join(', ')}`;
    steps.push({ change: { action: 'remove', what: uid, count: notRemovable, detail } });
  }
  if (secretFile !== undefined && secretIn(secretFile) === undefined)
    steps.push(await secretStep(uid, secretFile, context));
  return steps;
}

async function secretStep(uid: string, secretFile: string, context: Context): Promise<Step> {
  const change = { action: 'write secret', what: uid, count: 1, detail: secretFile } as const;
  const secret = await orUndefined(webhookSecret(uid, context), 'not-found');
  if (secret === undefined)
    return { change: { ...change, detail: `${secretFile}: the service shows a secret once, and it is not here` } };
  const run = async () => {
    writeSecret(secretFile, secret);
    return undefined;
  };
  return { change, run };
}
