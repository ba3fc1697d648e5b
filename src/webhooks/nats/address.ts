import { usageError } from '../../errors.ts';
import { written } from '../../lib/files/text-file.ts';

/** Where a distributed inbox is: servers of one cluster, and its name there. */
export interface NatsAddress {
  /** `host:port` each. */
  servers: readonly string[];
  tls: boolean;
  /** The name of its stream. */
  name: string;
}

const example = 'nats://127.0.0.1:4222/INBOX, or several servers of a cluster: tls://a:4222,b:4222,c:4222/INBOX';
const defaultPort = 4222;

/** Reads `nats://host:4222,host:4222/NAME` or `tls://...`. Errors: `usage` naming the part that is wrong; a password in it is not repeated. */
export function readNatsAddress(text: string): NatsAddress {
  const refuse = (why: string) =>
    usageError(`--inbox ${/@/.test(text) ? '(hidden)' : written(text)}: ${why}`, `Such as ${example}.`);
  const [, scheme, hosts, path] = /^([a-z+]+):\/\/([^/]*)(?:\/(.*))?$/i.exec(text) ?? [];
  if (scheme === undefined || hosts === undefined) throw refuse('is not an address');
  if (scheme !== 'nats' && scheme !== 'tls') throw refuse(`${scheme}: must be nats or tls`);
  if (hosts.includes('@'))
    throw usageError(
      '--inbox: holds a user or a password, which other users on this machine could read',
      'Write two lines, user: <name> and password: <password>, to a file, and name it with --inbox-creds or SOTRA_NATS_CREDS.',
    );
  if (path === undefined || path === '') throw refuse('has no name of an inbox after the servers');
  if (!/^[\w-]{1,48}$/.test(path)) throw refuse('the name must be letters, digits, - and _, 48 at most');
  const servers = hosts.split(',').map((each) => {
    const [, host, port] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d+))?$/i.exec(each) ?? [];
    if (host === undefined) throw refuse(each === '' ? 'names no server' : `${each} is not a server`);
    const number = Number(port ?? defaultPort);
    if (number < 1 || number > 65_535) throw refuse(`${each}: a port is from 1 to 65535`);
    return `${host}:${number}`;
  });
  return { servers, tls: scheme === 'tls', name: path };
}
