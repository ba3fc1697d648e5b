import { expect, test } from 'vitest';
import type { CallEvent, Caller } from '../../../src/http/client.ts';
import { openCallLog } from '../../../src/log/keep-calls.ts';
import { findLog, readCalls } from '../../../src/log/store.ts';
import { temporaryFolder } from '../../support/harness.ts';

test('what keeps a call never decides its outcome: a call that cannot be described is answered, and that is said once', async () => {
  const folder = temporaryFolder();
  const warned: string[] = [];
  const log = await openCallLog({
    argv: ['leaderboard', 'list'],
    service: { apiKey: 'k', baseUrl: 'http://x.example', wire: {}, isElsewhere: false } as never,
    options: {} as never,
    world: { env: { SOTRA_CONFIG_DIR: folder }, system: { platform: 'linux' }, now: () => 0, pid: 1 } as never,
    dataDirectory: async () => folder,
    warn: (text) => warned.push(text),
  });
  const seen: string[] = [];
  const caller = { observe: ({ kind }: CallEvent) => seen.push(kind) } as unknown as Caller;
  const damaged = { kind: 'request', attempt: 1, request: { method: 'GET', url: undefined, headers: {} } };
  const events = [damaged, { kind: 'wait', why: 'x' }, damaged] as unknown as CallEvent[];
  const send = async ({ observe }: Caller) => {
    for (const event of events) observe(event);
    return { data: 'answer' } as never;
  };
  expect(await log.keep(caller, send)).toEqual({ data: 'answer' });
  expect(seen).toEqual(['request', 'wait', 'request']);
  expect(warned).toEqual([expect.stringMatching(/^this call is not kept whole: /)]);
  await log.close(0);
  expect([...readCalls(findLog(folder), (text) => warned.push(text))]).toEqual([]);
  expect(warned.length).toBe(1);
});
