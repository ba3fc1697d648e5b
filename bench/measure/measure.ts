import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a process took from start to exit. */
export interface Usage {
  seconds: number;
  /** Processor time, which a busy machine does not stretch. */
  cpuSeconds: number;
  /** Largest resident memory. */
  peakMb: number;
  /** Lines of its stdout. */
  lines: number;
}

/**
 * Runs this same Node with these arguments and watches it; `env` is added to PATH alone, so it must say where compiled code is kept between
 * runs (XDG_CACHE_HOME). Rejects if it does not end with 0.
 */
export async function measureChild(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Usage> {
  const started = performance.now();
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], ...env },
  });
  let [peakMb, cpuSeconds, lines] = [0, 0, 0];
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(child.pid ?? 0));
    cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(child.pid ?? 0));
  }, 20);
  child.stdout.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`${argv.slice(0, 4).join(' ')} ended with ${code}`);
  return { seconds: (performance.now() - started) / 1000, cpuSeconds, peakMb, lines };
}

/** Seconds from start to the first thing that a process prints once it was sent a line; it is ended then. */
export async function secondsToAnswer(
  argv: readonly string[],
  line: string,
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, argv, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], ...env },
  });
  child.stdin.end(`${line}\n`);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('error', reject);
  });
  const seconds = (performance.now() - started) / 1000;
  child.kill();
  await new Promise((resolve) => child.once('close', resolve));
  return seconds;
}

/** Starts this same Node with these arguments until the end, and gives it with the first line it prints: the address of a server. */
export async function startServer(argv: readonly string[]): Promise<{ url: string; server: ChildProcess }> {
  const server = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => server.kill());
  const url = await new Promise<string>((resolve, reject) => {
    server.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { url, server };
}

/** Peak resident memory so far, from the kernel's own mark; 0 if it cannot be read. */
function residentMb(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Processor time used so far, by the kernel's clock of 100 ticks a second; 0 if it cannot be read. */
function cpuSecondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

const ends: (() => void)[] = [];

/** Calls this at the end of the process, the last one first, also if a signal ends it. */
export function atEnd(act: () => void): void {
  if (ends.length === 0) {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
    process.once('exit', () => {
      for (const end of ends.reverse()) end();
    });
  }
  ends.push(act);
}

/** A folder that is removed at the end of the process. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'sotra-bench-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** One line of the bench table: rounds of ours, and of a floor that was measured in turn with it. */
export interface Row {
  what: string;
  unit: 's' | 'ms' | 'MB' | 'KB' | 'items/s' | 'requests/s' | 'packages';
  /** One figure a round; the median counts. */
  measured: readonly number[];
  /** What the floor took in the same rounds; without one the aim is about the figure itself. */
  floor?: readonly number[];
  /** At most this: the ratio to the floor, or the figure. Neither: the row only tells. */
  atMost?: number;
  /** At least this: the ratio to the floor, or the figure. */
  atLeast?: number;
}

/** Hands rows to the table: one line of JSON each on stdout. Other messages of a bench go to stderr. */
export function report(rows: readonly Row[]): void {
  for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
}

/** The middle figure, of an even count the upper of the two; NaN of none. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;
}
