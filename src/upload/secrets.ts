import { createHash } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Webhook, WebhookList } from '../api/webhook-answers.ts';
import { hidden } from '../client/url-secrets.ts';
import type { Context } from '../context.ts';
import { readMessage, SotraError, usageError } from '../errors.ts';
import { checkReplaceable, replaceFile, warnOfReaders } from '../lib/files/durable-file.ts';
import { decodeText, readSmallFile } from '../lib/files/source.ts';
import { written } from '../lib/quoted.ts';
import type { Job } from './journal.ts';

/** Warns where others may read a file. Errors: as in `readSecrets`. */
export function readOwnSecrets(files: readonly string[], context: Context): string[] {
  return files.flatMap((file) => {
    warnOfReaders(file, context);
    return readSecrets(file);
  });
}

/** The secrets in a file, one a line, without comments (#) and empty lines. Errors: `local-file` naming the file. */
export function readSecrets(file: string): string[] {
  const hint = 'sotra webhook sync --url <url> --file <file> --secret-file <file> writes one.';
  let text: string;
  try {
    text = decodeText(readSmallFile(file), written(file));
  } catch (cause) {
    if (cause instanceof SotraError && cause.code === 'usage') throw cause;
    // Perhaps the secret itself was given in place of its file.
    const name = written(file);
    const message = `the secret file ${name} cannot be read: ${readMessage(cause)}`;
    throw new SotraError('local-file', message, { hint, cause });
  }
  const secrets = text.split('\n').flatMap((line) => (/^\s*(#.*)?$/.test(line) ? [] : [line.trim()]));
  if (secrets.includes(hidden))
    throw new SotraError('local-file', `the secret file ${file} holds ${hidden} in place of a secret`, { hint });
  if (secrets.length > 0) return secrets;
  throw new SotraError('local-file', `the secret file ${file} holds no secret`, { hint });
}

/**
 * Refuses a file that a secret could not be written to later, or that holds another one, unless it may. Errors: `usage`, `local-file` for a
 * full disk.
 */
export function checkSecretFile(file: string, { mayHold = false } = {}): void {
  if (!mayHold && readOwnSecret(file) !== undefined)
    throw usageError(
      `--secret-file ${file}: exists and is not empty`,
      'Name a new file. If it is the one of this webhook, sotra webhook sync sends what changed in the list.',
    );
  try {
    checkReplaceable(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String(code));
    throw new SotraError(
      isFull ? 'local-file' : 'usage',
      `--secret-file ${file}: cannot be written: ${readMessage(cause)}`,
      {
        hint: isFull ? 'Free some disk space, or name a file on another disk.' : undefined,
        cause,
      },
    );
  }
}

/** The text of a file; `undefined` where it is empty or absent. */
export function readOwnSecret(file: string): string | undefined {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile();
  return (isFile && decodeText(readSmallFile(file), file).trim()) || undefined;
}

/** Where this machine keeps the secret of the webhook that a job made. */
export function keptSecretFile({ folder }: Pick<Job, 'folder'>): string {
  return join(folder, 'secret');
}

/** The secret of the webhook that a job made. Errors: `local-file`. */
export function keptSecret(job: Pick<Job, 'folder'>): string | undefined {
  const file = keptSecretFile(job);
  return readOwnSecret(file) === undefined ? undefined : readSecrets(file)[0];
}

/** Sees that the secret of a job, which the service shows once, can be kept. Errors: those of the file system. */
export function checkRoomForSecret(job: Pick<Job, 'folder'>): void {
  checkReplaceable(keptSecretFile(job));
}

/** Keeps another secret for a job, or none. Errors: those of the file system. */
export function replaceKeptSecret(job: Pick<Job, 'folder'>, secret: string | undefined): void {
  if (secret === undefined) rmSync(keptSecretFile(job), { force: true });
  else writeSecret(keptSecretFile(job), secret);
}

/** Writes a secret to a file of mode 0600, safe on disk when it returns. Errors: those of the file system. */
export function writeSecret(file: string, secret: string): void {
  replaceFile(file, `${secret}\n`);
}

/** Puts a secret first in a file that may hold others, which stay, but for a retired one. Errors: those of the file system. */
export function addSecret(file: string, secret: string, retired?: string): void {
  const before = (readOwnSecret(file) ?? '').split('\n').map((line) => line.trim());
  const kept = before.filter((line) => line !== '' && line !== secret && fingerprintSecret(line) !== retired);
  const lines = [secret, ...kept];
  if (lines.join('\n') !== before.join('\n')) writeSecret(file, lines.join('\n'));
}

/** What stands for a secret where it must not be written down. */
export function fingerprintSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 16);
}

/** A list of webhooks, checked. Errors: `contract` for another shape, which does not say what webhooks there are. */
export function checkedList(data: WebhookList): WebhookList {
  if (Array.isArray(data)) return data;
  throw new SotraError('contract', 'the service answered with something else than a list of webhooks', {
    hint: 'See it as it came: sotra request GET /v1/webhooks/feed',
  });
}

/** The secret of a listed webhook; `undefined` where the service leaves it out or masks it. */
export function shownSecret({ secret }: Pick<Webhook, 'secret'>): string | undefined {
  return secret && /^[\x21-\x7e]+$/.test(secret) && !secret.includes('*') ? secret : undefined;
}

/** The secret of a webhook, as this machine keeps it or the service lists it. */
export function findWebhookSecret(uid: string, jobs: readonly Job[], listed: WebhookList): string | undefined {
  const [kept] = jobs.filter(({ state }) => state.registered === uid).flatMap((job) => keptSecret(job) ?? []);
  const shown = listed.find((each) => each.uid === uid);
  return kept ?? (shown && shownSecret(shown));
}
