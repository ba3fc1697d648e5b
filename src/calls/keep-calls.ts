import { parseJson } from '../api/json.ts';
import type { CallAnswer, CallEvent, Caller } from '../client/client.ts';
import { secretHider } from '../client/secrets.ts';
import { shellLine } from '../client/shell.ts';
import { hideUrlSecrets } from '../client/url-secrets.ts';
import { readMessage, type SotraError, toSotraError } from '../errors.ts';
import { readEnv, type Service } from '../lib/config/settings.ts';
import type { Io } from '../lib/io.ts';
import { addAnswer, startEntry, type TextRules } from './describe-call.ts';
import type { CommandFacts, EntryPart, Keeper, LogEntry } from './entry.ts';
import { addEntry, completeEntry, findLog, keepFailedCommand } from './store.ts';

/** Of one command, besides those that fail: an upload or a watch would push everything else out of the log. */
export const maxOfCommand = 100;
const maxBodyBytes = 256 * 1024;
const maxErrorLength = 500;
const maxWordLength = 1000;

/** What is kept of an answer that is too long to be kept: the part that later commands ask for, in the shape of the answer. */
type TakeBrief = ((data: never) => unknown) | undefined;

/** What keeps the calls of one command. */
export interface CallLog {
  /** What `act` gives, whose calls are kept. Errors: those of `act`. */
  keep: <T extends CallAnswer>(
    caller: Caller,
    act: (caller: Caller) => Promise<T>,
    takeBrief?: TakeBrief,
  ) => Promise<T>;
  /** Gives back whether the log holds a call that failed for good. */
  close: (exitCode: number | undefined) => Promise<boolean>;
}

export interface LoggedCommand {
  argv: readonly string[];
  isPage?: boolean | undefined;
  service: Service;
  io: Io;
  dataDirectory: () => Promise<string>;
  warn: (text: string) => void;
}

/** What cannot be kept is warned of once; it fails no command. */
export async function openCallLog(command: LoggedCommand): Promise<CallLog> {
  const { io, warn } = command;
  const notKept = (thrown: unknown) => warn(`this call is not in the history: ${readMessage(thrown)}`);
  const told = await describeCommand(command).catch(notKept);
  const kept = told && (await openLog(command).catch(notKept));
  const log = kept && recordCalls(kept, told, io.now, notKept);
  let hasFailed = false;
  return {
    keep: async (caller, act, takeBrief) => {
      const call = log?.startCall();
      const observe = (event: CallEvent) => {
        caller.observe(event);
        call?.observe(event);
      };
      const answer = await act({ ...caller, observe }).catch((thrown: unknown) => {
        hasFailed = true;
        call?.fail(thrown);
        throw thrown;
      });
      call?.succeed(answer.data, takeBrief);
      return answer;
    },
    close: async (exitCode) => {
      const isKept = await log?.close(exitCode);
      return hasFailed && isKept === true;
    },
  };
}

interface CommandTold {
  facts: CommandFacts;
  hide: (text: string) => string;
}

async function describeCommand({
  argv,
  isPage,
  service,
  io,
}: Omit<LoggedCommand, 'dataDirectory' | 'warn'>): Promise<CommandTold> {
  const { baseUrl, isElsewhere, context, wire } = service;
  const { line, hide } = describeTyped(argv, service.apiKey);
  return {
    hide,
    facts: {
      ...{ command: line, pid: io.pid, baseUrl },
      ...(context !== undefined && !isElsewhere && { context }),
      ...(Object.keys(wire).length > 0 && { wire }),
      ...(isPage && { page: true }),
    },
  };
}

async function openLog(command: LoggedCommand): Promise<Keeper | undefined> {
  return isLogOff(command.io) ? undefined : keepInLog(findLog(await command.dataDirectory()), command.io);
}

/** Whether SOTRA_HISTORY=0 turns the history off. */
export function isLogOff({ env }: Pick<Io, 'env'>): boolean {
  return readEnv(env, 'SOTRA_HISTORY') === '0';
}

/** Keeps how a command ended that failed beside its calls, for `sotra why`; gives back whether it did. */
export async function keepCommandFailure(
  command: Omit<LoggedCommand, 'service' | 'warn'>,
  { code, exitCode, message, hint }: Pick<SotraError, 'code' | 'exitCode' | 'message' | 'hint'>,
): Promise<boolean> {
  try {
    if (isLogOff(command.io)) return false;
    const { line, hide } = describeTyped(command.argv, null);
    const failed = { atMs: command.io.now(), command: line, exitCode, code, message: shorten(message, hide) };
    const more = hint === undefined ? {} : { hint: shorten(hint, hide) };
    keepFailedCommand(findLog(await command.dataDirectory()), { ...failed, ...more });
    return true;
  } catch {
    // What is remembered of a command decides nothing.
    return false;
  }
}

