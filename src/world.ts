import type { Worker } from 'node:worker_threads';

export type Env = Readonly<Record<string, string | undefined>>;

/** A stream that text goes to. `write` resolves when more may be written; it throws ClosedPipe when the reader is gone. */
export interface Sink {
  write: (text: string) => Promise<void>;
  /** The same for text that is UTF-8 already, where the stream takes it. */
  writeBytes?: (bytes: Uint8Array) => Promise<void>;
  isTTY: boolean;
  /** Columns of the terminal; 80 where it is none. */
  width: number;
  /** 0 none, 1 sixteen colors, 2 256, 3 true color. */
  colorLevel: 0 | 1 | 2 | 3;
}

export interface Io {
  out: Sink;
  err: Sink;
  in: AsyncIterable<Uint8Array> & { isTTY?: boolean };
  /**
   * One line typed by the user at the terminal, without its end; of a hidden one nothing is shown. Only where `in.isTTY`. Rejects when
   * the user gives up (Ctrl-C, Ctrl-D).
   */
  ask: (question: string, options: { hidden: boolean }) => Promise<string>;
}

export interface HttpRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Uint8Array>;
  /** Where the time went, as far as the transport can tell. */
  timing?: Timing;
}

/** Milliseconds of the parts of one exchange; a part that did not happen (a kept connection, an address without a name) is absent. */
export interface Timing {
  dnsMs?: number;
  /** Making the connection, its look-up and TLS included. */
  connectMs?: number;
  /** From sending to the first byte of the answer. */
  firstByteMs: number;
}

/** How long one exchange may take. */
export interface Limits {
  /** Until something comes: the connection, the first byte, the next one. */
  timeoutMs: number;
  /** For all of it. */
  totalMs: number;
  signal: AbortSignal;
}

/** Sends one request and gives its answer as it arrives; the sandbox brings its own, tests too. */
export interface Transport {
  send: (request: HttpRequest, limits: Limits) => Promise<HttpAnswer>;
  close: () => Promise<void>;
}

/** What there is to know of the machine. */
interface System {
  /** Version of Node, without a `v`. */
  node: string;
  platform: string;
  /**
   * When a process of this machine started, as a text that a later one of its number does not share; empty where that cannot be told,
   * `undefined` where none runs, or one that has ended and was not waited for.
   */
  startOf: (pid: number) => string | undefined;
  /** Whether a process of this machine runs. */
  isAlive: (pid: number) => boolean;
}

/** The sandbox inside this process, as one context asks it. */
export interface SandboxOptions {
  /** The database, made with the demo world where there is none. */
  file: string;
  now: () => number;
  /** Names of parameters that differ from the usual ones. */
  wire: Readonly<Record<string, string>>;
  /** The first word of signed texts; undefined: the sandbox keeps its own. */
  serviceName: string | undefined;
  /** The form of signed texts. */
  layout: string;
}

export interface LocalSandbox extends Transport {
  /** At most two addresses of wallets and tokens that begin and end like this. */
  findAddresses: (start: string, end: string) => string[];
}

/** The outside world: what only the process edge, or a test, can supply. */
export interface World {
  io: Io;
  env: Env;
  version: string;
  now: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborted by Ctrl-C and SIGTERM. */
  signal: AbortSignal;
  /** Starts this program again in the background, its output going to a file. `exitCode` is `null` while it runs. */
  spawnSelf: (argv: readonly string[], logFile: string) => Promise<{ exitCode: () => number | null; stop: () => void }>;
  /** Starts a file of this program on a thread of its own, which sees no environment and prints nothing. */
  startThread: (name: 'jq-thread') => Promise<Worker>;
  pid: number;
  system: System;
  /** For long walks, which make garbage page by page and keep none of it: the heap does not grow with the first of it. */
  keepHeapSmall?: () => Promise<void>;
  /** Opens the sandbox inside this process, which keeps its state in a file. */
  openSandbox: (options: SandboxOptions) => Promise<LocalSandbox>;
  /** Cost of sealing a key, in place of the usual; tests only. */
  scryptCost?: { n: number; r: number; p: number };
  /** In place of real sockets; tests only. */
  transport?: Transport;
}
