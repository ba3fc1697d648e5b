import { defined, tryParseJson } from './api/json.ts';

/** Every error code, with the exit code that scripts rely on. */
export const errorExitCodes = {
  internal: 1,
  usage: 2,
  'no-service': 2,
  'insecure-url': 2,
  config: 3,
  locked: 3,
  'local-file': 3,
  'key-missing': 4,
  'key-refused': 4,
  forbidden: 4,
  'not-found': 5,
  'bad-request': 6,
  conflict: 6,
  'too-large': 6,
  'request-refused': 6,
  'rate-limited': 7,
  'server-error': 8,
  network: 9,
  timeout: 9,
  redirect: 9,
  partial: 10,
  'signing-key': 11,
  verification: 12,
  'bad-answer': 13,
  contract: 13,
  'wait-timeout': 124,
  interrupted: 130,
} as const;

export const exitMeanings: Record<number, string> = {
  0: 'done, also with an empty result',
  1: 'internal error',
  2: 'usage error, or input refused before sending',
  3: 'configuration or local state',
  4: 'key missing or refused',
  5: 'not found',
  6: 'refused by the service (other 4xx)',
  7: 'rate limited after all retries',
  8: 'server error',
  9: 'network, TLS, timeout or a refused redirect',
  10: 'partly done; can be resumed',
  11: 'key or signing error',
  12: 'verification failed',
  13: 'the answer is not JSON, or with --strict does not match the interface',
  124: 'wait timed out',
  129: 'interrupted by SIGHUP',
  130: 'interrupted by SIGINT (Ctrl-C)',
  143: 'interrupted by SIGTERM',
};

export type ErrorCode = keyof typeof errorExitCodes;

const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** The errors that end a command with this exit code. */
export function findErrorCodes(exit: number): ErrorCode[] {
  const isSignal = Object.values<number>(signalExitCodes).includes(exit);
  const codes = Object.keys(errorExitCodes) as ErrorCode[];
  return isSignal ? ['interrupted'] : codes.filter((code) => errorExitCodes[code] === exit);
}

export interface ErrorDetails {
  /** The next thing to type. */
  hint?: string | undefined;
  /** Makes message and hint from the names of the inputs that they are about. */
  say?: SayInputs | undefined;
  cause?: unknown;
  status?: number | undefined;
  requestId?: string | undefined;
  /** Facts for `--json` readers, e.g. the rejected lines. */
  details?: unknown;
  /** Of a failed request: surely not processed, or perhaps processed; absent when the service refused it. */
  outcome?: 'unsent' | 'unknown' | undefined;
  attempts?: number | undefined;
  retryAfterSec?: number | undefined;
  body?: string | undefined;
}

/** The one error class: a stable code, a sentence, and a hint that can be typed. */
export class SotraError extends Error {
  override readonly name = 'SotraError';
  readonly code: ErrorCode;
  declare readonly hint: ErrorDetails['hint'];
  declare readonly say: ErrorDetails['say'];
  declare readonly status: ErrorDetails['status'];
  declare readonly requestId: ErrorDetails['requestId'];
  declare readonly details: unknown;
  declare readonly outcome: ErrorDetails['outcome'];
  declare readonly attempts: ErrorDetails['attempts'];
  declare readonly retryAfterSec: ErrorDetails['retryAfterSec'];
  declare readonly body: ErrorDetails['body'];

  constructor(code: ErrorCode, message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    for (const [name, value] of Object.entries(details))
      if (value !== undefined) Object.assign(this, { [name]: value });
  }

  /** Of an interruption: by its signal. */
  declare readonly signalExitCode?: number;

  get exitCode(): number {
    return this.signalExitCode ?? errorExitCodes[this.code];
  }

  /** Also of another copy of this class: `sotra/sandbox` has its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'SotraError';
  }
}

/** Why a signal stopped the process, with the exit code that shells give it: 128 and its number. */
export class Stopped extends DOMException {
  readonly exitCode: number;

  constructor(signal: keyof typeof signalExitCodes) {
    super('This operation was aborted', 'AbortError');
    this.exitCode = signalExitCodes[signal];
  }
}

/** The exit code of a command that this ended. */
export function stopExitCode({ reason }: AbortSignal): number {
  return reason instanceof Stopped ? reason.exitCode : errorExitCodes.interrupted;
}

/** Whether `sotra why` explains this exit code: the command called the service or used a key, and failed. */
export function isExplained(exitCode: number): boolean {
  return exitCode >= 4 && exitCode <= 13;
}

/** The message, with the number of attempts if there were several. */
export function writeMessage({ message, attempts = 1 }: Pick<SotraError, 'message' | 'attempts'>): string {
  return attempts === 1 ? message : `${message} (after ${attempts} attempts)`;
}

/** Input refused before anything was sent; exit 2. */
export function usageError(message: string, hint?: string): SotraError {
  return new SotraError('usage', message, { hint });
}

/** How a surface calls an input, by its key: `--limit` on the command line, `limit` for agents and in the library. */
export type NameInput = (key: string) => string;

type SayInputs = (name: NameInput) => { message: string; hint?: string | undefined };

/** A usage error about inputs, which names them by their keys until a surface names them in its way. */
export function inputError(say: SayInputs, name: NameInput = (key) => key): SotraError {
  const { message, hint } = say(name);
  return new SotraError('usage', message, { hint, say });
}

/** The same error with inputs named in the way of a surface. */
export function nameInputs(error: SotraError, name: NameInput): SotraError {
  const { say, details } = error;
  return say === undefined ? error : Object.assign(inputError(say, name), { details });
}

const localCodes: readonly ErrorCode[] = [
  ...(['usage', 'no-service', 'insecure-url', 'config', 'locked', 'local-file', 'key-missing', 'signing-key'] as const),
];

/** Whether message, hint and body may hold text of a service or its users. */
export function mayQuote({ code }: Pick<SotraError, 'code'>): boolean {
  return !localCodes.includes(code);
}

/** The error for callers in code, without the hint: hints are lines to type into a terminal. */
export function withoutHint(thrown: unknown): unknown {
  if (thrown instanceof SotraError) Reflect.deleteProperty(thrown, 'hint');
  return thrown;
}

/** What `act` returns; its errors lose their hint. */
export function withoutHints<T>(act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw withoutHint(thrown);
  }
}

