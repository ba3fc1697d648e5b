import type { GlobalOptions } from '../cli/globals.ts';
import { messageOf, type SotraError, toSotraError } from '../errors.ts';
import type { CallEvent, Caller } from '../http/client.ts';
import { secretHider } from '../http/secrets.ts';
import { hideTyped } from '../keys/typed-secrets.ts';
import { shellLine } from '../model/shell.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import { readEnv, type Service } from '../setup/settings.ts';
import { configDirectory, openStore } from '../setup/store.ts';
import type { World } from '../world.ts';
import {
  type CommandFacts,
  describeAnswer,
  describeRequest,
  type EntryPart,
  type Keeper,
  type LogEntry,
  type SentRequest,
} from './entry.ts';
import { openHarFile } from './har.ts';
import { addEntry, completeEntry, findLog, keepFailedCommand } from './store.ts';

/** Of one command, besides those that fail: an upload or a watch would push everything else out of the log. */
export const maxOfCommand = 100;
const maxBodyBytes = 256 * 1024;
const maxErrorLength = 500;
const maxWordLength = 1000;

/** What keeps the calls of one command. */
export interface CallLog {
  /** What `act` gives, whose calls are kept. Errors: those of `act`. */
  keep: <T>(caller: Caller, act: (caller: Caller) => Promise<T>) => Promise<T>;
  /** Gives back whether one of the calls failed for good. */
  close: (exitCode: number | undefined) => Promise<boolean>;
}

export interface LoggedCommand {
  argv: readonly string[];
  service: Service;
  options: Pick<GlobalOptions, 'noHistory' | 'record' | 'replay'>;
  world: World;
  dataDirectory: () => Promise<string>;
  warn: (text: string) => void;
}

/** Errors: those of the file of `--record`. */
export async function openCallLog(command: LoggedCommand): Promise<CallLog> {
  const { service, world, options, warn } = command;
  const notKept = (thrown: unknown) => warn(`this call is not in the history: ${messageOf(thrown)}`);
  const log = await openLog(command).catch(notKept);
  const guarded = [
    ...(log ? [guard(log, notKept)] : []),
    ...(options.record === undefined
      ? []
      : [guard(await openHarFile(options.record, world.version, world), (thrown) => warn(messageOf(thrown)))]),
  ];
  const hide = secretHider(service.apiKey ?? undefined);
  const { baseUrl, isElsewhere, wire } = service;
  const context = isElsewhere ? undefined : service.context;
  const of = {
    command: hide(await describeCommand(command.argv)),
    ...{ pid: world.pid, baseUrl },
    ...(context && { context }),
    ...(Object.keys(wire).length > 0 && { wire }),
  };
  let hasFailed = false;
  return {
    keep: async (caller, act) => {
      const calls = guarded.map((keeper) => recordCall(keeper, hide, of, world.now));
      const observe = (event: CallEvent) => {
        caller.observe(event);
        for (const call of calls) call.observe(event);
      };
      try {
        const result = await act({ ...caller, observe });
        for (const call of calls) call.end();
        return result;
      } catch (thrown) {
        hasFailed = true;
        for (const call of calls) call.end(thrown);
        throw thrown;
      }
    },
    close: async (exitCode) => {
      for (const keeper of guarded) await keeper.close(exitCode);
      return hasFailed;
    },
  };
}

async function openLog(command: LoggedCommand): Promise<Keeper | undefined> {
  return isLogOff(command) ? undefined : keepInLog(findLog(await command.dataDirectory()), command.world);
}

/** Whether calls are not remembered: by a variable, a flag, the settings, or since a recording answers. */
export function isLogOff({ options, world }: Pick<LoggedCommand, 'options' | 'world'>): boolean {
  if (options.noHistory || options.replay !== undefined || readEnv(world.env, 'SOTRA_HISTORY') === '0') return true;
  return openStore(configDirectory(world)).read().history === false;
}

