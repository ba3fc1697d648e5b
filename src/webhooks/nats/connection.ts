import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import {
  type Authenticator,
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  type TlsOptions,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { isLoopback } from '../../api/http-address.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { readStateBytes } from '../../lib/files/durable-file.ts';
import { decodeText } from '../../lib/files/source.ts';
import type { NatsAddress } from '../inbox.ts';

const connectMs = 3000;
/** A server that misses two pings is left for another one, before its deliveries go to another forwarder. */
const pingMs = 1000;
const reconnectMs = 250;
/** The first version whose streams and consumers promise what an inbox needs. */
const minVersion = '2.11';

/**
 * Connects to one of the servers, and to another when that one is gone. Errors: `network`; `config` for credentials and for servers that are too
 * old; `insecure-url` for a password that would go unencrypted to another machine.
 */
export async function openConnection(
  { servers, tls, name }: NatsAddress,
  credsFile: string | undefined,
): Promise<NatsConnection> {
  // The client passes all of it on to Node.
  const tlsOptions: TlsOptions & Pick<ConnectionOptions, 'checkServerIdentity'> = {
    checkServerIdentity: identityCheck(servers),
  };
  const authenticator = credsFile === undefined ? undefined : makeAuthenticator(credsFile, { servers, tls });
  const connection = await connect({
    servers: [...servers],
    name: `sotra ${name}`,
    timeout: connectMs,
    pingInterval: pingMs,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectMs,
    ignoreAuthErrorAbort: true,
    ...(tls && { tls: tlsOptions }),
    ...(authenticator && { authenticator }),
  }).catch((cause: unknown) => {
    const message = `cannot connect to the inbox ${name} at ${servers.join(', ')}: ${readMessage(cause)}`;
    const hint =
      'Check host and port; nats-server must run there with JetStream (-js), and a certificate authority of your own is trusted with NODE_EXTRA_CA_CERTS=/path/to/ca.pem.';
    throw setupError(cause, name) ?? new SotraError('network', message, { hint, cause });
  });
  const { version = 'unknown' } = connection.info ?? {};
  if (/^\d/.test(version) && version.localeCompare(minVersion, 'en', { numeric: true }) >= 0) return connection;
  await connection.close();
  throw new SotraError('config', `nats-server ${version} is too old for an inbox: ${minVersion} or later is needed`, {
    hint: 'Update the servers of the cluster one after the other.',
  });
}

/** The client does not pass on the address of a server that is named by it, and Node would look for localhost in the certificate. */
function identityCheck(servers: readonly string[]) {
  const hosts = servers.map((server) => server.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  return (host: string, certificate: PeerCertificate): Error | undefined => {
    if (host !== 'localhost' || hosts.includes(host) || addresses.length === 0)
      return checkServerIdentity(host, certificate);
    const failures = addresses.map((address) => checkServerIdentity(address, certificate));
    return failures.includes(undefined) ? undefined : failures[0];
  };
}

/** Reads the file again for each connection, so that a renewed one needs no restart. */
function makeAuthenticator(file: string, place: Pick<NatsAddress, 'servers' | 'tls'>): Authenticator {
  let authenticator = readCredentials(file, place);
  return (nonce) => {
    try {
      authenticator = readCredentials(file, place);
    } catch {
      // An error here would end the connection forever.
    }
    return authenticator(nonce);
  };
}

/** Reads a file as `nsc` writes it, or with lines `user:` and `password:`. Errors: `config` naming the file and what it lacks, never a value. */
function readCredentials(file: string, { servers, tls }: Pick<NatsAddress, 'servers' | 'tls'>): Authenticator {
  const refuse = (why: string, hint: string, cause?: unknown) =>
    new SotraError('config', `the credentials of the inbox, ${file}: ${why}`, { hint, cause });
  let bytes: Buffer;
  try {
    bytes = readStateBytes(file);
  } catch (cause) {
    throw refuse(readMessage(cause), 'Name the file with --inbox-creds or SOTRA_NATS_CREDS.', cause);
  }
  // These only sign: the key is never sent.
  if (bytes.includes('-----BEGIN')) return credsAuthenticator(bytes);
  const text = decodeText(bytes, file);
  const [user, pass] = ['user', 'password'].map(
    (key) => new RegExp(`^[ \\t]*${key}:[ \\t]*(\\S.*?)[ \\t\\r]*$`, 'm').exec(text)?.[1],
  );
  if (user === undefined || pass === undefined)
    throw refuse(
      'has no user with a password',
      'Write two lines, user: <name> and password: <password>; or nsc generate creds.',
    );
  const other = servers.find((server) => !isLoopback(server.replace(/:\d+$/, '')));
  if (!tls && other !== undefined)
    throw new SotraError('insecure-url', `--inbox nats://${other}: would send the password of the inbox in the clear`, {
      hint: 'Use tls://; nats:// with a password is for loopback only.',
    });
  return () => ({ user, pass });
}

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
  const lasting = setupError(thrown, stream);
  if (lasting !== undefined) return lasting;
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
function setupError(thrown: unknown, stream: string): SotraError | undefined {
  if (thrown instanceof SotraError) return thrown;
  const config = (message: string, hint: string) => new SotraError('config', message, { hint, cause: thrown });
  const denied = causesOf(thrown).find((each) => each instanceof PermissionViolationError);
  if (denied !== undefined)
    return config(
      `the credentials of the inbox lack the permission to ${denied.operation === 'publish' ? 'publish' : 'subscribe'} to ${denied.subject}`,
      'sotra help scaling lists the subjects that a user needs.',
    );
  if (hasCause(thrown, AuthorizationError, UserAuthenticationExpiredError))
    return config(
      'the servers of the inbox refuse the credentials, or they have expired',
      'Correct the file of --inbox-creds: it is read again.',
    );
  if (isApiError(thrown, 'noAccount'))
    return config('the servers of the inbox have no JetStream for this account', 'Enable JetStream: -js.');
  if (isApiError(thrown, 'noCluster'))
    return config(`a single server cannot hold several replicas of the stream ${stream}`, 'Add --replicas 1.');
  if (isApiError(thrown, 'noSpace') || isStreamFull(thrown) || /insufficient/.test(readMessage(thrown)))
    return config(
      `the inbox ${stream} is full: ${readMessage(thrown)}`,
      'Allow it more bytes, or keep events for less long; until then deliveries are refused with 503.',
    );
  if (isApiError(thrown, 'streamGone', 'consumerGone'))
    return config(
      `the stream ${stream} of the inbox, or a consumer of it, was deleted on the servers`,
      'Start the command again: webhook listen makes a new stream.',
    );
  return undefined;
}

/** An error and its causes. */
function causesOf(thrown: unknown): Error[] {
  return thrown instanceof Error ? [thrown, ...causesOf(thrown.cause)] : [];
}

function hasCause(thrown: unknown, ...kinds: readonly (new (...args: never[]) => Error)[]): boolean {
  return causesOf(thrown).some((each) => kinds.some((kind) => each instanceof kind));
}
