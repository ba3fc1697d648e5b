import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import {
  AuthorizationError,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { readMessage, SotraError } from '../../errors.ts';

/** Errors of the API. Source: server/errors.json of nats-server. */
const apiCodes = {
  subjectTaken: 10_077,
  idInProcess: 10_158,
  consumerExists: 10_148,
  consumerGone: 10_014,
  streamGone: 10_059,
  streamFull: 10_047,
  noSpace: 10_023,
  noAccount: 10_039,
  noCluster: 10_074,
  noPeers: 10_005,
} as const;

export function isApiError(thrown: unknown, ...names: readonly (keyof typeof apiCodes)[]): boolean {
  return thrown instanceof JetStreamApiError && names.some((name) => apiCodes[name] === thrown.code);
}

/** The servers also say that a stream is full by the number of a subject that has its message. */
export function isStreamFull(thrown: unknown): boolean {
  return isApiError(thrown, 'streamFull') || /maximum bytes/.test(readMessage(thrown));
}

/** The status of a message that is no answer, such as 404. */
export function readStatus(thrown: unknown): unknown {
  return thrown instanceof JetStreamError && 'code' in thrown ? thrown.code : undefined;
}

/** Whether a call that failed may succeed the next time. */
export function isOutage(thrown: unknown): boolean {
  return inboxError(thrown, '').code === 'network';
}

/** What a call to the servers failed with, as one of our errors: `network` or `config`, naming what to change. */
export function inboxError(thrown: unknown, stream: string): SotraError {
  const known = setupError(thrown, stream);
  if (known !== undefined) return known;
  const isUnready = isApiError(thrown, 'noPeers') || (thrown instanceof JetStreamApiError && thrown.status >= 500);
  const isUnanswered = hasCause(thrown, TimeoutError, NoRespondersError, RequestError);
  if (isUnanswered || isUnready || readStatus(thrown) === 503)
    return new SotraError('network', 'the servers of the inbox did not answer in time', {
      hint: 'Check the servers: most of the replicas must run and reach each other.',
      cause: thrown,
    });
  return new SotraError('config', `cannot use the inbox ${stream}: ${readMessage(thrown)}`, {
    hint: 'Check the log of nats-server.',
    cause: thrown,
  });
}

/** The error of a failure that lasts until credentials, servers or stream are changed: `config`; `undefined` for any other. */
export function setupError(thrown: unknown, stream: string): SotraError | undefined {
  if (thrown instanceof SotraError) return thrown;
  const [message, hint] = describeSetup(thrown, stream) ?? [];
  return message === undefined ? undefined : new SotraError('config', message, { hint, cause: thrown });
}

function describeSetup(thrown: unknown, stream: string): [message: string, hint: string] | undefined {
  const denied = causesOf(thrown).find((each) => each instanceof PermissionViolationError);
  if (denied !== undefined)
    return [
      `the credentials of the inbox lack the permission to ${denied.operation} to ${denied.subject}`,
      'sotra help scaling lists the subjects that a user needs.',
    ];
  if (hasCause(thrown, UserAuthenticationExpiredError))
    return ['the credentials of the inbox have expired', 'Replace the file: it is read again.'];
  if (hasCause(thrown, AuthorizationError))
    return ['the servers of the inbox refuse the credentials', 'Correct the file of --inbox-creds.'];
  if (isApiError(thrown, 'noAccount'))
    return ['the servers of the inbox have no JetStream for this account', 'Enable JetStream: -js.'];
  if (isApiError(thrown, 'noCluster'))
    return [`a single server cannot hold several replicas of the stream ${stream}`, 'Add --replicas 1.'];
  if (isApiError(thrown, 'noSpace') || isStreamFull(thrown) || /insufficient/.test(readMessage(thrown)))
    return [
      `the inbox ${stream} is full: ${readMessage(thrown)}`,
      'Allow it more bytes, or keep events for less long; until then deliveries are refused with 503.',
    ];
  if (isApiError(thrown, 'streamGone', 'consumerGone'))
    return [
      `the stream ${stream} of the inbox, or a consumer of it, was deleted on the servers`,
      'Start the command again: webhook listen makes a new stream.',
    ];
  return undefined;
}

/** An error and its causes. */
function causesOf(thrown: unknown): Error[] {
  return thrown instanceof Error ? [thrown, ...causesOf(thrown.cause)] : [];
}

function hasCause(thrown: unknown, ...kinds: readonly (new (...args: never[]) => Error)[]): boolean {
  return causesOf(thrown).some((each) => kinds.some((kind) => each instanceof kind));
}
