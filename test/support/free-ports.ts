import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Ports of loopback that nobody used when looked at. They lie below those that systems give to outgoing connections: there, somebody who
 * asks again and again until a server listens may be given its very port, and be connected with itself.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(15_000, 32_000);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
