import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  type Auth,
  type Authenticator,
  AuthorizationError,
  ConnectionError,
  connect,
  credsAuthenticator,
  type MsgHdrs,
  type NatsConnection,
  NoRespondersError,
  headers as natsHeaders,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  type TlsOptions,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { isLoopback } from '../../api/http-address.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { decodeText, readSmallFile } from '../../lib/files/source.ts';
import type { NatsAddress } from './address.ts';

export type { MsgHdrs };

export interface ServerLink {
  connection: NatsConnection;
  failure: () => Error | undefined;
}

/** A server that answers nothing for two of these is left for another, before its deliveries go to another forwarder. */
const pingMs = 1000;
const connectMs = 3000;
const reconnectMs = 250;

/**
 * Connects to one of the servers, and to another when that one is gone; the credentials are read again each time, so that a renewed file
 * needs no restart. Errors: `network`; `config` for credentials.
 */
export async function openConnection(
  { servers, tls, name }: NatsAddress,
  credsFile: string | undefined,
): Promise<ServerLink> {
  // The client hands all of it on to Node.
  const tlsOptions: TlsOptions & Pick<ConnectionOptions, 'checkServerIdentity'> = {
    checkServerIdentity: identityCheck(servers),
  };
  const auth = credsFile === undefined ? {} : { authenticator: makeAuthenticator(credsFile, { servers, tls }) };
  try {
    const connection = await connect({
      servers: [...servers],
      name: `sotra ${name}`,
      ...(tls && { tls: tlsOptions }),
      ...auth,
      timeout: connectMs,
      pingInterval: pingMs,
      maxPingOut: 2,
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectMs,
      ignoreAuthErrorAbort: true,
    });
    requireVersion(connection);
    return { connection, failure: watchFailure(connection) };
  } catch (cause) {
    throw natsError(cause, name, servers);
  }
}

/** The first version whose streams and consumers promise what an inbox does. */
const minVersion = '2.11';

function requireVersion(connection: NatsConnection): void {
  const { version = 'unknown' } = connection.info ?? {};
  if (/^\d/.test(version) && version.localeCompare(minVersion, 'en', { numeric: true }) >= 0) return;
  void connection.close();
  throw new SotraError('config', `nats-server ${version} is too old for an inbox: ${minVersion} or later is needed`, {
    hint: 'Update the servers of the cluster one after the other.',
  });
}

/** The client does not say the address of a server that is named by it, and Node would look for localhost in the certificate. */
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

/** Why the servers are not reached at the moment, where they said so. */
function watchFailure(connection: NatsConnection): () => Error | undefined {
  let failure: Error | undefined;
  const watch = async (): Promise<void> => {
    for await (const status of connection.status()) {
      if (status.type === 'error') failure = status.error;
      if (status.type === 'reconnect') failure = undefined;
    }
  };
  watch().catch(() => undefined);
  return () => failure;
}

/** Reads the file again for each connection; what was read before is for one that is being replaced. */
function makeAuthenticator(file: string, place: Pick<NatsAddress, 'servers' | 'tls'>): Authenticator {
  const read = () => {
    const credentials = readCredentials(file);
    requireEncryption(credentials, place);
    return credentials;
  };
  let credentials = read();
  return (nonce) => {
    try {
      credentials = read();
    } catch {
      // An error here would end the connection forever.
    }
    return makeAuth(credentials, nonce);
  };
}

/** Refuses to send a password or token in the clear; credentials of nsc only sign. Errors: `insecure-url`. */
function requireEncryption(credentials: Credentials, { servers, tls }: Pick<NatsAddress, 'servers' | 'tls'>): void {
  const other = servers.find((server) => !isLoopback(server.replace(/:\d+$/, '')));
  if (tls || other === undefined || 'creds' in credentials) return;
  throw new SotraError('insecure-url', `--inbox nats://${other}: would send the password of the inbox in the clear`, {
    hint: 'Use tls://; nats:// with a password is for loopback only.',
  });
}

/** What the client sends of them; `nonce`: what the server asks to be signed. */
function makeAuth(credentials: Credentials, nonce: string | undefined): Auth {
  if ('creds' in credentials) return credsAuthenticator(credentials.creds)(nonce);
  if ('token' in credentials) return { auth_token: credentials.token };
  return { user: credentials.user, pass: credentials.password };
}

/** Who a connection is for: the text of a credentials file as `nsc` writes it, or what stands in lines `user:`, `password:` and `token:`. */
type Credentials = { creds: Uint8Array } | { user: string; password: string } | { token: string };

