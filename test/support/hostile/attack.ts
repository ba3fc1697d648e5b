import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../harness.ts';
import { secret } from '../listening.ts';
import { program } from '../processes.ts';
import { until } from '../until.ts';

/** What became of a command that was attacked; `code` is null where a signal ended it, ours too where it does not end by itself. */
export interface AttackResult {
  code: number | null;
  signal: string | null;
  out: string;
  err: string;
  /** Processor time, which a machine that does much else hardly changes. */
  cpuSec: number;
  peakMb: number;
}

const maxKeptBytes = 1_000_000;
/** What computes for longer does not end, and what waits for longer has nothing to wait for. */
const maxCpuSec = 120;
const maxMs = 600_000;

/** Runs the program with a heap of 256 MB in a process of its own, and watches it from outside. Of what it prints a megabyte is kept. */
export async function attack(
  argv: string | readonly string[],
  options: {
    env?: Record<string, string>;
    stdin?: Iterable<Uint8Array>;
    /** For the shell before the program: `umask`, `ulimit`. */
    before?: string;
    cwd?: string;
    /** Told when the process is there. */
    onStart?: (pid: number) => void;
  } = {},
): Promise<AttackResult> {
  const words = typeof argv === 'string' ? argv.split(' ').filter((word) => word !== '') : argv;
  const { stdin, before = ':', cwd = process.cwd(), onStart } = options;
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '', ...heap, ...options.env };
  if (env['SOTRA_DATA_DIR'] === undefined) env['SOTRA_DATA_DIR'] = temporaryFolder();
  if (env['SOTRA_CONFIG_DIR'] === undefined) env['SOTRA_CONFIG_DIR'] = env['SOTRA_DATA_DIR'];
  for (const [name, value] of Object.entries(env)) if (value === unset) delete env[name];
  const script = [before, 'exec "$0" "$@"'].join('; ');
  const child = spawn('bash', ['--norc', '-c', script, process.execPath, resolve(program), ...words], { env, cwd });
  const printed = { out: '', err: '' };
  for (const [name, stream] of [['out', child.stdout] as const, ['err', child.stderr] as const])
    stream.on('data', (text) => {
      if (printed[name].length < maxKeptBytes) printed[name] += text;
    });
  const { pid = 0 } = child;
  let last = { cpuSec: 0, peakMb: 0 };
  const watching = setInterval(() => {
    last = usedBy(pid) ?? last;
    if (last.cpuSec > maxCpuSec) child.kill('SIGKILL');
  }, 10);
  const late = setTimeout(() => child.kill('SIGKILL'), maxMs);
  onTestFinished(() => void child.kill('SIGKILL'));
  // A command that refuses its input closes it before the end.
  pipeline(Readable.from(stdin ?? []), child.stdin).catch(() => undefined);
  onStart?.(pid);
  const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
    child.on('close', (...how) => done(how)),
  );
  clearInterval(watching);
  clearTimeout(late);
  const figures = { cpuSec: last.cpuSec, peakMb: Math.round(last.peakMb) };
  tell({ command: words.slice(0, 3).join(' '), code: code ?? signal, ...figures });
  return { code, signal, ...printed, ...figures };
}

const heap = { NODE_OPTIONS: '--max-old-space-size=256' };
/** The value of a variable that is not to be there. */
export const unset = '\0';

/** A line of figures for whoever looks at the proof. */
export function tell(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

/** What a process has used so far; `undefined` if it has ended or the system does not report it. */
function usedBy(pid: number): { cpuSec: number; peakMb: number } | undefined {
  try {
    const peakKb = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return Number.isNaN(peakKb) ? undefined : { cpuSec: (user + system) / 100, peakMb: peakKb / 1024 };
  } catch {
    return undefined;
  }
}

/** A disk of a few MB that goes when the test ends; nothing where this user may not mount one. */
export function smallDisk(megabytes: number): string | undefined {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

const monitor = pathToFileURL('test/support/hostile/longest-block.mjs').href;

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
  const child = spawn(process.execPath, ['--import', monitor, 'test/support/hostile/bare-server.mjs'], {
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
