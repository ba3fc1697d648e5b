import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './harness.ts';
import { freePorts } from './processes.ts';

/** How to get it, where it is missing. */
export const natsInstall =
  'no nats-server 2.11 or later: scripts/nats-server.sh brings one, or SOTRA_NATS_SERVER names one';

/** The program that `scripts/nats-server.sh` brought, that a variable names, or that is in the path; `undefined` for an older one. */
export function findNats(): string | undefined {
  const named = process.env['SOTRA_NATS_SERVER'];
  for (const program of [named ?? 'node_modules/.cache/nats-server/usr/sbin/nats-server', 'nats-server'])
    try {
      const [, major, minor] = /v(\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
      if (Number(major) > 2 || Number(minor) >= 11) return program;
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

export interface Cluster {
  servers: NatsServer[];
  /** Cuts a server off from the others, with what is on its way, until the function that it gives is called. */
  cutOff: (server: NatsServer) => () => void;
  end: () => Promise<void>;
}

/** Servers of one cluster on loopback with JetStream; their files are removed at the end. `more`: lines of configuration. */
export async function startCluster(count: number, more = ''): Promise<Cluster> {
  const program = findNats();
  if (program === undefined) throw new Error(natsInstall);
  const folder = mkdtempSync(join(tmpdir(), 'sotra-nats-'));
  const [ports, routes] = [await freePorts(count), await freePorts(count)];
  const network = startNetwork(routes);
  const servers = await Promise.all(
    ports.map(async (port, index): Promise<NatsServer> => {
      const file = join(folder, `${index}.conf`);
      const others = await network.routesOf(index);
      // Nobody reaches it by the address that it tells.
      const cluster = `cluster { name: test, listen: "127.0.0.1:${routes[index]}", advertise: "127.0.0.1:1", routes: [${others}] }`;
      const store = `jetstream { store_dir: "${join(folder, `data-${index}`)}", max_file_store: 20GB }`;
      const lines = [`server_name: n${index}`, `listen: "127.0.0.1:${port}"`, store, count > 1 ? cluster : '', more];
      writeFileSync(file, `${lines.join('\n')}\n`);
      const run = () => spawn(program, ['-c', file, '-l', join(folder, `${index}.log`)], { stdio: 'ignore' });
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
    }),
  );
  const end = async () => {
    for (const server of servers) await server.end();
    network.end();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const { port } of servers) await untilOpen(port);
  return { servers, cutOff: (server) => network.cutOff(servers.indexOf(server)), end };
}

/** What the servers of a cluster reach each other through: a port for each pair, so that one can be cut off. */
function startNetwork(routes: readonly number[]) {
  const [cut, sockets, proxies] = [new Set<number>(), new Map<Socket, number[]>(), new Set<Server>()];
  const isCut = (ends: readonly number[]) => ends.some((end) => cut.has(end));
  const apply = () => {
    for (const [socket, ends] of sockets)
      if (isCut(ends)) socket.pause();
      else socket.resume();
  };
  const open = async (from: number, to: number): Promise<number> => {
    const proxy = createServer((near) => {
      const far = connect(routes[to] ?? 0, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.set(socket, [from, to]);
        socket.on('data', (bytes) => void other.write(bytes));
        socket.on('error', () => socket.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      }
      apply();
    });
    proxies.add(proxy);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return (proxy.address() as AddressInfo).port;
  };
  return {
    routesOf: async (from: number): Promise<string> => {
      const others = routes.map((_, to) => to).filter((to) => to !== from);
      const own = await Promise.all(others.map((to) => open(from, to)));
      return own.map((port) => `nats://127.0.0.1:${port}`).join(', ');
    },
    cutOff: (server: number) => {
      cut.add(server);
      apply();
      return () => {
        cut.delete(server);
        // What was on its way is lost.
        for (const [socket, ends] of sockets) if (ends.includes(server)) socket.destroy();
      };
    },
    end: () => {
      for (const [socket] of sockets) socket.destroy();
      for (const proxy of proxies) proxy.close();
    },
  };
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
