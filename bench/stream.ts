// How fast and how small `profile positions --all --format ndjson` is over 100,000 cards, against a bare undici + JSON.parse loop over
// the same answers. The sandbox makes the answers once; a process of its own serves them, so that neither side waits for SQL.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureBare } from './stream/bare.ts';
import { recordAnswers } from './stream/record.ts';
import { serveAnswers } from './stream/serve.ts';

const wallet = '0x5117a60000000000000000000000000000000001';
const self = fileURLToPath(import.meta.url);
const [role, ...rest] = process.argv.slice(2);

if (role === 'serve') serveAnswers(rest[0] ?? '', (url) => process.stdout.write(`${url}\n`));
else if (role === 'bare') await measureBare(rest[0] ?? '', wallet, Number(rest[1]));
else await main(Number(role ?? 100_000));

interface Measured {
  seconds: number;
  /** Processor time, which a busy machine does not stretch. */
  cpuSeconds: number;
  peakMb: number;
}

async function main(cards: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-bench-'));
  let server: ChildProcess | undefined;
  try {
    const started = Date.now();
    const file = join(folder, 'answers');
    const bytes = await recordAnswers({ file, cards });
    say(`${cards} cards, ${mb(bytes)} MB of answers, made in ${seconds(Date.now() - started)} s`);
    server = spawn(process.execPath, [self, 'serve', file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const url = await firstLine(server);
    const tool = (items: number) => measure(sotra(url, folder, items), items);
    const bare = (items: number) => measure(spawnPiped([self, 'bare', url, String(items)], {}), undefined);
    await tool(cards / 10);
    const rounds: { tool: Measured; bare: Measured }[] = [];
    for (let round = 0; round < 3; round += 1) rounds.push({ bare: await bare(cards), tool: await tool(cards) });
    const tenth = await tool(cards / 10);
    report(cards, rounds, tenth);
  } finally {
    server?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(cards: number, rounds: readonly { tool: Measured; bare: Measured }[], tenth: Measured): void {
  const best = (side: 'tool' | 'bare', what: 'seconds' | 'cpuSeconds' = 'seconds') =>
    Math.min(...rounds.map((round) => round[side][what]));
  const peak = Math.max(...rounds.map((round) => round.tool.peakMb));
  for (const { tool, bare } of rounds)
    say(
      `  bare ${bare.seconds.toFixed(2)} s, ${bare.peakMb} MB; sotra ${tool.seconds.toFixed(2)} s, ${tool.peakMb} MB`,
    );
  say(`bare:  ${Math.round(cards / best('bare'))} items/s`);
  say(`sotra: ${Math.round(cards / best('tool'))} items/s`);
  say(`ratio: ${(best('bare') / best('tool')).toFixed(2)} (aim 0.7 or more)`);
  say(`by processor time: ${(best('bare', 'cpuSeconds') / best('tool', 'cpuSeconds')).toFixed(2)}`);
  say(`peak memory: ${tenth.peakMb} MB at ${cards / 10} cards, ${peak} MB at ${cards} (aim under 150 MB, and flat)`);
}

function sotra(url: string, folder: string, items: number): ChildProcess {
  const bin = join(process.cwd(), 'bin', 'sotra.js');
  const argv = ['profile', 'positions', wallet, 'closed', '--max', String(items), '--format', 'ndjson', '--quiet'];
  const env = { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'bench', SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  return spawnPiped([bin, ...argv], env);
}

function spawnPiped(argv: string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
}

/** Wall time from start to exit and peak resident memory, with every line of output counted. */
async function measure(child: ChildProcess, expectedLines: number | undefined): Promise<Measured> {
  const started = performance.now();
  let peakMb = 0;
  let cpuSeconds = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(child.pid ?? 0));
    cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(child.pid ?? 0));
  }, 20);
  let lines = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`a measured process ended with ${code}`);
  if (expectedLines !== undefined && lines !== expectedLines)
    throw new Error(`${lines} lines came out instead of ${expectedLines}`);
  return { seconds: (performance.now() - started) / 1000, cpuSeconds, peakMb };
}

/** Peak resident memory so far, from the kernel's own mark; 0 where there is none to read. */
function residentMb(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0;
  }
}

/** Processor time used so far, by the kernel's clock of 100 ticks a second; 0 where there is none to read. */
function cpuSecondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function mb(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
