import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import type { InputOf } from '../../contract/endpoint.ts';
import { messageOf, SotraError } from '../../errors.ts';
import { makeFolder } from '../../files/folder.ts';
import { withLock } from '../../files/lock.ts';
import { openLog, readLog } from '../../files/log-file.ts';
import { normalizeAddress } from '../../model/address.ts';
import { hourMs } from '../../model/duration.ts';
import { confirm, mayAsk } from '../../output/confirm.ts';
import { formatTime } from '../../output/format.ts';
import * as endpoints from './endpoints.ts';
import { copy as view } from './view.ts';

export type CopyInput = InputOf<(typeof endpoints.copy)['params']>;

/** What this machine knows of an intent. */
export interface CopyIntent {
  atMs: number;
  comment: string;
  chain: string | null;
  token: string;
  addresses: string[];
  trackExitUntil: string | null;
  /** Empty where the answer was lost. */
  intentIds: string[];
  /** `unknown`: it may have been recorded, its answer was lost. */
  state: 'recorded' | 'unknown';
}

type Entry =
  | ({ kind: 'sending'; v: 1; id: string; baseUrl: string } & Omit<CopyIntent, 'intentIds' | 'state'>)
  | { kind: 'recorded'; id: string; intentIds: string[] }
  | { kind: 'refused'; id: string };

/** An entry by one of the wallets within this time counts as a copy (section "POST /v1/swap-comment/{id}/copyswap"; the hour is assumed). */
const copyWindowMs = hourMs;

/**
 * Records an intent and keeps it in the journal of this machine. One that was sent within the hour is asked about on a terminal and warned
 * of elsewhere, unless `again` is given. Errors: those of the call; `usage` for a no.
 */
export async function copyOnce(input: CopyInput, again: boolean, context: Context): Promise<Result> {
  const { world, options, warn } = context;
  if (options.preview) await context.call(endpoints.copy, input);
  const { baseUrl } = await context.service();
  const wallets = [...(input.actorAddress === undefined ? [] : [input.actorAddress]), ...(input.actorAddresses ?? [])];
  const intent = {
    ...{ atMs: world.now(), comment: input.id.toLowerCase(), chain: input.chain ?? null },
    token: normalizeAddress(input.tokenAddress),
    addresses: [...new Set(wallets.map(normalizeAddress))].sort(),
    trackExitUntil: input.trackExitUntil ?? null,
  };
  const journal = await openJournal(context);
  const earlier = journal.intents().findLast((each) => isSame(each, intent) && intent.atMs - each.atMs < copyWindowMs);
  if (earlier !== undefined && !again) {
    const said = `this intent was sent at ${formatTime(earlier.atMs / 1000)} already`;
    if (mayAsk(context)) await confirm('send it once more', context, `${said}.\n`);
    else warn(`${said}: it counts twice (--again sends it without this warning)`);
  }
  const id = randomUUID();
  await journal.add({ kind: 'sending', v: 1, id, baseUrl, ...intent });
  try {
    const { data, text } = await context.call(endpoints.copy, input);
    await journal.add({ kind: 'recorded', id, intentIds: data.intentIds ?? [] });
    return { kind: 'answer', answer: data, text, view };
  } catch (thrown) {
    if (thrown instanceof SotraError && thrown.outcome !== 'unknown') await journal.add({ kind: 'refused', id });
    throw thrown;
  }
}

function isSame(one: Pick<CopyIntent, 'comment' | 'token' | 'addresses'>, other: typeof one): boolean {
  return [one.comment, one.token, ...one.addresses].join() === [other.comment, other.token, ...other.addresses].join();
}

/** The intents that this machine sent to the service in use, oldest first. Errors: `local-file` for a damaged journal. */
export async function readCopies(context: Context): Promise<CopyIntent[]> {
  return (await openJournal(context)).intents();
}

async function openJournal(context: Context) {
  const folder = join(await context.dataDirectory(), 'comment');
  const file = join(folder, 'copies.ndjson');
  const { baseUrl } = await context.service();
  return {
    intents: () => listIntents(readLog<Entry>(file), baseUrl),
    /** What is sent does not wait for a disk that is full. */
    add: async (entry: Entry) => {
      try {
        makeFolder(folder);
        await withLock(join(folder, 'copies.lock'), context.world, async () => {
          const log = openLog(file);
          log.append(entry);
          log.close();
        });
      } catch (error) {
        context.warn(`this intent is not in the journal, ${file}: ${messageOf(error)}`);
      }
    },
  };
}

function listIntents(entries: readonly Entry[], baseUrl: string): CopyIntent[] {
  const intents = new Map<string, CopyIntent>();
  for (const entry of entries) {
    const known = intents.get(entry.id);
    if (entry.kind === 'sending') {
      const { kind: _, v: __, id, baseUrl: sentTo, ...intent } = entry;
      if (sentTo === baseUrl) intents.set(id, { ...intent, intentIds: [], state: 'unknown' });
    } else if (entry.kind === 'refused') intents.delete(entry.id);
    else if (known !== undefined) intents.set(entry.id, { ...known, intentIds: entry.intentIds, state: 'recorded' });
  }
  return [...intents.values()];
}
