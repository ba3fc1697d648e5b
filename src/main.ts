import { openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import packageFile from '../package.json' with { type: 'json' };
import { terminalText } from './api/safe-text.ts';
import { run } from './cli.ts';
import { readMessage, SotraError, Stopped } from './errors.ts';
import { isSingleFile, readAsset } from './lib/files/asset.ts';
import { ClosedPipe, type Io, lineWidth, type Sink, secretVariables } from './lib/io.ts';

/** Cleans every text for a person with `terminalText`: all of stderr, and stdout if it is a terminal. A pipe gets every byte. */
function makeSink(
  stream: NodeJS.WriteStream,
  fails: (error: NodeJS.ErrnoException) => Error | undefined,
  isData = stream.isTTY !== true,
): Sink {
  let broken: NodeJS.ErrnoException | undefined;
  stream.on('error', (error) => {
    broken ??= error;
  });
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const end = (error?: Error | null) => {
        const failure = error ? fails(error) : undefined;
        if (failure === undefined) resolve();
        else reject(failure);
      };
      if (broken === undefined) stream.write(text, end);
      else end(broken);
    });
  const isTTY = stream.isTTY === true;
  const { FORCE_COLOR: forced = '', NO_COLOR: refused = '', TERM: terminal } = process.env;
  return {
    isTTY,
    get width() {
      return lineWidth(process.env, stream.columns);
    },
    hasColors: forced === '' ? isTTY && refused === '' && terminal !== 'dumb' : !['0', 'false'].includes(forced),
    write: isData ? write : (text) => write(terminalText(text)),
    draw: write,
  };
}

function outFailure(cause: NodeJS.ErrnoException): Error {
  if (cause.code === 'EPIPE') return new ClosedPipe('', { cause });
  return new SotraError('local-file', `cannot write to stdout: ${readMessage(cause)}`, {
    hint: 'The output is incomplete. Free some disk space, or write it elsewhere.',
    cause,
  });
}

const stop = new AbortController();

/** A signal ends it for its reader. Node creates the stream on first use, and most commands need none. */
const stdin: Io['in'] = {
  get isTTY() {
    return process.stdin.isTTY;
  },
  isForeground,
  signal: stop.signal,
  [Symbol.asyncIterator]: () => {
    const end = () => process.stdin.destroy(new SotraError('interrupted', 'interrupted while reading stdin'));
    if (stop.signal.aborted) end();
    stop.signal.addEventListener('abort', end, { once: true });
    return process.stdin[Symbol.asyncIterator]();
  },
};

const graceMs = 10_000;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    const stopped = stop.signal.aborted ? (stop.signal.reason as Stopped) : new Stopped(signal);
    if (stop.signal.aborted) process.exit(stopped.exitCode);
    stop.abort(stopped);
    // Whatever still holds on to something: a signal ends the process.
    setTimeout(() => process.exit(stopped.exitCode), graceMs).unref();
  });

// Warnings of Node and libraries are for developers, and would mix with the JSON of an error.
if (!process.argv.includes('--verbose')) process.removeAllListeners('warning');

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isForeground(): boolean {
  try {
    // Fields 5 and 8: the process group, and the one in the foreground of the terminal.
    const [, , own, , , foreground] = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return own === foreground;
  } catch {
    return true;
  }
}

async function ask(question: string, { hidden }: { hidden: boolean }): Promise<string> {
  const { askLine } = await import('./lib/output/confirm.ts');
  return askLine({ question, hidden, input: process.stdin, output: process.stderr, stop });
}

const env = { ...process.env };
// What a library starts, such as a browser or a tool of the keychain, inherits this.
for (const name of secretVariables) delete process.env[name];

const io: Io = {
  out: makeSink(process.stdout, outFailure),
  // A note that cannot be written does not fail the command.
  err: makeSink(process.stderr, () => undefined, false),
  in: stdin,
  ask,
  env,
  version: packageFile.version,
  now: Date.now,
  random: Math.random,
  sleep: async (ms, signal) => (await import('node:timers/promises')).setTimeout(ms, undefined, { signal }),
  signal: stop.signal,
  pid: process.pid,
  system: {
    node: process.versions.node,
    execPath: process.execPath,
    platform: process.platform,
    isAlive,
  },
  spawnSelf: async (argv, logFile) => {
    const { spawn } = await import('node:child_process');
    if (logFile !== undefined) (await import('./lib/files/durable-file.ts')).makeFolder(dirname(logFile));
    const log = logFile === undefined ? 'ignore' : openSync(logFile, 'a', 0o600);
    const self = isSingleFile ? [] : [process.argv[1] ?? ''];
    const child = spawn(process.execPath, [...self, ...argv], { detached: true, stdio: ['ignore', log, log] });
    child.unref();
    return { exitCode: () => child.exitCode, stop: () => void child.kill() };
  },
  openSandbox: async (options) => (await import('./sandbox/serve/answer.ts')).openSandbox(options),
  startThread: async (name) => {
    const { Worker } = await import('node:worker_threads');
    const settings = { env: {}, stdout: true, stderr: true };
    if (isSingleFile)
      return new Worker(readAsset('start.cjs').toString(), { ...settings, eval: true, workerData: `${name}.cjs` });
    return new Worker(new URL(`./${name}.cjs`, import.meta.url), settings);
  },
};

const endMs = 1000;

async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await run(argv, io);
  // The client of NATS keeps a connection open to a server that says nothing. Who has a channel to this process ends it.
  if (process.channel === undefined) setTimeout(() => process.exit(), endMs).unref();
}

void main(process.argv.slice(2));
