import type { GlobalOptions } from '../cli/globals.ts';
import { messageOf, type SotraError, toSotraError } from '../errors.ts';
import type { Answer, CallEvent, Caller } from '../http/client.ts';
import { secretHider } from '../http/secrets.ts';
import { hideTyped } from '../keys/typed-secrets.ts';
import { parseJson } from '../model/json.ts';
import { shellLine } from '../model/shell.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import { readEnv, type Service } from '../setup/settings.ts';
import { configDirectory, openStore } from '../setup/store.ts';
import type { World } from '../world.ts';
import { addAnswer, type CommandFacts, type EntryPart, type Keeper, type LogEntry, startEntry } from './entry.ts';
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
  keep: <T extends Answer>(caller: Caller, act: (caller: Caller) => Promise<T>, takeBrief?: TakeBrief) => Promise<T>;
  /** Gives back whether the log holds a call that failed for good. */
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
  const { service, world, warn } = command;
  const notKept = (thrown: unknown) => warn(`this call is not in the history: ${messageOf(thrown)}`);
  const notWhole = (thrown: unknown) => warn(`this call is not kept whole: ${messageOf(thrown)}`);
  const opened = await openLog(command).catch(notKept);
  const log = opened && guard(opened, notKept);
  const archive = await openArchive(command);
  const keepers = [log, archive].filter((each) => each !== undefined);
  const hide = secretHider(service.apiKey ?? undefined);
  const { baseUrl, isElsewhere, context, wire } = service;
  const facts: CommandFacts = {
    ...{ command: hide(await describeCommand(command.argv)), pid: world.pid, baseUrl },
    ...(context !== undefined && !isElsewhere && { context }),
    ...(Object.keys(wire).length > 0 && { wire }),
  };
  let hasFailed = false;
  return {
    keep: async (caller, act, takeBrief) => {
      const calls = keepers.map((keeper) => makeHarmless(recordCall(keeper, facts, hide, world.now), notWhole));
      const observe = (event: CallEvent) => {
        caller.observe(event);
        for (const call of calls) call.observe(event);
      };
      try {
        const answer = await act({ ...caller, observe });
        for (const call of calls) call.succeed(answer.data, takeBrief);
        return answer;
      } catch (thrown) {
        hasFailed = true;
        for (const call of calls) call.fail(thrown);
        throw thrown;
      }
    },
    close: async (exitCode) => {
      const isKept = await log?.close(exitCode);
      await archive?.close(exitCode);
      return hasFailed && isKept === true;
    },
  };
}

async function openArchive({ options: { record }, world, warn }: LoggedCommand) {
  if (record === undefined) return undefined;
  const { openHarFile } = await import('./har.ts');
  return guard(await openHarFile(record, world.version, world), (thrown) => warn(messageOf(thrown)));
}

async function openLog(command: LoggedCommand): Promise<Keeper | undefined> {
  return isLogOff(command) ? undefined : keepInLog(findLog(await command.dataDirectory()), command.world);
}

/** Whether calls are not remembered: by a variable, a flag, the settings, or since a recording answers. */
export function isLogOff({ options, world }: Pick<LoggedCommand, 'options' | 'world'>): boolean {
  if (options.noHistory || options.replay !== undefined || readEnv(world.env, 'SOTRA_HISTORY') === '0') return true;
  return openStore(configDirectory(world)).read().history === false;
}

