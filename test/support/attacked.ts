import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { usedBy } from './attack.ts';
import { temporaryFolder } from './harness.ts';
import { secret } from './listening.ts';
import { program } from './program.ts';
import { until } from './until.ts';

const monitor = pathToFileURL('test/support/longest-block.mjs').href;

/** A listener in a process of its own with a heap of 256 MB. */
export interface AttackedListener {
  url: string;
  port: number;
  folder: string;
  child: ChildProcess;
  printed: { err: string };
  /** Milliseconds that its event loop was kept busy at most. */
  longestBlockMs: () => number;
  /** The most memory it had so far, in MB; 0 where the system does not tell. */
  peakMb: () => number;
  /** How it ended: `SIGTERM` is not among it, since it ends by itself then. */
  stop: () => Promise<{ code: number | null; signal: string | null }>;
}

/** Starts the built program as a listener. */
export async function attackListener(
  secrets: readonly string[] = [secret],
  { more = [], folder = temporaryFolder() }: { more?: readonly string[]; folder?: string } = {},
): Promise<AttackedListener> {
  const [secretFile, ready, block] = ['secret', 'ready', 'block'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  rmSync(ready, { force: true });
  rmSync(block, { force: true });
  writeFileSync(secretFile, `${secrets.join('\n')}\n`);
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secretFile, '--ready-file', ready, ...more];
  const child = spawn(process.execPath, [program, ...argv], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      SOTRA_CONFIG_DIR: folder,
      SOTRA_DATA_DIR: folder,
      NODE_OPTIONS: `--max-old-space-size=256 --import ${monitor}`,
      BLOCK_FILE: block,
    },
  });
  const printed = { err: '' };
  child.stderr.on('data', (text) => {
    printed.err += text;
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(() => existsSync(ready) || child.exitCode !== null, 'the listener listens');
  if (child.exitCode !== null) throw new Error(printed.err);
  const { url } = JSON.parse(readFileSync(ready, 'utf8'));
  writeFileSync(block, '0');
  return {
    url,
    port: Number(new URL(url).port),
    folder,
    child,
    printed,
    longestBlockMs: () => Number(readFileSync(block, 'utf8')),
    peakMb: () => usedBy(child.pid ?? 0)?.peakMb ?? 0,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** A bare server of Node that answers 401 and reads nothing, in a process of its own: the floor for a listener that is attacked. */
export async function startBareServer(): Promise<{ port: number; longestBlockMs: () => number; stop: () => void }> {
  const block = join(temporaryFolder(), 'block');
  writeFileSync(block, '0');
  const child = spawn(process.execPath, ['--import', monitor, 'test/support/bare-server.mjs'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { BLOCK_FILE: block },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const port = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  return { port, longestBlockMs: () => Number(readFileSync(block, 'utf8')), stop: () => void child.kill('SIGKILL') };
}

/** A connection, and what came back over it so far. */
export interface Line {
  socket: Socket;
  text: string;
  closed: boolean;
}

export async function openLine(port: number): Promise<Line> {
  const socket = connect(port, '127.0.0.1');
  const line: Line = { socket, text: '', closed: false };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    line.text += chunk.toString('latin1');
  });
  socket.on('close', () => {
    line.closed = true;
  });
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', () => resolve());
  });
  return line;
}

/** Sends pieces over a connection of their own and gives all that came back, once the other side closed or an answer is whole. */
export async function exchange(
  port: number,
  pieces: readonly Buffer[],
  { answers = 1, cut = false } = {},
): Promise<string> {
  const line = await openLine(port);
  for (const piece of pieces) {
    if (line.closed) break;
    line.socket.write(piece);
    if (pieces.length > 1) await delay(1);
  }
  if (cut) line.socket.destroy();
  const isWhole = () => (line.text.match(/HTTP\/1\.1 (?!100)\d+[\s\S]*?\r\n\r\n[^H]/g)?.length ?? 0) >= answers;
  for (const end = Date.now() + 15_000; !line.closed && !isWhole() && Date.now() < end; ) await delay(2);
  line.socket.destroy();
  return line.text;
}
