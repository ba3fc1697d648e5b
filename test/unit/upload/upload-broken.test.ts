import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { journalFile } from '../../../src/upload/journal.ts';
import { isOpen, tellsOpenFiles } from '../../support/open-files.ts';
import { failed, kind, ok, type Service, uid, uploading } from '../../support/uploading.ts';

const more = { task: 'add-addresses', uid, addresses: 100_000, chunks: 100 } as const;

/** A service that takes its time, as one over a network does. */
const slow: Service = async () => {
  await delay(5);
  return ok({ uid });
};

/** A regular file that takes lines, but cannot make them safe. */
const unsafe = '/proc/self/comm';

test.skipIf(!existsSync(unsafe))(
  'a journal that cannot be made safe stops an upload: nothing is confirmed, and no more is sent than was on its way',
  async () => {
    const { run, sent, folder } = await uploading(slow, more);
    const { events, failure } = await run(2, false, () => {
      rmSync(journalFile(folder));
      symlinkSync(unsafe, journalFile(folder));
    });
    expect(failure).toMatchObject({ code: 'internal', message: expect.stringContaining('fsync') });
    expect(events).toEqual([]);
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.length).toBeLessThan(80);
  },
);

test.skipIf(!tellsOpenFiles)('the journal is closed when an upload is over, whatever came of it', async () => {
  for (const service of [kind, () => failed(401)]) {
    const { run, folder } = await uploading(service, { task: 'add-addresses', uid, addresses: 10, chunks: 1 });
    await run();
    expect([existsSync(journalFile(folder)), isOpen(journalFile(folder))]).toEqual([true, false]);
  }
});
