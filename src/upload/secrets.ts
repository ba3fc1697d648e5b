import { accessSync, constants, existsSync, lstatSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defined } from '../api/json.ts';
import type { WebhookList } from '../api/webhook-answers.ts';
import { readMessage, SotraError, usageError } from '../errors.ts';
import { readStateBytes, readStateFile, refuseOther, replaceFile } from '../lib/files/durable-file.ts';
import { decodeText } from '../lib/files/source.ts';
import { hashParts, type Upload } from './state.ts';
import type { UploadRun } from './upload-run.ts';

/** Where an upload keeps the secret of one of its webhooks, whose uid may not be a valid file name. */
function keptSecretFile({ folder }: Upload, uid: string): string {
  return join(folder, `secret-${hashParts([uid]).slice(0, 12)}`);
}

/** Keeps the secret of a webhook (mode 0600), safe on disk when it returns. Errors: those of the file system. */
export function keepSecret(upload: Upload, uid: string, secret: string): void {
  replaceFile(keptSecretFile(upload, uid), `${secret}\n`);
}

export function dropSecret(upload: Upload, uid: string): void {
  rmSync(keptSecretFile(upload, uid), { force: true });
}

/** The secret of a webhook as an upload kept it, or else as the service lists it, unless it is masked there. Errors: `local-file`. */
export function findSecret(uid: string, uploads: readonly Upload[], listed: WebhookList): string | undefined {
  const file = uploads.map((upload) => keptSecretFile(upload, uid)).find((each) => existsSync(each));
  if (file !== undefined) return readStateFile(file).trim();
  const secret = listed.find((each) => each.uid === uid)?.secret;
  return secret && /^[\x21-\x7e]+$/.test(secret) && !secret.includes('*') ? secret : undefined;
}

/** Refuses a --secret-file that could not be written later. Errors: `usage`. */
export function checkSecretFile(file: string): void {
  try {
    refuseOther(file, lstatSync(file, { throwIfNoEntry: false }));
    accessSync(dirname(file), constants.W_OK);
  } catch (cause) {
    throw usageError(`--secret-file ${file}: cannot be written: ${readMessage(cause)}`);
  }
}

/** The text of a --secret-file; empty if there is none. */
export function readSecretFile(file: string): string {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile();
  return isFile ? decodeText(readStateBytes(file), file).trim() : '';
}

/** Puts a secret first in a --secret-file (mode 0600). Its other lines stay, except retired secrets. Errors: those of the file system. */
function writeSecretFile(file: string, secret: string, retired: readonly string[]): void {
  const before = readSecretFile(file)
    .split('\n')
    .map((line) => line.trim());
  const kept = before.filter((line) => line !== '' && line !== secret && !retired.includes(line));
  const lines = [secret, ...kept];
  if (lines.join('\n') !== before.join('\n')) replaceFile(file, `${lines.join('\n')}\n`);
}

/** A list of webhooks, checked. Errors: `contract` for another shape, which does not say what webhooks there are. */
export function checkedList(data: WebhookList): WebhookList {
  if (Array.isArray(data)) return data;
  throw new SotraError('contract', 'the service answered with something else than a list of webhooks', {
    hint: 'See it as it came: sotra request GET /v1/webhooks/feed',
  });
}

/**
 * Writes the secret of the webhook to --secret-file, without those of earlier webhooks that are gone. Errors: `not-found` if nobody knows it and
 * the file is empty; `partial` if it cannot be written.
 */
export function handOverSecret({ input, upload, listed, context }: UploadRun): void {
  const { uid, former } = upload.state;
  const { secretFile: file, task } = input;
  if (file === undefined || uid === null) return;
  const secret = findSecret(uid, [upload], listed);
  if (secret === undefined) {
    if (readSecretFile(file) !== '') return;
    if (task === 'register') {
      context.warn(`the service did not return the secret of webhook ${uid}`);
      return;
    }
    throw new SotraError(
      'not-found',
      `webhook ${uid} exists, but its secret is not stored on this machine, and the service does not show it`,
      { hint: `Write it to ${file} if you have it; --replace makes a webhook with a new one.` },
    );
  }
  // The last one may have signed deliveries that are still on their way.
  const gone = former.slice(1).filter((each) => !listed.some((webhook) => webhook.uid === each));
  const retired = gone.flatMap((each) => findSecret(each, [upload], []) ?? []);
  try {
    writeSecretFile(file, secret, retired);
  } catch (cause) {
    const kept = keptSecretFile(upload, uid);
    const message = `--secret-file ${file} of webhook ${uid} cannot be written: ${readMessage(cause)}`;
    throw new SotraError('partial', message, {
      hint: `Its secret is in ${kept}; the same command writes it to the file, and continues.`,
      cause,
      details: { uid, secretFile: kept },
    });
  }
}

/** The file with the secret of the webhook, if it is known, and with --show-secrets the secret. */
export function describeSecret({ input, upload, listed }: UploadRun): { secretFile?: string; secret?: string } {
  const uid = upload.state.uid ?? '';
  const secret = findSecret(uid, [upload], listed);
  if (secret === undefined) return {};
  const kept = keptSecretFile(upload, uid);
  return defined({
    secretFile: input.secretFile ?? (existsSync(kept) ? kept : undefined),
    secret: input.showSecrets ? secret : undefined,
  });
}
