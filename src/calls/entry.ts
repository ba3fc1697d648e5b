import { z } from 'zod';
import { failureKinds } from '../client/failures.ts';

/** The first bytes of a longer body, with its length. */
const cut = z.object({ bytes: z.number() }).optional();
const headers = z.array(z.looseObject({ name: z.string(), value: z.string() }));

/** Our fields beside HAR; secrets are hidden. */
const facts = z.object({
  v: z.literal(1),
  id: z.string(),
  /** As typed, for a shell. */
  command: z.string(),
  pid: z.number(),
  baseUrl: z.string(),
  /** Absent if the call went to another service than the one of the context. */
  context: z.string().optional(),
  /** Names of parameters that the deployment calls otherwise. */
  wire: z.record(z.string(), z.string()).optional(),
  attempt: z.number(),
  /** Why it was sent again, or why the call failed. */
  error: z.string().optional(),
  /** Of a call that failed; absent for an attempt that another followed. */
  errorCode: z.string().optional(),
  /** The hint of the error. */
  hint: z.string().optional(),
  /** Of a call that succeeded: where the answer differs from the interface. */
  warning: z.string().optional(),
  /** Of a connection that failed; `code`: of the system or of TLS. */
  failure: z.object({ kind: z.enum(failureKinds), code: z.string().optional(), message: z.string() }).optional(),
  /** Where an answer stops being valid JSON, line and column from 1; `near`: the text there, empty at the end. */
  badJson: z.object({ line: z.number(), column: z.number(), near: z.string() }).optional(),
  requestId: z.string().optional(),
  /** Names of query parameters and body fields that the service reported as ignored. */
  ignored: z.array(z.string()).optional(),
});

/** An attempt of a call: an entry of HAR 1.2. Without an answer the status is 0 and `comment` says why. */
export const logEntrySchema = z.looseObject({
  startedDateTime: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  time: z.number(),
  request: z.looseObject({
    method: z.string(),
    url: z.string().refine((text) => URL.canParse(text)),
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
export type CallFacts = LogEntry['_sotra'];
/** The facts that all calls of a command share. */
export type CommandFacts = Pick<CallFacts, 'command' | 'pid' | 'baseUrl' | 'context' | 'wire'>;

/** A command that failed, with the call that explains it, if one does. */
export const failedCommandSchema = z.object({
  v: z.literal(1),
  /** Unix milliseconds. */
  atMs: z.number(),
  /** As typed, secrets hidden. */
  command: z.string(),
  exitCode: z.number(),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  /** Id of the call that failed. */
  call: z.string().optional(),
});

export type FailedCommand = z.output<typeof failedCommandSchema>;

/** An HTTP archive (HAR 1.2) of these entries. */
export function wrapInHar(entries: readonly LogEntry[], version: string) {
  return { log: { version: '1.2', creator: { name: 'sotra', version }, entries } };
}
