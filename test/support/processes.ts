import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder, until } from './harness.ts';

/** Starts the built program with a data folder of its own unless `env` names one; its output is collected, and it ends with the test. */
export function start(line: string | readonly string[], env: Record<string, string> = {}) {
  const argv = typeof line === 'string' ? line.split(' ') : line;
  return collect(spawn(process.execPath, [program, ...argv], { env: { ...newEnv(env), ...env } }));
}

/** Starts a line of bash, in which `sotra` is the built program, in the same way. */
export function startShell(line: string, env: Record<string, string> = {}, user: SpawnOptionsWithoutStdio = {}) {
  const script = line.replaceAll('sotra ', `${process.execPath} ${program} `);
  return collect(spawn('bash', ['--norc', '-c', script], { ...user, env: { ...newEnv(env), ...env } }));
}

function newEnv({ SOTRA_DATA_DIR: folder = temporaryFolder() }: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
}

function collect(child: ChildProcessWithoutNullStreams) {
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { out: '', err: '' };
  child.stdout.on('data', (text) => (printed.out += text));
  child.stderr.on('data', (text) => (printed.err += text));
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  return { child, printed, ended };
}

/** A served sandbox in a process of its own. */
export async function serve(
  folder: string,
  more: readonly string[],
): Promise<{ url: string; db: string; child: ChildProcess }> {
  const [ready, db] = [join(folder, 'ready.json'), join(folder, 'sandbox.db')];
  const own = more.includes('--db') ? [] : ['--db', db];
  const argv = ['sandbox', 'start', '--port', '0', ...own, '--ready-file', ready, ...more];
  const { child, printed } = start(argv, { SOTRA_DATA_DIR: folder });
  await until(() => existsSync(ready) || child.exitCode !== null, 'the sandbox answers');
  if (child.exitCode !== null) throw new Error(printed.err);
  return { url: JSON.parse(readFileSync(ready, 'utf8')).url, db, child };
}

/** Distinct EVM addresses that are always the same. */
export function manyAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const hex = createHash('sha256').update(`address ${index}`).digest('hex');
    return `0x${hex.slice(0, 40)}`;
  });
}
/** The program that tests start in processes of their own: the proofs name the packed one (test/packed.ts), others run the one just built. */
export const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';

/**
 * Ports of loopback that nobody used when looked at. They lie below those that systems give to outgoing connections: there, somebody who
 * asks again and again until a server listens may be given its very port, and be connected with itself.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(15_000, 32_000);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
