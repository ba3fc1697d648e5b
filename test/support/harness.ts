import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished } from 'vitest';
import { terminalText } from '../../src/api/safe-text.ts';
import { run as runProgram } from '../../src/cli.ts';
import type { Transport } from '../../src/client/transport.ts';
import type { Io, Sink } from '../../src/lib/io.ts';
import { openSandbox } from '../../src/sandbox/serve/answer.ts';
import { copyDemo } from './demo.ts';
import { size } from './size.ts';

export interface Outcome {
  out: string;
  err: string;
  code: number;
}

export interface RunOptions {
  env?: Record<string, string>;
  stdin?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Columns of a terminal; absent: stdout is a pipe. */
  tty?: number;
  /** The time, or a clock; absent: that of the machine. */
  now?: number | (() => number);
  signal?: AbortSignal;
  /** Told of each text that stderr gets. */
  onErr?: (text: string) => void;
  /** Told of each text that stdout gets. */
  onOut?: (text: string) => void;
  /** Colors of the terminal, as `Sink` counts them; none when absent. */
  colors?: boolean;
  /** Waiting takes no time: the clock jumps instead. */
  skipWaits?: boolean;
  /** Waits are shown on a terminal as users see them; else none is, however slow the machine. */
  showWaits?: boolean;
  /** What the user types when asked, one text a question; stdin is a terminal then. */
  answers?: readonly string[];
  /** In place of the sockets that the program opens itself. */
  transport?: Transport;
  /** Larger answers are refused. */
  maxAnswerBytes?: number;
}

/** A new empty folder that goes when the test ends. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'sotra-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Commands that make the demo world if there is none, which takes long: they find a copy of it. */
const makesWorld = /^(--sandbox )?sandbox (trade|status|advance|simulate)\b(?!.*--(db|base-url|context))/;

