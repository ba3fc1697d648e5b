import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, describeDatabase, openDatabase } from '../../src/lib/files/database.ts';
import type { Delivery, Inbox } from '../../src/webhooks/inbox.ts';
import { openLocalInbox } from '../../src/webhooks/local/local-inbox.ts';

/** Nothing is waited for longer than a moment: what is not due by then is looked at again. */
export const wait = (ms: number, signal?: AbortSignal): Promise<void> => delay(Math.min(ms, 50), undefined, { signal });

const io: Parameters<typeof openLocalInbox>[0]['io'] = { now: Date.now, sleep: wait };

/** The local inbox of a folder, opened in this process. */
export const openInboxOf = (
  folder: string,
  listens = false,
  { keep, ...clock }: Partial<typeof io> & Pick<Parameters<typeof openLocalInbox>[0], 'keep'> = {},
): Inbox => openLocalInbox({ folder, name: 'default', listens, keep, io: { ...io, ...clock } });

/** Where a listener with this data directory has its default store. */
export const inboxFolderOf = (dataFolder: string) => join(dataFolder, 'webhook', 'inbox', 'default');

const storeFileOf = (dataFolder: string) => join(inboxFolderOf(dataFolder), 'inbox.db');

/** Stores deliveries in the default inbox of a data directory, as a listener would. */
export async function fillInbox(dataFolder: string, deliveries: readonly Partial<Delivery>[]): Promise<void> {
  const inbox = openInboxOf(inboxFolderOf(dataFolder));
  const given = { webhook: '/#1', atMs: 1, headers: [], body: Buffer.from('{}') };
  await inbox.store(deliveries.map((each) => ({ ...given, ...each })));
  await inbox.close();
}

/** The ids of the events in the default inbox of a data directory, in the order in which they were stored; also while a listener runs. */
export function storedIds(dataFolder: string): string[] {
  if (!existsSync(storeFileOf(dataFolder))) return [];
  return withStore(dataFolder, (db) => {
    // A listener that was killed early may have made no tables.
    if (!describeDatabase(db).tables.includes('delivery')) return [];
    const rows = db.all<{ ids: string }>('SELECT event_ids AS ids FROM delivery ORDER BY seq');
    return rows.flatMap(({ ids }): string[] => JSON.parse(ids));
  });
}

/** Changes the default inbox of a data directory behind its back. */
export function changeStore(dataFolder: string, sql: string): void {
  withStore(dataFolder, (db) => {
    db.exec(sql);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  });
}

function withStore<T>(dataFolder: string, act: (db: Db) => T): T {
  const options = { pageBytes: 8192, cacheKib: 1024, checkpointPages: 1000 } as const;
  const db = openDatabase(storeFileOf(dataFolder), { ...options, check: () => undefined });
  try {
    return act(db);
  } finally {
    db.close();
  }
}