/** A usage error that names every input without a value in one sentence. */
export function missingInputs(
  inputs: readonly { label: string; help: string; value?: unknown }[],
  hint?: string,
): SotraError {
  const missing = inputs.filter(({ value }) => value === undefined);
  const labels = missing.map(({ label }) => label);
  const named = labels.length === 1 ? `${labels[0]} is` : `${labels.slice(0, -1).join(', ')} and ${labels.at(-1)} are`;
  return usageError(`${named} required: ${missing.map(({ help }) => help).join('; ')}`, hint);
}

/** The error of a call, whose hint says so if it may have been done all the same: POST and PATCH are not repeated. */
export function warnOfRepeat(thrown: unknown, method: string): unknown {
  if (!['POST', 'PATCH'].includes(method) || !(thrown instanceof SotraError) || thrown.outcome !== 'unknown')
    return thrown;
  const hint = 'It may have arrived: check what the service has before you send it again.';
  return Object.assign(thrown, { hint: thrown.hint === undefined ? hint : `${hint} ${thrown.hint}` });
}

/** The result of a call; `undefined` if it fails with one of these codes. Errors: those of the call with other codes. */
export async function orUndefined<T>(call: Promise<T>, ...codes: readonly ErrorCode[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (thrown instanceof SotraError && codes.includes(thrown.code)) return undefined;
    throw thrown;
  }
}

/** The message of an error; a system error (`ENOENT: no such file or directory, open 'x'`) in words. */
export function readMessage(thrown: unknown): string {
  if (thrown instanceof AggregateError) return readMessage(thrown.errors[0]);
  if (!(thrown instanceof Error)) return String(thrown);
  const { code, syscall, address, port, hostname } = thrown as NodeJS.ErrnoException & Record<string, unknown>;
  const host = String(address).includes(':') ? `[${address}]` : address;
  if (code === 'ECONNREFUSED' && host !== undefined) return `nothing is listening at ${host}:${port}`;
  if (code === 'ECONNRESET')
    return `the connection was ${syscall === undefined ? 'closed without an answer' : 'reset'}`;
  if (/^HPE_/.test(String(code))) return 'the answer is not HTTP';
  if (code === 'EADDRNOTAVAIL') return 'this machine has no such address';
  if (syscall === 'getaddrinfo') return `the name ${hostname} has no address`;
  if (syscall?.startsWith('spawn') && code === 'ENOENT') return 'no such program';
  if (code === 'EISDIR') return 'it is a folder';
  const [, words] = /^E[A-Z0-9]+: ([^,]+), \w+/.exec(thrown.message) ?? [];
  return words ?? thrown.message;
}

/** `local-file` (exit 3) for errors of the file system or the sandbox's database, `internal` (exit 1) for any other error. */
export function toSotraError(thrown: unknown): SotraError {
  if (thrown instanceof SotraError) return thrown;
  const message = readMessage(thrown);
  if (isFileFault(thrown))
    return new SotraError('local-file', `cannot use ${thrown.path ?? 'a local file'}: ${message}`, {
      hint: 'Free some disk space or correct its permissions; SOTRA_DATA_DIR and SOTRA_CONFIG_DIR choose other folders.',
      cause: thrown,
    });
  return new SotraError('internal', `internal error: ${message}`, {
    hint: 'This is a bug in sotra. Run the command again with --verbose and report what it prints.',
    cause: thrown,
  });
}

const fileFaults: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EISDIR'];

/** Sockets have an address where files have a path; a write to an open file has neither. */
function isFileFault(thrown: unknown): thrown is NodeJS.ErrnoException {
  if (!(thrown instanceof Error)) return false;
  const { code, path, syscall } = thrown as NodeJS.ErrnoException;
  if (code?.startsWith('SQLITE_')) return true;
  return syscall !== undefined && (typeof path === 'string' || fileFaults.includes(code));
}

/** The error as `--json` prints it on stderr. */
export function errorObject(error: SotraError): { error: Record<string, unknown> } {
  return {
    error: {
      code: error.code,
      message: writeMessage(error),
      hint: error.hint ?? null,
      status: error.status ?? null,
      exitCode: error.exitCode,
      requestId: error.requestId ?? null,
      ...defined({ retryAfterSec: error.retryAfterSec, details: error.details }),
      ...(error.body === undefined ? {} : { body: readIfJson(error.body) }),
    },
  };
}

/** Characters of a body that an error shows. */
export const maxShownBody = 10_000;

function readIfJson(text: string): unknown {
  const value = text.length > maxShownBody ? undefined : tryParseJson(text);
  return value === undefined ? text.slice(0, maxShownBody) : value;
}