/** Keeps how a command ended that failed beside its calls, for `sotra why`; gives back whether it did. */
export async function keepCommandFailure(
  command: Omit<LoggedCommand, 'service' | 'warn'>,
  { code, exitCode, message, hint }: Pick<SotraError, 'code' | 'exitCode' | 'message' | 'hint'>,
): Promise<boolean> {
  try {
    if (isLogOff(command)) return false;
    const hide = secretHider(undefined);
    const typed = hide(await describeCommand(command.argv));
    const failed = { atMs: command.world.now(), command: typed, exitCode, code, message: shorten(message, hide) };
    const more = hint === undefined ? {} : { hint: shorten(hint, hide) };
    keepFailedCommand(findLog(await command.dataDirectory()), { ...failed, ...more });
    return true;
  } catch {
    // What is remembered of a command decides nothing.
    return false;
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

/** Where it fails, that is said once, and the calls go on without it; `close` gives back whether it did not. */
function guard({ maxBodyBytes, begin, close }: Keeper, tell: (thrown: unknown) => void) {
  let isBroken = false;
  const attempt = async <T>(act: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return isBroken ? undefined : await act();
    } catch (thrown) {
      if (!isBroken) tell(thrown);
      isBroken = true;
      return undefined;
    }
  };
  return {
    maxBodyBytes,
    begin: (entry: LogEntry) => {
      const end = attempt(() => begin(entry));
      return async (part: EntryPart) => attempt(async () => (await end)?.(part));
    },
    close: async (exitCode: number | undefined) => {
      await attempt(() => close(exitCode));
      return !isBroken;
    },
  };
}

interface RecordedCall {
  observe: (event: CallEvent) => void;
  succeed: (data: unknown, takeBrief: TakeBrief) => void;
  fail: (thrown: unknown) => void;
}

/** What watches a call never decides its outcome: where it fails, that is said, and the rest of the call is not kept. */
function makeHarmless({ observe, succeed, fail }: RecordedCall, tell: (thrown: unknown) => void): RecordedCall {
  let isBroken = false;
  const attempt = (act: () => void) => {
    try {
      if (!isBroken) act();
    } catch (thrown) {
      isBroken = true;
      tell(thrown);
    }
  };
  return {
    observe: (event) => attempt(() => observe(event)),
    succeed: (data, takeBrief) => attempt(() => succeed(data, takeBrief)),
    fail: (thrown) => attempt(() => fail(thrown)),
  };
}

/** Hands each attempt of one call to a keeper. */
function recordCall(
  { begin, maxBodyBytes }: Pick<Keeper, 'begin' | 'maxBodyBytes'>,
  facts: CommandFacts,
  hide: (text: string) => string,
  now: () => number,
): RecordedCall {
  const rules = { hide, maxBodyBytes };
  let sent: { entry: LogEntry; end: (part: EntryPart) => void; part: EntryPart } | undefined;
  let why: string | undefined;
  const settle = (more: EntryPart['_sotra'] = {}) => {
    if (sent === undefined) return;
    const { end, part } = sent;
    sent = undefined;
    end({ ...part, _sotra: { ...part._sotra, ...more } });
  };
  return {
    observe: (event: CallEvent) => {
      if (event.kind === 'request') {
        settle();
        const entry = startEntry({ ...event, startedMs: now(), why }, facts, rules);
        sent = { entry, end: begin(entry), part: {} };
      } else if (event.kind === 'wait') {
        why = event.why;
        settle({ error: shorten(why, hide) });
      } else if (sent !== undefined) sent.part = addAnswer(sent.entry, event, rules);
    },
    succeed: (data: unknown, takeBrief: TakeBrief) => {
      const isCut = sent?.part.response?.content._cut !== undefined;
      settle(isCut && takeBrief !== undefined ? { brief: readBrief(data, takeBrief, rules) } : {});
    },
    fail: (thrown: unknown) => {
      const { code, message, hint } = toSotraError(thrown);
      settle({ errorCode: code, error: shorten(message, hide), ...(hint && { hint: shorten(hint, hide) }) });
    },
  };
}

/** `undefined` where the answer has another shape, or where even this is too long. */
function readBrief(
  data: unknown,
  takeBrief: NonNullable<TakeBrief>,
  { hide, maxBodyBytes }: Pick<Keeper, 'maxBodyBytes'> & { hide: (text: string) => string },
): unknown {
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
