import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, temporaryFolder } from '../support/harness.ts';
import { program } from '../support/processes.ts';

test('folders are made in one place: by itself Node waits for ever in a parent that takes none', () => {
  const making = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .filter((file) => /mkdir(Sync)?\([^;]*recursive/.test(readFileSync(join('src', file), 'utf8')));
  expect(making).toEqual([]);
});

// /proc exists and takes no folder, as some mounts do.
test.skipIf(!existsSync('/proc/self'))('a folder that cannot be made ends a command, and nothing is sent', async () => {
  const service = await answering({ traders: [] });
  const env = { ...service.env, SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const ended = (argv: string, more: Record<string, string> = {}) =>
    new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
      const options = { env: { ...env, ...more }, timeout: 30_000, killSignal: 'SIGKILL' } as const;
      execFile(process.execPath, [program, ...argv.split(' ')], options, (error, out, err) =>
        resolve({ code: error === null ? 0 : (error.code ?? error.signal), out, err }),
      );
    });
  const inNone = expect.stringContaining('/proc/none');
  const board = await ended('--sandbox leaderboard list', { SOTRA_DATA_DIR: '/proc/none/here' });
  expect(board).toMatchObject({ code: 3, err: inNone });
  expect(await ended('sandbox start --db /proc/none/x.db --port 0')).toMatchObject({ code: 3, err: inNone });
  const stored = await ended('context set x --base-url http://127.0.0.1:9', { SOTRA_CONFIG_DIR: '/proc/none' });
  expect(stored).toMatchObject({ code: 3, err: inNone });
  const recorded = await ended('leaderboard list --json --record /proc/none');
  expect(recorded).toMatchObject({ code: 3, out: '', err: inNone });
  expect(service.requests).toEqual([]);
});
