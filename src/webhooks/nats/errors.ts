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
  return isApiError(thrown, 'streamFull', 'noSpace') || /maximum bytes/.test(readMessage(thrown));
}

/** Whether a call that failed may succeed the next time. */
export function isOutage(thrown: unknown): boolean {
  if (findSetupHint(thrown) !== undefined || thrown instanceof SotraError) return false;
  const isUnanswered = causesOf(thrown).some((cause) =>
    [TimeoutError, NoRespondersError, RequestError].some((kind) => cause instanceof kind),
  );
  const isUnready = thrown instanceof JetStreamError && 'code' in thrown && thrown.code === 503;
  const isElecting = thrown instanceof JetStreamApiError && (isApiError(thrown, 'noPeers') || thrown.status >= 500);
  return isUnanswered || isUnready || isElecting;
}

/** What a call to the servers failed with, as one of our errors: `network` or `config`, with what to change. */
export function inboxError(thrown: unknown, name: string): SotraError {
  if (thrown instanceof SotraError) return thrown;
  if (isOutage(thrown))
    return new SotraError('network', `the servers of the inbox ${name} did not answer in time`, {
      hint: 'Look at the servers: most of the replicas must run and reach each other.',
      cause: thrown,
    });
  const why = causesOf(thrown).map(readMessage).at(-1);
  return new SotraError('config', `cannot use the inbox ${name}: ${why}`, {
    hint: findSetupHint(thrown) ?? 'Look at the log of nats-server.',
    cause: thrown,
  });
}

/** What to change after a failure that lasts until credentials, servers or stream are changed; `undefined` for any other. */
export function findSetupHint(thrown: unknown): string | undefined {
  const causes = causesOf(thrown);
  if (causes.some((cause) => cause instanceof PermissionViolationError))
    return 'sotra help scaling lists the subjects that a user needs.';
  if (causes.some((cause) => cause instanceof AuthorizationError || cause instanceof UserAuthenticationExpiredError))
    return 'Correct or replace the file of --inbox-creds: it is read again at each connection.';
  if (isApiError(thrown, 'noAccount')) return 'Enable JetStream for this account: -js.';
  if (isApiError(thrown, 'noCluster')) return 'A single server holds one replica: add --replicas 1.';
  if (isApiError(thrown, 'streamGone', 'consumerGone'))
    return 'It was deleted on the servers. Start the command again: webhook listen makes a new stream.';
  if (isStreamFull(thrown)) return 'Allow the stream more bytes; until then deliveries are refused with 503.';
  return undefined;
}

/** An error and its causes. */
function causesOf(thrown: unknown): Error[] {
  return thrown instanceof Error ? [thrown, ...causesOf(thrown.cause)] : [];
}
