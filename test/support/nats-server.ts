import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

/** How to get it, where it is missing. */
export const natsInstall = 'nats-server is not installed: apt-get install nats-server, or https://nats.io/download';

/** Whether `nats-server` is in the path; Debian puts it where users do not look. */
export function findNats(): string | undefined {
  for (const name of ['nats-server', '/usr/sbin/nats-server'])
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return name;
    } catch {
      // The next one.
    }
  return undefined;
}

export interface NatsServer {
  child: ChildProcess;
  port: number;
  /** Starts it again with its files, after it was killed. */
  start: () => Promise<void>;
  end: () => Promise<void>;
}

/** Servers of one cluster on loopback with JetStream; their files are removed at the end. `more`: lines of configuration. */
export async function startCluster(
  count: number,
  more = '',
): Promise<{ servers: NatsServer[]; folder: string; end: () => Promise<void> }> {
  const program = findNats();
  if (program === undefined) throw new Error(natsInstall);
  const folder = mkdtempSync(join(tmpdir(), 'sotra-nats-'));
  const [ports, routes] = [await freePorts(count), await freePorts(count)];
  const others = routes.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const servers = ports.map((port, index): NatsServer => {
    const file = join(folder, `${index}.conf`);
    const cluster =
      count === 1 ? '' : `cluster { name: test, listen: "127.0.0.1:${routes[index]}", routes: [${others}] }`;
    const store = `jetstream { store_dir: "${join(folder, `data-${index}`)}", max_file_store: 20GB }`;
    writeFileSync(file, `server_name: n${index}\nlisten: "127.0.0.1:${port}"\n${store}\n${cluster}\n${more}\n`);
    const log = join(folder, `${index}.log`);
    const run = () => spawn(program, ['-c', file, '-l', log], { stdio: 'ignore' });
    const server: NatsServer = {
      child: run(),
      port,
      start: async () => {
        server.child = run();
        await untilOpen(port);
      },
      end: async () => {
        if (server.child.exitCode !== null || server.child.signalCode !== null) return;
        const ended = new Promise((resolve) => server.child.once('exit', resolve));
        server.child.kill('SIGKILL');
        await ended;
      },
    };
    return server;
  });
  const end = async () => {
    for (const server of servers) await server.end();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const { port } of servers) await untilOpen(port);
  return { servers, folder, end };
}

async function untilOpen(port: number): Promise<void> {
  let isOpen = false;
  const attempt = () => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      isOpen = true;
      socket.destroy();
    });
    socket.once('error', () => {
      socket.destroy();
      setTimeout(attempt, 20);
    });
  };
  attempt();
  await until(() => isOpen, `nats-server on port ${port}`);
}
