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
import { decodeText, readSmallFile } from '../../lib/files/source.ts';
import type { NatsAddress } from './address.ts';
import { findSetupHint, inboxError } from './errors.ts';

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
    if (findSetupHint(cause) !== undefined) throw inboxError(cause, name);
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
function makeAuthenticator(file: string, address: Pick<NatsAddress, 'servers' | 'tls'>): Authenticator {
  let authenticator = readCredentials(file, address);
  return (nonce) => {
    try {
      authenticator = readCredentials(file, address);
    } catch {
      // An error here would end the connection forever.
    }
    return authenticator(nonce);
  };
}

/** Reads a file as `nsc` writes it, or with the lines `user:` and `password:`. Errors: `config` naming the file, never a value. */
function readCredentials(file: string, { servers, tls }: Pick<NatsAddress, 'servers' | 'tls'>): Authenticator {
  const refuse = (why: string, hint: string, cause?: unknown) =>
    new SotraError('config', `the credentials of the inbox, ${file}: ${why}`, { hint, cause });
  let bytes: Buffer;
  try {
    bytes = readSmallFile(file);
  } catch (cause) {
    throw refuse(readMessage(cause), 'Name the file with --inbox-creds or SOTRA_NATS_CREDS.', cause);
  }
  // These only sign: the key is never sent.
  if (bytes.includes('-----BEGIN')) return credsAuthenticator(bytes);
  const text = decodeText(bytes, file);
  const [user, pass] = [/^user:\s*(.*\S)\s*$/m, /^password:\s*(.*\S)\s*$/m].map((line) => line.exec(text)?.[1]);
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
