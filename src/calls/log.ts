import { constants, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BoundsError, findJsonError } from '../api/json.ts';
import type { CallAnswer, CallEvent, ClientConfig } from '../client/client.ts';
import { hidden, hideUrlSecrets, secretHider } from '../client/secrets.ts';
import { shellLine } from '../client/shell.ts';
import { readMessage, type SotraError, toSotraError } from '../errors.ts';
import { dataDirectory, readEnv, type Service } from '../lib/config/config.ts';
import { tryLock } from '../lib/files/database.ts';
import { makeFolder, writeStateFile } from '../lib/files/durable-file.ts';
import type { Io } from '../lib/io.ts';
import { describeCall, type SeenCall } from './describe-call.ts';
import type { CallFacts, CommandFacts, FailedCommand, LogEntry } from './entry.ts';

/** The newest first. */
export const logFiles = ['calls.ndjson', 'calls.1.ndjson', 'calls.2.ndjson'] as const;
const maxFileBytes = 16 * 1024 * 1024;

/** Calls that one command logs, besides those that fail: an upload would push everything else out of the log. */
const maxOfCommand = 100;
const maxErrorLength = 500;
const maxLineLength = 4000;

/** The folder of the log and the last boards. Errors: as `dataDirectory`. */
export function findHistory(io: Pick<Io, 'env' | 'system'>): string {
  return join(dataDirectory(io), 'history');
}

/** Whether SOTRA_HISTORY=0 turns the history off. */
export function isHistoryOff({ env }: Pick<Io, 'env'>): boolean {
  return readEnv(env, 'SOTRA_HISTORY') === '0';
}

