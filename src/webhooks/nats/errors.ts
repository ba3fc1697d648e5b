import { JetStreamApiCodes, JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
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
  streamFull: 10_047,
  noSpace: 10_023,
  noAccount: 10_039,
  noPeers: 10_005,
  noCluster: 10_074,
  consumerGone: JetStreamApiCodes.ConsumerNotFound,
  streamGone: JetStreamApiCodes.StreamNotFound,
} as const;

export function isApiError(thrown: unknown, ...names: readonly (keyof typeof apiCodes)[]): boolean {
  return thrown instanceof JetStreamApiError && names.some((name) => apiCodes[name] === thrown.code);
}

/** The servers say that a stream is full by the number of a subject that has its message. */
export function isStreamFull(thrown: unknown): boolean {
  return isApiError(thrown, 'streamFull') || /maximum bytes/.test(readMessage(thrown));
}

/** The status of a message in place of an answer, such as 404. */
export function readStatus(thrown: unknown): unknown {
  return thrown instanceof JetStreamError && 'code' in thrown ? thrown.code : undefined;
}

/** Whether an error may be gone the next time. */
export function isOutage(thrown: unknown): boolean {
  return inboxError(thrown, '').code === 'network';
}

/** What a call to the servers failed with, as one of our errors: `network` or `config`, naming what to change. */
export function inboxError(thrown: unknown, stream: string): SotraError {
  if (thrown instanceof SotraError) return thrown;
  const chain: Error[] = [];
  for (let each = thrown; each instanceof Error; each = each.cause) chain.push(each);
  const config = (message: string, hint: string) => new SotraError('config', message, { hint, cause: thrown });
  const text = readMessage(thrown);
  for (const each of chain)
    if (each instanceof PermissionViolationError) {
      const deed = each.operation === 'publish' ? 'publish' : 'subscribe';
      return config(
        `the credentials of the inbox lack the permission to ${deed} to ${each.subject}`,
        'sotra help scaling lists the subjects that a user needs.',
      );
    }
  const named = 'that --inbox-creds or SOTRA_NATS_CREDS names';
  if (chain.some((each) => each instanceof UserAuthenticationExpiredError))
    return config('the credentials of the inbox have expired', `Replace the file ${named}: it is read again.`);
  if (chain.some((each) => each instanceof AuthorizationError))
    return config('the servers of the inbox refuse the credentials', `Correct the file ${named}.`);
  if (isApiError(thrown, 'noAccount'))
    return config(
      'the servers of the inbox have no JetStream for this account',
      'Start nats-server with -js, or enable JetStream for the account.',
    );
  if (isApiError(thrown, 'noCluster'))
    return config(`a single server cannot hold several replicas of the stream ${stream}`, 'Add --replicas 1.');
  if (isApiError(thrown, 'noSpace') || /insufficient/.test(text))
    return config(
      `the servers of the inbox have no room for the stream ${stream}: ${text}`,
      'Raise max_file_store of JetStream, or free some disk space; until then deliveries are refused with 503.',
    );
  if (isStreamFull(thrown))
    return config(
      `the inbox ${stream} is full: ${text}`,
      'Allow it more bytes, or keep events for less long; until then deliveries are refused with 503.',
    );
  if (isApiError(thrown, 'streamGone', 'consumerGone'))
    return config(
      `the stream ${stream} of the inbox, or a consumer of it, was deleted on the servers`,
      'Start the command again: webhook listen makes a new stream.',
    );
  const isLate = (each: Error) => [TimeoutError, NoRespondersError, RequestError].some((kind) => each instanceof kind);
  const isUnready = isApiError(thrown, 'noPeers') || (thrown instanceof JetStreamApiError && thrown.status >= 500);
  if (chain.some(isLate) || isUnready || readStatus(thrown) === 503)
    return new SotraError('network', 'the servers of the inbox did not answer in time', {
      hint: 'Look at the servers: most of the replicas must run and reach each other.',
      cause: thrown,
    });
  return config(`cannot use the inbox ${stream}: ${text}`, 'Look at the log of nats-server.');
}