/** Keeps how a command ended that failed beside its calls, for `sotra why`; nothing where the log is off or cannot be written. */
export async function keepCommandFailure(
  command: Omit<LoggedCommand, 'service' | 'warn'>,
  { code, exitCode, message, hint }: Pick<SotraError, 'code' | 'exitCode' | 'message' | 'hint'>,
): Promise<void> {
  try {
    if (isLogOff(command)) return;
    const hide = secretHider(undefined);
    const typed = await describeCommand(command.argv);
    const failed = { atMs: command.world.now(), command: hide(typed), exitCode, code, message: shorten(message, hide) };
    const more = hint === undefined ? {} : { hint: shorten(hint, hide) };
    keepFailedCommand(findLog(await command.dataDirectory()), { ...failed, ...more });
  } catch {
    // What is remembered of a command decides nothing.
  }
}

function keepInLog(folder: string, { now }: World): Keeper {
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

/** Where it fails, that is said once, and the calls go on without it. */
function guard({ maxBodyBytes, begin, close }: Keeper, tell: (thrown: unknown) => void): Keeper {
  let hasFailed = false;
  const attempt = async <T>(act: () => T | Promise<T>): Promise<T | undefined> => {
    if (hasFailed) return undefined;
    try {
      return await act();
    } catch (thrown) {
      if (!hasFailed) tell(thrown);
      hasFailed = true;
      return undefined;
    }
  };
  return {
    maxBodyBytes,
    begin: (entry) => {
      const end = attempt(() => begin(entry));
      return async (part) => attempt(async () => (await end)?.(part));
    },
    close: (exitCode) => attempt(() => close(exitCode)),
  };
}

/** Hands each attempt of one call to a keeper. */
function recordCall(
  { begin, maxBodyBytes }: Keeper,
  hide: (text: string) => string,
  of: CommandFacts,
  now: () => number,
): { observe: (event: CallEvent) => void; end: (thrown?: unknown) => void } {
  const rules = { hide, maxBodyBytes };
  let sent: { entry: LogEntry; end: (part: EntryPart) => void; part: EntryPart } | undefined;
  let why: string | undefined;
  const settle = (failure: Partial<LogEntry['_sotra']> = {}) => {
    if (sent === undefined) return;
    const { end, part } = sent;
    sent = undefined;
    end({ ...part, _sotra: { ...part._sotra, ...failure } });
  };
  const begun = ({ request, attempt }: Extract<CallEvent, { kind: 'request' }>) => {
    const described: SentRequest = { startedMs: now(), request, attempt, why };
    const entry = describeRequest(described, of, rules);
    sent = { entry, end: begin(entry), part: {} };
  };
  return {
    observe: (event) => {
      if (event.kind === 'request') {
        settle();
        begun(event);
      } else if (event.kind === 'wait') {
        why = event.why;
        settle({ error: shorten(event.why, hide) });
      } else if (sent !== undefined) sent.part = describeAnswer(sent.entry, event, rules);
    },
    end: (thrown) => {
      if (thrown === undefined) return settle();
      const { code, message, hint } = toSotraError(thrown);
      settle({ errorCode: code, error: shorten(message, hide), ...(hint && { hint: shorten(hint, hide) }) });
    },
  };
}

function shorten(text: string, hide: (text: string) => string): string {
  return hide(text).slice(0, maxErrorLength);
}

/** The command as it was typed, without what may be a private key or is secret in a `name=value`; long words are cut. */
async function describeCommand(argv: readonly string[]): Promise<string> {
  const words = argv.map((word) => {
    const shown = hideUrlSecrets(`?${word}`).slice(1);
    return shown.length > maxWordLength ? `${shown.slice(0, maxWordLength)}...(${word.length} characters)` : shown;
  });
  // What may be a hash was sent as one.
  const hide = await hideTyped(words, { outcome: 'unknown', status: undefined });
  return hide(shellLine(['sotra', ...words]));
}
