import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { WriteStream } from 'node:tty';
import packageFile from '../package.json' with { type: 'json' };
import type { World } from './context.ts';
import { ClosedPipe, colourLevel, type Sink } from './output/io.ts';
import { type Placed, programOf } from './program.ts';
import { run } from './run.ts';

function sinkOf(stream: NodeJS.WriteStream): Sink {
  let closed = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    closed = true;
  });
  const write = (text: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      if (closed) reject(new ClosedPipe());
      else stream.write(text, (error) => (error ? reject(new ClosedPipe('', { cause: error })) : resolve()));
    });
  const isTTY = stream.isTTY === true;
  const depth = isTTY ? (stream as WriteStream).getColorDepth(process.env) : 1;
  return {
    isTTY,
    width: Number(process.env['COLUMNS']) || stream.columns || 80,
    colourLevel: colourLevel(process.env, isTTY, depth),
    write,
    writeBytes: write,
  };
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function ask(question: string, { hidden }: { hidden: boolean }): Promise<string> {
  const { askLine } = await import('./output/ask.ts');
  return askLine({ question, hidden, input: process.stdin, output: process.stderr, stop });
}

const world: World = {
  io: { out: sinkOf(process.stdout), err: sinkOf(process.stderr), in: process.stdin, ask },
  env: process.env,
  version: packageFile.version,
  now: Date.now,
  random: Math.random,
  sleep: async (ms, signal) => (await import('node:timers/promises')).setTimeout(ms, undefined, { signal }),
  signal: stop.signal,
  pid: process.pid,
  system: { node: process.versions.node, platform: process.platform, isAlive },
  spawnSelf: async (argv, logFile) => {
    const { spawn } = await import('node:child_process');
    mkdirSync(dirname(logFile), { recursive: true });
    const log = openSync(logFile, 'a', 0o600);
    const self = process.argv[1] ?? '';
    const child = spawn(process.execPath, [self, ...argv], { detached: true, stdio: ['ignore', log, log] });
    child.unref();
    return { exitCode: () => child.exitCode };
  },
};

// Written by the build from the commands themselves, so that help and completion need none of them.
const outlines: Placed[] = JSON.parse(readFileSync(new URL('./outlines.json', import.meta.url), 'utf8'));

void run(process.argv.slice(2), programOf(outlines), world).then((code) => {
  process.exitCode = code;
});
