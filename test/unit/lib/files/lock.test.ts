import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { takeLock } from '../../../../src/lib/files/lock.ts';
import { run, temporaryFolder } from '../../../support/harness.ts';
import { start } from '../../../support/processes.ts';
import { until } from '../../../support/until.ts';

test('a lock is taken once, and again after it was released', () => {
  const file = join(temporaryFolder(), 'lock');
  const release = takeLock(file, 'the store');
  expect(() => takeLock(file, 'the store')).toThrow('the store is in use by another process');
  release();
  takeLock(file, 'the store')();
});

test.each([
  ['holds something else', (file: string) => writeFileSync(file, '{"half')],
  ['is a folder', (file: string) => mkdirSync(file)],
  ['is a pipe', (file: string) => execFileSync('mkfifo', [file])],
])('a lock file that %s is exit 3 naming it', async (_, make) => {
  const folder = temporaryFolder();
  const file = join(folder, 'config.lock');
  make(file);
  const { code, err } = await run('context set a --base-url https://a.example.com', {
    env: { SOTRA_CONFIG_DIR: folder },
  });
  expect([code, err]).toEqual([3, expect.stringContaining(file)]);
});

test('a store whose owner was killed is free before the dead process was waited for', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const [secret, ready] = [join(folder, 'secret'), join(folder, 'ready')];
  writeFileSync(secret, 'whsec_test\n');
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secret, '--ready-file', ready];
  // Its parent becomes sleep, which never waits for it.
  const script = `${process.execPath} bin/sotra.js ${argv.join(' ')} 2>/dev/null & exec sleep 60`;
  const parent = spawn('bash', ['--norc', '-c', script], { env: { PATH: process.env['PATH'], ...env } });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const readPid = () => {
    try {
      return JSON.parse(readFileSync(ready, 'utf8')).pid;
    } catch {
      return undefined;
    }
  };
  await until(() => readPid() !== undefined, 'the first listens');
  const pid = readPid();
  process.kill(pid, 'SIGKILL');
  await until(() => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')), 'it is dead');
  const next = start(argv, env);
  await until(() => next.printed.err.includes('Listening') || next.child.exitCode !== null, 'it listens');
  expect(next.printed.err).toContain('Listening on');
});
