import { createReadStream } from 'node:fs';
import type { AddressSet } from './address-set.ts';
import { createAddressSet } from './address-set.ts';
import { checkList, type Job, listJobs, readChunks, type ServiceId } from './jobs.ts';

/** What this machine knows a webhook to have: the confirmed chunks of all its uploads. */
export interface Ledger {
  confirmed: AddressSet;
  /** The uploads it is made of. */
  jobs: Job[];
}

/**
 * The ledger of one webhook, read from its uploads: there is no second copy that could disagree. Memory: some 30 bytes an address.
 * Errors: `local-file` for a damaged journal or list.
 */
export function readLedger(jobsPath: string, uid: string, { baseUrl }: ServiceId): Ledger {
  const jobs = listJobs(jobsPath).filter(({ state }) => state.uid === uid && state.plan.baseUrl === baseUrl);
  const confirmed = createAddressSet();
  for (const job of jobs) {
    const { folder, state } = job;
    checkList(job);
    for (const { index, addresses } of readChunks(folder))
      if (state.done.has(index)) for (const address of addresses) confirmed.add(address);
  }
  return { confirmed, jobs };
}

/** The addresses of a ledger that are not in a set, the first few by name and how many. */
export function beyond(
  { jobs }: Ledger,
  wanted: Pick<AddressSet, 'has'>,
  shown: number,
): { count: number; first: string[] } {
  const counted = createAddressSet();
  const first: string[] = [];
  for (const { folder, state } of jobs)
    for (const { index, addresses } of readChunks(folder)) {
      if (!state.done.has(index)) continue;
      for (const address of addresses)
        if (!wanted.has(address) && counted.add(address) && first.length < shown) first.push(address);
    }
  return { count: counted.size(), first };
}

/** The addresses of a normalized list as a set. */
export async function readSet(file: string): Promise<AddressSet> {
  const set = createAddressSet();
  let carried = '';
  for await (const text of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (carried + text).split('\n');
    carried = lines.pop() ?? '';
    for (const line of lines) set.add(line);
  }
  return set;
}
