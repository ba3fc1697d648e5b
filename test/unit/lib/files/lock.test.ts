import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run, temporaryFolder } from '../../../support/harness.ts';
import { start } from '../../../support/processes.ts';
import { until } from '../../../support/until.ts';

function place() {
  const folder = temporaryFolder();
  const inbox = join(folder, 'webhook/inbox/default');
  mkdirSync(inbox, { recursive: true });
  writeFileSync(join(folder, 'secret'), 'whsec_test\n');
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', join(folder, 'secret')];
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  return { folder, lock: join(inbox, 'lock'), argv, env };
}

/** Starts a listener on the store; resolves when it listens or has ended. */
async function listener({ argv, env }: ReturnType<typeof place>) {
  const one = start(argv, env);
  onTestFinished(() => void one.child.kill('SIGKILL'));
  await until(() => one.printed.err.includes('Listening') || one.child.exitCode !== null, 'it listens');
  return one;
}

test.each([
  ['another process has the number of its owner now', () => ({ pid: process.pid, started: 'at another time' })],
  ['its owner is no process', () => ({ pid: -1 })],
])('a lock is taken over where %s', async (_, owner) => {
  const at = place();
  writeFileSync(at.lock, JSON.stringify({ ...owner(), host: hostname() }));
  writeFileSync(join(at.folder, 'config.lock'), JSON.stringify({ ...owner(), host: hostname() }));
  expect((await listener(at)).printed.err).toContain('Listening on');
  const set = start(['context', 'set', 'own', '--base-url', 'https://a.example.com'], at.env);
  expect(await set.ended).toBe(0);
  expect(readdirSync(at.folder)).not.toContain('config.lock');
});

test('a lock whose owner runs is held, also where nothing says when it started', async () => {
  const at = place();
  const first = await listener(at);
  expect((await run(at.argv, { env: at.env })).code).toBe(3);
  expect(JSON.parse(readFileSync(at.lock, 'utf8'))).toMatchObject({ pid: first.child.pid });
  const other = place();
  writeFileSync(other.lock, JSON.stringify({ pid: process.pid }));
  const refused = await listener(other);
  expect(refused.child.exitCode).toBe(3);
  expect(refused.printed.err).toContain(`in use by process ${process.pid}`);
});

test('a store whose owner was killed is free before the dead process was waited for', async () => {
  const at = place();
  // Its parent becomes sleep, which never waits for it.
  const script = `${process.execPath} bin/sotra.js ${at.argv.join(' ')} 2>/dev/null & exec sleep 60`;
  const parent = spawn('bash', ['--norc', '-c', script], { env: { PATH: process.env['PATH'], ...at.env } });
  onTestFinished(() => void parent.kill('SIGKILL'));
  await until(() => readdirSync(join(at.lock, '..')).includes('lock'), 'the first listens');
  const { pid } = JSON.parse(readFileSync(at.lock, 'utf8'));
  process.kill(pid, 'SIGKILL');
  await until(() => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')), 'it is dead');
  expect((await listener(at)).printed.err).toContain('Listening on');
});