/** Runs one command line in this process, in surroundings of its own: no settings, no environment but what is given. */
export async function run(argv: string | readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const words = typeof argv === 'string' ? argv.split(' ').filter((word) => word !== '') : argv;
  const printed = { out: '', err: '' };
  const isTTY = options.tty !== undefined;
  const sink = (name: 'out' | 'err'): Sink => {
    const draw = async (text: string) => {
      printed[name] += text;
      (name === 'err' ? options.onErr : options.onOut)?.(text);
    };
    // As at the edge of the process.
    const write = isTTY || name === 'err' ? (text: string) => draw(terminalText(text)) : draw;
    return { write, draw, isTTY, width: options.tty ?? 80, hasColors: options.colors ?? false };
  };
  const never = new AbortController();
  const env = { ...options.env };
  if (env['SOTRA_CONFIG_DIR'] === undefined) env['SOTRA_CONFIG_DIR'] = temporaryFolder();
  if (env['SOTRA_DATA_DIR'] === undefined) env['SOTRA_DATA_DIR'] = temporaryFolder();
  const { now: clock = Date.now } = options;
  const now = typeof clock === 'number' ? () => clock : clock;
  if (makesWorld.test(words.join(' ')) && env['SOTRA_BASE_URL'] === undefined)
    copyDemo(join(env['SOTRA_DATA_DIR'], 'sandbox.db'), now());
  const answers = [...(options.answers ?? [])];
  const ask = async (question: string, { hidden }: { hidden: boolean }) => {
    printed.err += terminalText(question);
    const answer = answers.shift();
    if (answer === undefined) throw new Error(`nobody answers ${question}`);
    // As a terminal shows what is typed.
    if (!hidden) printed.err += `${terminalText(answer)}\n`;
    return answer;
  };
  const stdin = Object.assign(input(options.stdin ?? ''), { isTTY: options.answers !== undefined });
  let skippedMs = 0;
  const jump = async (ms: number, signal?: AbortSignal) => {
    // Short polls and periodic housekeeping really wait: otherwise the clock would run away.
    if (ms <= 100 || (ms >= 60_000 && signal !== io.signal)) return delay(ms, undefined, { signal });
    skippedMs += ms;
    // What is waited for comes by the event loop, and so does the end of a test.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  };
  const io: Io = {
    out: sink('out'),
    err: sink('err'),
    in: stdin,
    ask,
    env,
    version: '0.0.0-test',
    now: () => now() + skippedMs,
    random: () => 0,
    scryptCost: { n: 4, r: 8, p: 1 },
    sleep: options.skipWaits ? jump : (ms, signal) => delay(ms, undefined, { signal }),
    signal: options.signal ?? never.signal,
    pid: process.pid,
    system: { node: process.versions.node, execPath: process.execPath, platform: process.platform, isAlive: isRunning },
    ...(!options.showWaits && { shownWaitMs: 3_600_000 }),
    ...(options.transport && { transport: options.transport }),
    ...(options.maxAnswerBytes && { maxAnswerBytes: options.maxAnswerBytes }),
    openSandbox: async (wanted) => {
      copyDemo(wanted.file, wanted.now());
      return openSandbox(wanted);
    },
    startThread: async (name) =>
      new Worker(new URL(`../../dist/${name}.cjs`, import.meta.url), { env: {}, stdout: true, stderr: true }),
    spawnSelf: () => {
      throw new Error('tests start processes through the built program');
    },
  };
  const code = await runProgram(words, io);
  return { ...printed, code };
}

/** What a command line prints with --json. */
export async function runJson(argv: string | readonly string[], options: RunOptions = {}) {
  const { out, err } = await run(typeof argv === 'string' ? `${argv} --json` : [...argv, '--json'], options);
  if (out === '') throw new Error(`${argv} printed nothing: ${err}`);
  return JSON.parse(out);
}

/** To compare an outcome with: a command that ends with this code, prints no result, and says this on stderr. */
export const failure = (code: number, says: string) => ({ code, out: '', err: expect.stringContaining(says) });

/** A user with folders of its own, for several command lines: `env`, the file of the settings, and what it holds. */
export function newUser(settings?: object) {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const file = join(env.SOTRA_CONFIG_DIR, 'config.json');
  if (settings !== undefined) writeFileSync(file, JSON.stringify(settings));
  return { env, file, readSettings: () => JSON.parse(readFileSync(file, 'utf8')) };
}

/** A command that serves until it is stopped, in this process, and what its ready file holds: nothing if it ended before; `shown` is what it printed on stderr so far. */
export async function serve(argv: string | readonly string[], options: RunOptions = {}) {
  const file = join(temporaryFolder(), 'ready.json');
  const stopping = new AbortController();
  const shown = { err: '' };
  const onErr = (text: string) => (shown.err += text);
  const words = [...(typeof argv === 'string' ? argv.split(' ').filter(Boolean) : argv), '--ready-file', file];
  const ended = run(words, { signal: stopping.signal, ...options, onErr });
  let isOver = false;
  ended.then(() => (isOver = true));
  const stop = () => {
    stopping.abort();
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  await until(() => existsSync(file) || isOver);
  return { ready: isOver ? undefined : JSON.parse(readFileSync(file, 'utf8')), file, shown, ended, stop };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function* input(stdin: NonNullable<RunOptions['stdin']>): AsyncIterable<Uint8Array> {
  if (typeof stdin !== 'string' && Symbol.asyncIterator in stdin) yield* stdin;
  else yield typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin;
}

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Stub {
  url: string;
  /** Every request that arrived, oldest first. */
  requests: Seen[];
  env: Record<string, string>;
  server: Server;
}

export type Script = (request: Seen, response: ServerResponse, count: number) => void;

/** The port of loopback that a server listens on from now; it goes when the test ends, and every connection to it. */
export async function openPort(server: NetServer, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A proxy that leads everything to one port of loopback, and keeps what it was asked for, and with which headers. */
export async function proxyTo(port: number) {
  const [asked, heads]: [string[], IncomingMessage['headers'][]] = [[], []];
  const proxy = createServer((_, response) => response.end('by the proxy'));
  proxy.on('request', ({ method, url }) => asked.push(`${method} ${url}`));
  proxy.on('connect', ({ url, headers }, socket) => {
    asked.push(`CONNECT ${url}`);
    heads.push(headers);
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  return { url: `http://127.0.0.1:${await openPort(proxy)}`, asked, heads };
}

/** Sends bytes as they are over a connection of its own, which stays open until the test ends, and collects what comes back. */
export function openSocket(url: string, bytes: string | Buffer) {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  const got = { text: '', closed: false };
  // A server that refuses may hang up on what is still being sent.
  socket.on('error', () => undefined);
  socket.on('data', (text) => (got.text += text));
  const ended = new Promise((resolve) => socket.on('close', resolve)).then(() => (got.closed = true));
  socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  return { got, socket, ended };
}

/** A server on loopback that answers as scripted, for what a healthy service never does; it goes when the test ends. */
export async function stub(script: Script): Promise<Stub> {
  const requests: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const seen = { method, url, headers, body: Buffer.concat(chunks).toString() };
      requests.push(seen);
      script(seen, response, requests.length);
    });
  });
  const url = `http://127.0.0.1:${await openPort(server)}`;
  return { url, requests, env: { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'stub-key' }, server };
}

/** A stub that answers every request with one JSON value. */
export function answering(value: unknown, status = 200, headers: Record<string, string> = {}): Promise<Stub> {
  return stub((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  });
}

/** Longer than anything takes that works, on a machine that does much else. */
const limitMs = size(100_000, 900_000);

/** Looks again and again until something is there, and gives that; `what` says in an error what did not come. */
export async function until<T>(
  look: () => T | undefined | false,
  what: string | (() => string) = 'something',
): Promise<T> {
  for (const end = Date.now() + limitMs; ; await delay(5)) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end)
      throw new Error(`waited ${limitMs / 1000} s in vain: ${typeof what === 'string' ? what : what()}`);
  }
}

/** The files below a folder, by their paths in it. */
function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile()).sort();
}

/** The files below a folder with their contents. */
export function contentsOf(folder: string): Map<string, Buffer> {
  return new Map(filesIn(folder).map((name) => [name, readFileSync(join(folder, name))]));
}
