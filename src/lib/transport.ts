import type { Transport } from '../client/transport.ts';
import { sandboxFile } from './config/directories.ts';
import type { Service } from './config/settings.ts';
import type { Io } from './io.ts';

/** The transport to a service: the network, or the sandbox inside this process. */
export async function openTransport(io: Io, { kind, wire, serviceName, layout }: Service): Promise<Transport> {
  if (io.transport !== undefined || kind !== 'sandbox') return openNetwork(io);
  return io.openSandbox({ file: sandboxFile(io), now: io.now, wire, serviceName, layout });
}

/** The network; in a test, its replacement. */
export async function openNetwork({ transport, now, env }: Io): Promise<Transport> {
  return transport ?? (await import('../client/network.ts')).createNetwork({ now, env });
}
