import { createHash } from 'node:crypto';
import {
  accessSync,
  appendFileSync,
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { WebhookList } from '../api/answers.ts';
import { normalizeDestination } from '../api/http-address.ts';
import { defined, tryParseJson } from '../api/json.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import type { Context } from '../context.ts';
import { readMessage, SotraError, usageError } from '../errors.ts';
import { dataDirectory } from '../lib/config/config.ts';
import { takeLock } from '../lib/files/database.ts';
import {
  makeFolder,
  openStateFile,
  readStateBytes,
  readStateFile,
  refuseDash,
  refuseOther,
  replaceFile,
  syncFolder,
} from '../lib/files/durable-file.ts';
import { decodeText, isSameFile } from '../lib/files/source.ts';
import { compareLines } from './address-lines.ts';
import type { AddressList } from './read-addresses.ts';

const stateSchema = z.object({
  version: z.literal(1),
  baseUrl: z.string(),
  /** A hash of the key. */
  keyId: z.string(),
  /** Without its secrets; `null` if the webhook was named by its uid. */
  destinationUrl: z.string().nullable(),
  /** The webhook whose addresses are in confirmed.txt; `null` until there is one. */
  uid: z.string().nullable(),
  /** A POST is about to be sent, or was; these webhooks had the destination before. */
  posting: z.object({ before: z.array(z.string()) }).nullable(),
  /** The webhook to delete once this one has all addresses. */
  replaces: z.string().nullable(),
  /** Since when the destination has no webhook, because the old one had to be deleted first. */
  gapFromMs: z.number().nullable(),
  /** SHA-256 of the last list. */
  digest: z.string().nullable(),
  /** The command line that continues the upload, without its secrets; `null` once it is finished. */
  line: z.string().nullable(),
});

export type UploadState = z.output<typeof stateSchema>;

/** What this machine knows of a destination. */
export interface Upload {
  folder: string;
  state: UploadState;
  /** The webhook that confirmed.txt is of. */
  confirmedOf: string | null;
  /** A preview or a check: the state changes in memory alone. */
  isReadOnly: boolean;
}

/** By its URL or by its uid. */
export interface Destination {
  destinationUrl?: string | undefined;
  uid?: string | undefined;
}

/** The upload of a destination, locked unless it is only read, and what unlocks it. Errors: `locked`; `local-file` for a damaged state. */
export async function openUpload(
  { destinationUrl, uid }: Destination,
  isReadOnly: boolean,
  context: Context,
): Promise<{ upload: Upload; unlock: () => void }> {
  const root = uploadsFolder(context);
  const service = await readServiceId(context);
  const known = uid === undefined ? undefined : readUploads(root, service).find(({ state }) => state.uid === uid);
  const name = destinationUrl === undefined ? uid : normalizeDestination(destinationUrl);
  const folder = known?.folder ?? join(root, hashParts([service, name]).slice(0, 12));
  if (!isReadOnly) makeFolder(root);
  const shownUrl = destinationUrl === undefined ? null : hideUrlSecrets(destinationUrl);
  const what = shownUrl === null ? `webhook ${uid}` : `destination ${shownUrl}`;
  const unlock = isReadOnly ? () => undefined : takeLock(`${folder}.lock`, what);
  try {
    const fresh = { version: 1, ...service, destinationUrl: shownUrl, uid: uid ?? null, ...blank } as const;
    const state = readState(folder) ?? fresh;
    if (uid !== undefined && state.uid !== uid)
      throw new SotraError('locked', `webhook ${uid} was replaced in the meantime`, {
        hint: 'sotra webhook list shows the new one.',
      });
    return { upload: { folder, state, confirmedOf: state.uid, isReadOnly }, unlock };
  } catch (thrown) {
    unlock();
    throw thrown;
  }
}

const blank = { posting: null, replaces: null, gapFromMs: null, digest: null, line: null };

/** All uploads from this machine to the service in use, with its key. Errors: `local-file` for a damaged state. */
export async function listUploads(context: Context): Promise<Upload[]> {
  return readUploads(uploadsFolder(context), await readServiceId(context));
}

/** A line for each unfinished upload to these webhooks, with the command that continues it. */
export function describeUnfinished(uploads: readonly Upload[], isListed: (uid: string) => boolean): string[] {
  return uploads.flatMap(({ state: { uid, destinationUrl, line } }) => {
    if (line === null || (uid !== null && !isListed(uid))) return [];
    const to = uid === null ? destinationUrl : `webhook ${uid}`;
    return `The upload to ${to} is not finished; continue with: ${line}`;
  });
}

/** Changes the state of an upload, safe on disk when it returns. */
export function saveState(upload: Upload, change: Partial<UploadState>): void {
  Object.assign(upload.state, change);
  if (upload.isReadOnly) return;
  if (!existsSync(upload.folder)) {
    makeFolder(upload.folder);
    syncFolder(dirname(upload.folder));
  }
  replaceFile(join(upload.folder, 'state.json'), `${JSON.stringify(upload.state, null, 2)}\n`);
}

/** Makes a webhook the one of an upload, or none; addresses that another one confirmed are dropped before. */
export function setWebhook(upload: Upload, uid: string | null, change: Partial<UploadState> = {}): void {
  if (!upload.isReadOnly && uid !== null && upload.confirmedOf !== uid) {
    rmSync(confirmedFile(upload), { force: true });
    syncFolder(upload.folder);
    upload.confirmedOf = uid;
  }
  saveState(upload, { ...change, uid });
}

function confirmedFile({ folder }: Upload): string {
  return join(folder, 'confirmed.txt');
}

/** Removes the confirmed addresses from a list; returns those that are not in it. */
export async function takeConfirmed(upload: Upload, list: AddressList): Promise<string[]> {
  const { confirmedOf, state } = upload;
  if (confirmedOf === null || confirmedOf !== state.uid || !existsSync(confirmedFile(upload))) return [];
  const { missing, surplus } = await compareLines(list.left, readConfirmed(upload));
  list.left = missing;
  return surplus;
}

/** The addresses that the webhook of an upload confirmed, in batches. The rest of a line that a crash cut off is dropped. */
async function* readConfirmed(upload: Upload): AsyncGenerator<readonly string[]> {
  const fd = openStateFile(confirmedFile(upload));
  let rest = '';
  for await (const text of createReadStream('', { fd, encoding: 'utf8', highWaterMark: 65_536 })) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
}

/** Opens confirmed.txt, to which each chunk is appended; all of it is safe on disk once it is closed. */
export function openConfirmed(upload: Upload) {
  const handle = openStateFile(confirmedFile(upload), constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  ftruncateSync(handle, endOfLastLine(handle));
  syncFolder(upload.folder);
  return {
    add: (pieces: readonly Buffer[]) => {
      for (const piece of pieces) appendFileSync(handle, piece);
    },
    close: () => {
      try {
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
    },
  };
}

function endOfLastLine(handle: number): number {
  const { size } = fstatSync(handle);
  const tail = Buffer.alloc(Math.min(size, 65_536));
  readSync(handle, tail, 0, tail.length, size - tail.length);
  return size - tail.length + tail.lastIndexOf('\n') + 1;
}

function uploadsFolder(context: Context): string {
  return join(dataDirectory(context.io), 'webhook', 'uploads');
}

type ServiceId = Pick<UploadState, 'baseUrl' | 'keyId'>;

async function readServiceId(context: Context): Promise<ServiceId> {
  const { baseUrl, apiKey } = await context.config.service();
  return { baseUrl, keyId: hashParts(['key', apiKey ?? '']).slice(0, 16) };
}

function hashParts(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function readUploads(root: string, { baseUrl, keyId }: ServiceId): Upload[] {
  const names = existsSync(root) ? readdirSync(root).filter((name) => /^[0-9a-f]{12}$/.test(name)) : [];
  return names.flatMap((name) => {
    const folder = join(root, name);
    const state = readState(folder);
    return state?.baseUrl === baseUrl && state.keyId === keyId
      ? { folder, state, confirmedOf: state.uid, isReadOnly: true }
      : [];
  });
}

function readState(folder: string): UploadState | undefined {
  const file = join(folder, 'state.json');
  if (!existsSync(file)) return undefined;
  const { success, data } = stateSchema.safeParse(tryParseJson(readStateFile(file)));
  if (success) return data;
  throw new SotraError('local-file', `${file} is damaged, or was written by another version of sotra`, {
    hint: `Move ${folder} away to start over: the next upload sends all addresses again.`,
  });
}

/** Where an upload keeps the secret of one of its webhooks, whose uid may not be a valid file name. */
function keptSecretFile({ folder }: Upload, uid: string): string {
  return join(folder, `secret-${hashParts([uid]).slice(0, 12)}`);
}

/** Keeps the secret of a webhook (mode 0600), safe on disk when it returns. Errors: those of the file system. */
export function keepSecret(upload: Upload, uid: string, secret: string): void {
  replaceFile(keptSecretFile(upload, uid), `${secret}\n`);
}

/** How services write a secret that they do not show: `whsec_***`, `whsec_ab...`, `[hidden]`. */
const masked = /\*|\.\.\.|^[[<(]/;

/** The secret of a webhook as an upload kept it, or else as the service lists it, unless it is masked there. Errors: `local-file`. */
export function findSecret(uid: string, uploads: readonly Upload[], listed: WebhookList): string | undefined {
  const file = uploads.map((upload) => keptSecretFile(upload, uid)).find((each) => existsSync(each));
  if (file !== undefined) return readStateFile(file).trim();
  const secret = listed.find((each) => each.uid === uid)?.secret;
  return secret && /^[\x21-\x7e]+$/.test(secret) && !masked.test(secret) ? secret : undefined;
}

/** Refuses a --secret-file that could not be written later, or is the list. Errors: `usage`. */
export function checkSecretFile(file: string, list: string | undefined): void {
  refuseDash('--secret-file', file);
  if (list !== undefined && isSameFile(file, list))
    throw usageError(`--secret-file ${file}: that is the file of addresses`, 'Name another file.');
  try {
    refuseOther(file, lstatSync(file, { throwIfNoEntry: false }));
    accessSync(dirname(file), constants.W_OK);
    readSecretLines(file);
  } catch (cause) {
    throw usageError(`--secret-file ${file}: cannot be written: ${readMessage(cause)}`);
  }
}

/** The lines of a --secret-file that are not blank; none if there is no file. */
function readSecretLines(file: string): string[] {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return [];
  const lines = decodeText(readStateBytes(file), file).split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/**
 * Writes the secret of the webhook first in --secret-file (mode 0600); its other lines stay. False if nobody knows it and the file is empty.
 * Errors: those of the file system.
 */
export function handOverSecret(upload: Upload, listed: WebhookList, file: string | undefined): boolean {
  const { uid } = upload.state;
  if (file === undefined || uid === null) return true;
  const [secret, lines] = [findSecret(uid, [upload], listed), readSecretLines(file)];
  if (secret === undefined) return lines.length > 0;
  if (lines[0] !== secret) replaceFile(file, [secret, ...lines.filter((line) => line !== secret), ''].join('\n'));
  return true;
}

/** The file that holds the secret of a webhook, and with `showSecrets` the secret; nothing if it is not known. */
export function describeSecret(
  upload: Upload,
  listed: WebhookList,
  { secretFile, showSecrets }: { secretFile?: string | undefined; showSecrets?: boolean | undefined },
): { secret?: string; secretFile?: string } {
  const uid = upload.state.uid ?? '';
  const secret = findSecret(uid, [upload], listed);
  if (secret === undefined) return {};
  const kept = keptSecretFile(upload, uid);
  const file = secretFile ?? (existsSync(kept) ? kept : undefined);
  return defined({ secretFile: file, secret: showSecrets ? secret : undefined });
}