function keepInLog(folder: string, { now }: Io): Keeper {
  const kept: number[] = [];
  return {
    maxBodyBytes,
    begin: (entry) => {
      if (kept.length >= maxOfCommand)
        return (part) => {
          if (part._sotra?.error !== undefined) completeEntry(folder, addEntry(folder, entry, now()), part);
        };
      const n = addEntry(folder, entry, now());
      kept.push(n);
      return (part) => completeEntry(folder, n, part);
    },
    close: (exitCode) => {
      if (exitCode === undefined) return;
      for (const n of kept) completeEntry(folder, n, { _sotra: { exitCode } });
    },
  };
}

/** Hands each attempt of the calls of a command to a keeper. Where that fails it is told once, and the calls go on without. */
function recordCalls(keeper: Keeper, { facts, hide }: CommandTold, now: () => number, tell: (thrown: unknown) => void) {
  const rules: TextRules = { hide, maxBodyBytes: keeper.maxBodyBytes };
  let isBroken = false;
  const attempt = async (act: () => void | Promise<void>) => {
    try {
      if (!isBroken) await act();
    } catch (thrown) {
      if (!isBroken) tell(thrown);
      isBroken = true;
    }
  };
  const startCall = () => {
    let sent: { entry: LogEntry; end: ReturnType<Keeper['begin']>; part: EntryPart } | undefined;
    let why: string | undefined;
    const settle = (more: EntryPart['_sotra'] = {}) => {
      if (sent === undefined) return;
      const { end, part } = sent;
      sent = undefined;
      return end({ ...part, _sotra: { ...part._sotra, ...more } });
    };
    const observe = (event: CallEvent) => {
      if (event.kind === 'request') {
        const settled = settle();
        const entry = startEntry({ ...event, startedMs: now(), why }, facts, rules);
        sent = { entry, end: keeper.begin(entry), part: {} };
        return settled;
      }
      if (event.kind === 'wait') {
        why = event.why;
        return settle({ error: shorten(why, hide) });
      }
      if (sent !== undefined) sent.part = addAnswer(sent.entry, event, rules);
    };
    return {
      observe: (event: CallEvent) => void attempt(() => observe(event)),
      succeed: (data: unknown, takeBrief: TakeBrief) =>
        void attempt(() => {
          const isCut = sent?.part.response?.content._cut !== undefined;
          return settle(isCut && takeBrief !== undefined ? { brief: readBrief(data, takeBrief, rules) } : {});
        }),
      fail: (thrown: unknown) =>
        void attempt(() => {
          const { code, message, hint } = toSotraError(thrown);
          return settle({ errorCode: code, error: shorten(message, hide), ...(hint && { hint: shorten(hint, hide) }) });
        }),
    };
  };
  /** Gives back whether everything was kept. */
  const close = async (exitCode: number | undefined) => {
    await attempt(() => keeper.close(exitCode));
    return !isBroken;
  };
  return { startCall, close };
}

/** `undefined` where the answer has another shape, or where even this is too long. */
function readBrief(data: unknown, takeBrief: NonNullable<TakeBrief>, { hide, maxBodyBytes }: TextRules): unknown {
  try {
    const text = hide(JSON.stringify(takeBrief(data as never)));
    return Buffer.byteLength(text) > maxBodyBytes ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

function shorten(text: string, hide: (text: string) => string): string {
  return hide(text).slice(0, maxErrorLength);
}

/** The command as it was typed, long words cut and secrets hidden; and what hides the API key elsewhere. */
function describeTyped(
  argv: readonly string[],
  apiKey: string | null,
): { line: string; hide: (text: string) => string } {
  const hide = secretHider(apiKey ?? undefined);
  // Before it is quoted, which would split a key.
  const words = argv.map((word) => {
    const shown = hide(hideUrlSecrets(`?${word}`).slice(1));
    return shown.length > maxWordLength ? `${shown.slice(0, maxWordLength)}...(${word.length} characters)` : shown;
  });
  return { line: shellLine(['sotra', ...words]), hide };
}
