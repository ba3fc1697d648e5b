import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './harness.ts';
import { program } from './program.ts';

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

/** What a process has used so far; nothing where it has ended or the system does not tell. */
export function usedBy(pid: number): { cpuSec: number; peakMb: number } | undefined {
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
