import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { openPort } from './harness.ts';

/** The same page by another port, as ssh forwards one; `cut` ends each connection and refuses new ones until `mend`. */
export async function forwardPort(ui: string): Promise<{ ui: string; cut: () => void; mend: () => void }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(new URL(ui).port), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  const port = await openPort(server);
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  const forwarded = new URL(ui);
  forwarded.port = String(port);
  return {
    ui: forwarded.href,
    cut,
    mend: () => {
      isCut = false;
    },
  };
}
