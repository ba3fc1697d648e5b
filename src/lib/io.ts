import { posix, win32 } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { Transport } from '../client/transport.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** `write` resolves when more may be written; throws ClosedPipe when the reader is gone. */
export interface Sink {
  write: (text: string) => Promise<void>;
  /** As it is, for what moves the cursor of a terminal; any other text goes through `write`, which cleans it there. */
  draw: (text: string) => Promise<void>;
  isTTY: boolean;
  /** Columns of the terminal; default 80. */
  width: number;
  hasColors: boolean;
}

export interface System {
  /** Without a `v`. */
  node: string;
  /** The Node that runs this process. */
  execPath: string;
  platform: string;
  isAlive: (pid: number) => boolean;
}

export interface SandboxOptions {
  /** The database, created with the demo world if absent. */
  file: string;
  now: () => number;
  wire: Readonly<Record<string, string>>;
  /** The first word of signed texts; `undefined`: the sandbox keeps its own. */
  serviceName: string | undefined;
  layout: string;
}

/** Everything outside the process: supplied by the entry point, or by a test. */
export interface Io {
  out: Sink;
  err: Sink;
  in: AsyncIterable<Uint8Array> & {
    isTTY?: boolean;
    /** False if the shell runs this process in the background: reading the terminal would stop it. */
    isForeground?: () => boolean;
    /** Aborted by a signal to the process. */
    signal?: AbortSignal;
  };
  /** One line typed at the terminal; `hidden`: without echo. Only if `in.isTTY`. Rejects on Ctrl-C and Ctrl-D. */
  ask: (question: string, options: { hidden: boolean }) => Promise<string>;
  env: Env;
  version: string;
  now: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
  /** Starts this program in the background, its output going to a file, if one is given. `exitCode` is `null` while it runs. */
  spawnSelf: (
    argv: readonly string[],
    logFile?: string,
  ) => Promise<{ exitCode: () => number | null; stop: () => void }>;
  /** Starts a file of this program on a thread without environment or output. */
  startThread: (name: 'jq-thread') => Promise<Worker>;
  pid: number;
  system: System;
  /** Opens the sandbox inside this process. */
  openSandbox: (options: SandboxOptions) => Promise<Transport>;
  /** Replaces the usual cost; tests only. */
  scryptCost?: { n: number; r: number; p: number };
  /** Waits of at least this many milliseconds are shown on a terminal (default 300); tests only. */
  shownWaitMs?: number;
  /** Replaces the usual limit of an answer; tests only. */
  maxAnswerBytes?: number;
  /** Replaces real sockets; tests only. */
  transport?: Transport;
}

/** The reader of stdout has gone (`| head -1`): the command ends quietly. */
export class ClosedPipe extends Error {}

/** COLUMNS if it is a number of at most four digits, else the terminal's width, else 80. */
export function lineWidth(env: Env, terminal: number | undefined): number {
  const columns = env['COLUMNS'] ?? '';
  return (/^\d{1,4}$/.test(columns) && Number(columns)) || terminal || 80;
}

/** All bytes of a stream; `undefined` for more than `maxBytes`. Errors: those of the stream. */
export async function collectBytes(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The rules of a system, by Node's name for it. */
export function platformRules(platform: string) {
  const isWindows = platform === 'win32';
  return {
    /** Whether files have a Unix mode. */
    hasModes: !isWindows,
    paths: isWindows ? win32 : posix,
    /** The variable that names the home folder. */
    home: isWindows ? 'USERPROFILE' : 'HOME',
    /** Whether APPDATA and LOCALAPPDATA name the folders of settings and data. */
    hasAppData: isWindows,
  };
}

/** Variables that hold a secret of ours, which no other program needs. */
export const secretVariables: readonly string[] = ['SOTRA_API_KEY'];

/** The environment that a child gets: without our secrets. */
export function childEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.includes(name.toUpperCase())));
}

/** A value that is made when it is first asked for. */
export interface Lazy<T> {
  (): Promise<T>;
  /** Whether it was asked for. */
  started: () => boolean;
}

export function lazy<T>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make();
    return made;
  };
  return Object.assign(get, { started: () => made !== undefined });
}