/** Errors: those of the file system. */
export function clearHistory(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

interface LoggedCommand {
  argv: readonly string[];
  /** Absent if the command failed before it was known. */
  service: Service | undefined;
  io: Io;
  warn: (text: string) => void;
}

/** The log of one command. A log that cannot be written is one warning and fails no command. */
export interface CallLog extends Pick<LoggedCommand, 'io' | 'warn'> {
  hide: (text: string) => string;
  facts: CommandFacts;
  /** Turned off, or it could not be written. */
  isOff: boolean;
  /** The calls in it. */
  count: number;
  /** The last call that failed for good. */
  failed: CallFacts | undefined;
}

export function openCallLog({ argv, service, io, warn }: LoggedCommand): CallLog {
  const hide = secretHider(service?.apiKey ?? undefined);
  const { baseUrl = '', isElsewhere = true, context, wire = {} } = service ?? {};
  const facts = {
    command: describeTyped(argv, hide),
    pid: io.pid,
    baseUrl,
    ...(context !== undefined && !isElsewhere && { context }),
    ...(Object.keys(wire).length > 0 && { wire }),
  };
  return { io, warn, hide, facts, isOff: isHistoryOff(io), count: 0, failed: undefined };
}

/** The command as typed, secrets hidden, a long one cut. */
function describeTyped(argv: readonly string[], hide: CallLog['hide']): string {
  // Before it is quoted, which would split a key.
  const words = argv.map((word, index) => {
    // The user's command may hold a private key.
    if (argv[index - 1] === '--signer-command') return hidden;
    const shown = word.replace(/^(--signer-command=).*/s, `$1${hidden}`);
    return hide(hideUrlSecrets(`?${shown}`).slice(1));
  });
  const line = shellLine(['sotra', ...words]);
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}...(${argv.length} words)` : line;
}

/** Makes a call and logs its attempts. Errors: those of `act`. */
export async function logCall<T extends CallAnswer>(
  log: CallLog,
  config: ClientConfig,
  act: (config: ClientConfig) => Promise<T>,
): Promise<T> {
  let sent: SeenCall | undefined;
  let retryReason: string | undefined;
  let warning: string | undefined;
  const settle = (more: Partial<CallFacts> = {}) => {
    if (sent !== undefined) appendCall(log, sent, more);
    sent = undefined;
  };
  const observe = (event: CallEvent) => {
    config.observe(event);
    if (event.kind === 'request') {
      settle();
      sent = { request: event.request, attempt: event.attempt, startedMs: log.io.now(), retryReason };
    } else if (event.kind === 'wait') {
      retryReason = event.why;
      settle({ error: shorten(log, event.why) });
    } else if (sent !== undefined) sent.ended = event;
  };
  const warn = (text: string) => {
    warning = shorten(log, text);
    config.warn?.(text);
  };
  try {
    const answer = await act({ ...config, observe, warn });
    settle(warning === undefined ? {} : { warning });
    return answer;
  } catch (thrown) {
    settle(describeFailedCall(log, toSotraError(thrown), sent));
    throw thrown;
  }
}

function describeFailedCall(log: CallLog, error: SotraError, call: SeenCall | undefined): Partial<CallFacts> {
  const { code, message, hint, cause } = error;
  const text = call?.ended?.kind === 'answer' ? call.ended.text : '';
  const isBadJson = code === 'bad-answer' && text.trim() !== '' && !(cause instanceof BoundsError);
  const badJson = isBadJson ? findJsonError(text) : undefined;
  return {
    errorCode: code,
    error: shorten(log, message),
    ...(hint !== undefined && { hint: shorten(log, hint) }),
    ...(badJson !== undefined && { badJson: { ...badJson, near: log.hide(badJson.near) } }),
  };
}

function appendCall(log: CallLog, call: SeenCall, more: Partial<CallFacts>): void {
  if (log.count >= maxOfCommand && more.error === undefined) return;
  log.count += 1;
  append(log, () => {
    const entry = describeCall(call, { ...log.facts, ...more }, log.hide);
    if (more.errorCode !== undefined) log.failed = entry._sotra;
    return entry;
  });
}

/** Logs how a command failed; returns whether a call explains it. */
export function logFailure(log: CallLog, { code, exitCode, message, hint }: SotraError): boolean {
  const { failed } = log;
  const isOfCall = failed !== undefined && (failed.errorCode === code || code === 'partial');
  const isKept = append(log, () => ({
    v: 1,
    atMs: log.io.now(),
    command: log.facts.command,
    exitCode,
    code,
    message: shorten(log, message),
    ...(hint !== undefined && { hint: shorten(log, hint) }),
    ...(isOfCall && { call: failed.id }),
  }));
  return isKept && isOfCall;
}

function shorten({ hide }: CallLog, text: string): string {
  return hide(text).slice(0, maxErrorLength);
}

/** Returns whether the line is in the log; after an error nothing more is written. */
function append(log: CallLog, describe: () => LogEntry | FailedCommand): boolean {
  try {
    if (!log.isOff) appendLine(findHistory(log.io), describe());
  } catch (thrown) {
    log.isOff = true;
    log.warn(`this call is not in the history: ${readMessage(thrown)}`);
  }
  return !log.isOff;
}

/** Appends one line with one write, so that processes do not mix theirs; a full file is put aside first. Errors: those of the file system. */
function appendLine(folder: string, line: LogEntry | FailedCommand): void {
  makeFolder(folder);
  const newest = join(folder, logFiles[0]);
  if (isFull(newest)) putAside(folder);
  // The line end comes first: a line that a killed process left torn does not damage this one.
  writeStateFile(newest, `\n${JSON.stringify(line)}`, constants.O_APPEND);
}

function isFull(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= maxFileBytes;
}

function putAside(folder: string): void {
  const release = tryLock(join(folder, 'calls.lock'));
  // Another process does it.
  if (release === undefined) return;
  try {
    const [newest, second, oldest] = logFiles.map((name) => join(folder, name)) as [string, string, string];
    if (!isFull(newest)) return;
    if (existsSync(second)) renameSync(second, oldest);
    renameSync(newest, second);
  } finally {
    release();
  }
}
