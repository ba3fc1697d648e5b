import type { WebhookList } from '../api/webhook-answers.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { serviceFlags, shellLine, writeFlags } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import { showProgress } from '../lib/output/progress.ts';
import type { AddressInput, AddressList } from './read-addresses.ts';
import type { Destination, Upload } from './state.ts';

export interface UploadInput extends AddressInput, Destination {
  task: 'register' | 'add-addresses' | 'sync';
  secretFile?: string | undefined;
  showSecrets?: boolean | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
  check?: boolean | undefined;
  exact?: boolean | undefined;
  replace?: boolean | undefined;
}

/** A command line, its list, and what this machine knows of the destination. */
export interface UploadRun {
  input: UploadInput;
  list: AddressList;
  upload: Upload;
  /** The webhooks of the destination, if the service was asked for them. */
  listed: WebhookList;
  /** How many addresses this run has sent and the webhook has confirmed. */
  sent: number;
  show: UploadDisplay;
  context: Context;
}

export const continuing = 'The same command continues; sotra webhook list shows it.';

/** The command line that continues an upload; typed addresses are left to the reader. */
export function formatLine(input: UploadInput, { options }: Context): string {
  const { task, uid, destinationUrl, walletAddresses } = input;
  const flags = writeFlags({
    '--url': destinationUrl && hideUrlSecrets(destinationUrl),
    '--file': input.file,
    '--column': input.column,
    '--secret-file': input.secretFile,
    '--allow-bad-checksum': input.allowBadChecksum,
    '--skip-invalid': input.skipInvalid,
    '--another': input.another,
  });
  const words = ['sotra', ...serviceFlags(options), 'webhook', task, ...(uid ? [uid] : []), ...flags];
  return shellLine(words) + (walletAddresses === undefined ? '' : ' --wallet-addresses <the same>');
}

type UploadDisplay = Awaited<ReturnType<typeof showUpload>>;

/** How often a line in a log says how far the upload is. */
const logEveryMs = 5000;
const barWidth = 20;

/**
 * Progress on stderr: a bar on a terminal, now and then a line elsewhere. `brief`: the result says what was done, and only a terminal shows it
 * as it happens.
 */
export async function showUpload(context: Context, { brief }: { brief: boolean }) {
  const { io, client } = context;
  const { live, step, done, stop } = await showProgress(context);
  const stepLive = live ? step : () => undefined;
  client.onWait = ({ ms, why }) => stepLive(`${why}; trying again after ${Math.max(1, Math.round(ms / 1000))} s`);
  let [startMs, loggedMs, before] = [0, 0, 0];
  const confirmed = (count: number, total: number) => {
    const nowMs = io.now();
    if (!live && (nowMs - loggedMs < logEveryMs || count === total)) return;
    const percent = Math.floor((count * 100) / total);
    const perSec = ((count - before) * 1000) / Math.max(1, nowMs - startMs);
    const left = formatLeft(Math.ceil((total - count) / perSec));
    const pace = count === before ? '' : `, ${formatCount(Math.round(perSec))} a second, ${left} left`;
    const text = `${percent} %: ${formatCount(count)} of ${counted(total, 'address')}${pace}`;
    if (live) return step(`${drawBar(percent)} ${text}`);
    loggedMs = nowMs;
    step(text);
  };
  return {
    step,
    stop,
    /** How many addresses are read so far. */
    read: (count: number) => {
      if (live) step(count === 0 ? 'reading addresses' : `reading addresses: ${formatCount(count)}`);
    },
    /** A step that only a terminal shows. */
    stepLive,
    done: brief && !live ? () => undefined : done,
    started: (count: number, total: number) => {
      [startMs, loggedMs, before] = [io.now(), io.now(), count];
      confirmed(count, total);
    },
    /** How many addresses are confirmed so far. */
    confirmed,
  };
}

function formatLeft(seconds: number): string {
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function drawBar(percent: number): string {
  const filled = Math.round((percent * barWidth) / 100);
  return `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]`;
}