/** Reads a credentials file. Errors: `config` naming the file and what it lacks, never what it holds. */
function readCredentials(file: string): Credentials {
  const refuse = (why: string, hint: string, cause?: unknown) =>
    new SotraError('config', `the credentials of the inbox, ${file}: ${why}`, { hint, cause });
  let bytes: Buffer;
  try {
    bytes = readSmallFile(file);
  } catch (cause) {
    const hint = 'Name the file with --inbox-creds or SOTRA_NATS_CREDS.';
    throw refuse(readMessage(cause), hint, cause);
  }
  if (bytes.includes('-----BEGIN')) return { creds: bytes };
  const hint = 'Write two lines, user: <name> and password: <password>, or one, token: <token>; or nsc generate creds.';
  const values = new Map<string, string>();
  for (const [index, line] of decodeText(bytes, file).split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const [, name = '', text = ''] = /^\s*(user|password|token)\s*:(.*)$/.exec(line) ?? [];
    const value = text.trim();
    if (name === '') throw refuse(`line ${index + 1} is not a user:, password: or token: line`, hint);
    if (value === '' || values.has(name))
      throw refuse(`line ${index + 1}: ${name}: ${value === '' ? 'is empty' : 'is given twice'}`, hint);
    values.set(name, value);
  }
  const [user, password, token] = ['user', 'password', 'token'].map((name) => values.get(name));
  if (token !== undefined && values.size === 1) return { token };
  if (token !== undefined) throw refuse('holds a token beside a user or a password', hint);
  if (user !== undefined && password !== undefined) return { user, password };
  throw refuse(values.size === 0 ? 'is empty' : user === undefined ? 'holds no user' : 'holds no password', hint);
}

export function newHeaders(values: Readonly<Record<string, string>>): MsgHdrs {
  const made = natsHeaders();
  for (const [name, value] of Object.entries(values)) made.set(name, value);
  return made;
}

/** What is thrown where a server says nothing. */
export function silence(): Error {
  return new TimeoutError();
}

/** Whether nobody at all listens where something was sent. */
export function hasNoResponder(thrown: unknown): boolean {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  return cause instanceof RequestError && cause.isNoResponders();
}

/** What a call to the servers failed with, as one of our errors; `undefined` for one that says nothing about the connection. */
export function connectionError(thrown: unknown): SotraError | undefined {
  const chain: Error[] = [];
  for (let each = thrown; each instanceof Error; each = each.cause) chain.push(each);
  for (const cause of chain) {
    if (cause instanceof PermissionViolationError)
      return new SotraError(
        'config',
        `the credentials of the inbox lack the permission to ${describePermission(cause)}`,
        {
          hint: 'sotra help scaling lists the subjects that a user needs.',
          cause,
        },
      );
    if (cause instanceof UserAuthenticationExpiredError)
      return new SotraError('config', 'the credentials of the inbox have expired', {
        hint: 'Replace the file that --inbox-creds or SOTRA_NATS_CREDS names: it is read again.',
        cause,
      });
    if (cause instanceof AuthorizationError)
      return new SotraError('config', 'the servers of the inbox refuse the credentials', {
        hint: 'Name a credentials file that is valid with --inbox-creds or SOTRA_NATS_CREDS.',
        cause,
      });
  }
  const isLate = (each: Error) => [TimeoutError, NoRespondersError, RequestError].some((kind) => each instanceof kind);
  if (!chain.some(isLate)) return undefined;
  return new SotraError('network', 'the servers of the inbox did not answer in time', {
    hint: 'Look at the servers: most of the replicas must run and reach each other.',
    cause: thrown,
  });
}

function describePermission({ operation, subject }: PermissionViolationError): string {
  return `${operation === 'publish' ? 'publish to' : 'subscribe to'} ${subject}`;
}

function natsError(thrown: unknown, name: string, servers: readonly string[]): SotraError {
  if (thrown instanceof SotraError) return thrown;
  const known =
    thrown instanceof ConnectionError || thrown instanceof TimeoutError ? undefined : connectionError(thrown);
  if (known !== undefined) return known;
  return new SotraError(
    'network',
    `cannot connect to the inbox ${name} at ${servers.join(', ')}: ${readMessage(thrown)}`,
    {
      hint: 'Check host and port; nats-server must run there with JetStream (-js), and a certificate authority of your own is trusted with NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
      cause: thrown,
    },
  );
}
