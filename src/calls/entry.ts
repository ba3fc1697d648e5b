import { z } from 'zod';
import { failureKinds } from '../client/failures.ts';

/** The first bytes of a longer body, with what it was. */
const cut = z.object({ bytes: z.number(), sha256: z.string() }).optional();
const headers = z.array(z.looseObject({ name: z.string(), value: z.string() }));

/** What we say of a call beyond HAR; secrets are hidden. */
const facts = z.object({
  v: z.literal(1),
  /** As typed, for a shell. */
  command: z.string(),
  /** Of the command: its calls are those with the same command and process. */
  pid: z.number(),
  baseUrl: z.string(),
  /** Absent where another service than that of the context was named. */
  context: z.string().optional(),
  /** Names of parameters that the deployment calls otherwise; absent where there are none. */
  wire: z.record(z.string(), z.string()).optional(),
  /** Whether a page asked, that the command serves. */
  page: z.boolean().optional(),
  attempt: z.number(),
  /** Why it was sent again, or why the call failed. */
  error: z.string().optional(),
  /** Of the call that failed; absent for an attempt that another followed. */
  errorCode: z.string().optional(),
  /** What to type next, as the error said it. */
  hint: z.string().optional(),
  /** Of a connection that failed; `code`: of the system or of TLS. */
  failure: z.object({ kind: z.enum(failureKinds), code: z.string().optional(), message: z.string() }).optional(),
  /** Of the whole command; absent while it runs, and where it was killed. */
  exitCode: z.number().optional(),
  requestId: z.string().optional(),
  /** Names of query parameters and body fields that the service said it ignored. */
  ignored: z.array(z.string()).optional(),
  /** Of an answer that is too long, the part that later commands ask for. */
  brief: z.unknown().optional(),
});

/** An attempt of a call as it is kept: an entry of HAR 1.2. Without an answer the status is 0 and `comment` says why. */
export const logEntrySchema = z.looseObject({
  startedDateTime: z.string(),
  time: z.number(),
  request: z.looseObject({
    method: z.string(),
    url: z.string(),
    headers: headers.default([]),
    postData: z.looseObject({ text: z.string().optional(), _cut: cut }).optional(),
  }),
  response: z.looseObject({
    status: z.number(),
    headers: headers.default([]),
    content: z.looseObject({ text: z.string().optional(), _cut: cut }),
  }),
  comment: z.string().optional(),
  _sotra: facts,
});

export type LogEntry = z.output<typeof logEntrySchema>;
type CallFacts = LogEntry['_sotra'];
/** What is the same for all calls of a command. */
export type CommandFacts = Pick<CallFacts, 'command' | 'pid' | 'baseUrl' | 'context' | 'wire' | 'page'>;

/** What is added to an entry after the request: its answer, or the exit code of the command. */
export type EntryPart = Partial<Pick<LogEntry, 'time' | 'response' | 'comment'>> & {
  timings?: object;
  _sotra?: Partial<CallFacts>;
};

/** Where calls are kept. What it throws is said once, and nothing more is kept there. */
export interface Keeper {
  maxBodyBytes: number;
  /** Told of a request before it is sent; the function it gives back, of how that ended. */
  begin: (entry: LogEntry) => (part: EntryPart) => void | Promise<void>;
  /** Told of the exit code of the command. */
  close: (exitCode: number | undefined) => void | Promise<void>;
}

export function extendEntry(entry: LogEntry, { _sotra, ...part }: EntryPart): LogEntry {
  return { ...entry, ...part, _sotra: { ...entry._sotra, ..._sotra } };
}

export const failedCommandSchema = z.object({
  /** Unix milliseconds. */
  atMs: z.number(),
  /** As typed, secrets hidden. */
  command: z.string(),
  exitCode: z.number(),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
});

/** A command that failed beside its calls: before it made one, or over what it was given. The last one is kept. */
export type FailedCommand = z.output<typeof failedCommandSchema>;
