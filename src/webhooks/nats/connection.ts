import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type TlsOptions,
} from '@nats-io/transport-node';
import { isLoopback } from '../../api/http-address.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { readStateBytes } from '../../lib/files/durable-file.ts';
import { decodeText } from '../../lib/files/source.ts';
import type { NatsAddress } from './address.ts';
import { setupError } from './errors.ts';

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
  let connection: NatsConnection;
  try {
    connection = await connect({
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
    });
  } catch (cause) {
    const known = setupError(cause, name);
    if (known !== undefined) throw known;
    throw new SotraError(
      'network',
      `cannot connect to the inbox ${name} at ${servers.join(', ')}: ${readMessage(cause)}`,
      {
        hint: 'Check host and port; nats-server must run there with JetStream (-js), and a certificate authority of your own is trusted with NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
        cause,
      },
    );
  }
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

/**
 * Reads a file as `nsc` writes it, or with lines `user:`, `password:` and `token:`. Errors: `config` naming the file and what it lacks, never a
 * value.
 */
function readCredentials(file: string, place: Pick<NatsAddress, 'servers' | 'tls'>): Authenticator {
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
  const hint = 'Write two lines, user: <name> and password: <password>, or one, token: <token>; or nsc generate creds.';
  const lines = decodeText(bytes, file).split(/\r?\n/);
  const values: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    const [, key, value] = /^\s*(user|password|token)\s*:\s*(.*\S)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined || key in values)
      throw refuse(`line ${index + 1} must be user:, password: or token: with a value, each once`, hint);
    values[key] = value;
  }
  const { user, password, token } = values;
  if ((token === undefined) === (user === undefined || password === undefined) || Object.keys(values).length === 3)
    throw refuse('has neither a user with a password nor a token', hint);
  const other = place.servers.find((server) => !isLoopback(server.replace(/:\d+$/, '')));
  if (!place.tls && other !== undefined)
    throw new SotraError('insecure-url', `--inbox nats://${other}: would send the password of the inbox in the clear`, {
      hint: 'Use tls://; nats:// with a password is for loopback only.',
    });
  return () => (token === undefined ? { user: user ?? '', pass: password ?? '' } : { auth_token: token });
}
