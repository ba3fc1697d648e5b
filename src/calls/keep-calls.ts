import { BoundsError } from '../api/json.ts';
import type { CallAnswer, CallEvent, ClientConfig } from '../client/client.ts';
import { hideUrlSecrets, secretHider } from '../client/secrets.ts';
import { shellLine } from '../client/shell.ts';
import { readMessage, type SotraError, toSotraError } from '../errors.ts';
import type { Service } from '../lib/config/service.ts';
import type { Io } from '../lib/io.ts';
import { describeCall, type SeenCall } from './describe-call.ts';
import type { CallFacts, CommandFacts, FailedCommand, LogEntry } from './entry.ts';
import { findJsonError } from './json-error.ts';
import { appendLine, findHistory, isHistoryOff } from './log.ts';

/** Calls that one command logs, besides those that fail: an upload would push everything else out of the log. */
const maxOfCommand = 100;
const maxErrorLength = 500;
const maxLineLength = 4000;

interface LoggedCommand {
  argv: readonly string[];
  /** Absent if the command failed before it was known. */
  service: Service | undefined;
  io: Io;
  warn: (text: string) => void;
}

/** The log for the calls of one command. A log that cannot be written is one warning and fails no command. */
export function openCallLog(command: LoggedCommand) {
  const { argv, io, service } = command;
  const hide = secretHider(service?.apiKey ?? undefined);
  const line = describeTyped(argv, hide);
  const facts = describeCommand(line, command);
  const append = openFile(command);
  let count = 0;
  /** The last call that failed for good. */
  let failed: CallFacts | undefined;
  const appendCall = (call: SeenCall | undefined, more: Partial<CallFacts>) => {
    if (call === undefined || (count >= maxOfCommand && more.error === undefined)) return;
    count += 1;
    append(() => {
      const entry = describeCall(call, { ...facts, ...more }, hide);
      if (more.errorCode !== undefined) failed = entry._sotra;
      return entry;
    });
  };
  return {
    /** Makes a call and logs its attempts. Errors: those of `act`. */
    logCall: async <T extends CallAnswer>(
      config: ClientConfig,
      act: (config: ClientConfig) => Promise<T>,
    ): Promise<T> => {
      let sent: SeenCall | undefined;
      let retryReason: string | undefined;
      let warning: string | undefined;
      const settle = (more: Partial<CallFacts> = {}) => {
        appendCall(sent, more);
        sent = undefined;
      };
      const observe = (event: CallEvent) => {
        config.observe(event);
        if (event.kind === 'request') {
          settle();
          sent = { request: event.request, attempt: event.attempt, startedMs: io.now(), retryReason };
        } else if (event.kind === 'wait') {
          retryReason = event.why;
          settle({ error: shorten(event.why, hide) });
        } else if (sent !== undefined) sent.ended = event;
      };
      const warn = (text: string) => {
        warning = shorten(text, hide);
        config.warn?.(text);
      };
      try {
        const answer = await act({ ...config, observe, warn });
        settle(warning === undefined ? {} : { warning });
        return answer;
      } catch (thrown) {
        settle(describeError(toSotraError(thrown), sent, hide));
        throw thrown;
      }
    },
    /** Logs how the command failed; returns whether `sotra why` explains it. */
    logFailure: ({ code, exitCode, message, hint }: SotraError): boolean => {
      const isOfCall = failed?.errorCode === code || code === 'partial';
      return append(() => ({
        v: 1,
        atMs: io.now(),
        command: line,
        exitCode,
        code,
        message: shorten(message, hide),
        ...(hint !== undefined && { hint: shorten(hint, hide) }),
        ...(failed !== undefined && isOfCall && { call: failed.id }),
      }));
    },
  };
}

/** Appends a line to the log and returns whether it is there; stops after an error, with a warning. */
function openFile({ io, warn }: LoggedCommand) {
  let isOff = isHistoryOff(io);
  return (describe: () => LogEntry | FailedCommand): boolean => {
    try {
      if (!isOff) appendLine(findHistory(io), describe());
    } catch (thrown) {
      isOff = true;
      warn(`this call is not in the history: ${readMessage(thrown)}`);
    }
    return !isOff;
  };
}

function describeCommand(command: string, { service, io }: LoggedCommand): CommandFacts {
  const { baseUrl = '', isElsewhere = true, context, wire = {} } = service ?? {};
  return {
    command,
    pid: io.pid,
    baseUrl,
    ...(context !== undefined && !isElsewhere && { context }),
    ...(Object.keys(wire).length > 0 && { wire }),
  };
}

function describeError(error: SotraError, call: SeenCall | undefined, hide: (text: string) => string) {
  const { code, message, hint, cause } = error;
  const text = call?.ended?.kind === 'answer' ? call.ended.text : '';
  const isBadJson = code === 'bad-answer' && text.trim() !== '' && !(cause instanceof BoundsError);
  const badJson = isBadJson ? findJsonError(text) : undefined;
  return {
    errorCode: code,
    error: shorten(message, hide),
    ...(hint !== undefined && { hint: shorten(hint, hide) }),
    ...(badJson !== undefined && { badJson: { ...badJson, near: hide(badJson.near) } }),
  };
}

function shorten(text: string, hide: (text: string) => string): string {
  return hide(text).slice(0, maxErrorLength);
}

/** The command as typed, secrets hidden, a long one cut. */
function describeTyped(argv: readonly string[], hide: (text: string) => string): string {
  // Before it is quoted, which would split a key.
  const words = argv.map((word) => hide(hideUrlSecrets(`?${word}`).slice(1)));
  const line = shellLine(['sotra', ...words]);
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}...(${argv.length} words)` : line;
}
