import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Deliveries need a few; the others only wait. */
const maxConnections = 256;

export interface Connections {
  add: (socket: Duplex) => void;
  /** Keeps the connection of a signed delivery open while the work runs, and counts it as the newest then. */
  keep: <Result>(socket: Duplex, work: () => Promise<Result>) => Promise<Result>;
}

/** Bounds the open connections: a new one closes the one that has been open for the longest without a signed delivery. */
export function boundConnections(): Connections {
  // Oldest first.
  const open = new Set<Duplex>();
  const kept = new Map<Duplex, number>();
  return {
    add: (socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      if (open.size <= maxConnections) return;
      for (const oldest of open)
        if (!kept.has(oldest)) {
          oldest.destroy();
          return;
        }
    },
    keep: async (socket, work) => {
      kept.set(socket, (kept.get(socket) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = (kept.get(socket) ?? 1) - 1;
        if (left > 0) kept.set(socket, left);
        else kept.delete(socket);
        if (open.delete(socket)) open.add(socket);
      }
    },
  };
}

/** Resolves when so many bytes of work may be done. */
export type TakeTurn = (bytes: number) => Promise<void>;

/** Allows some bytes of work in each turn of the event loop; the rest waits in line, so that no connection stops the others. */
export function shareTurns(maxBytes: number): TakeTurn {
  const waiting: { bytes: number; go: () => void }[] = [];
  let spent = 0;
  const turn = () => {
    spent = 0;
    while (spent < maxBytes) {
      const next = waiting.shift();
      if (next === undefined) break;
      spent += next.bytes;
      next.go();
    }
    if (spent > 0) setImmediate(turn);
  };
  return (bytes) =>
    new Promise((go) => {
      if (spent === 0) setImmediate(turn);
      if (spent >= maxBytes || waiting.length > 0) waiting.push({ bytes, go });
      else {
        spent += bytes;
        go();
      }
    });
}

/** What is parsed at once: the 64 KB of one read may hold thousands of requests or chunks. */
const sliceBytes = 8 * 1024;

/** A connection whose input comes in slices, each in its turn. */
export function sliced(socket: Socket, takeTurn: TakeTurn): Duplex {
  let resume = () => {};
  const stream = new Duplex({
    read: () => resume(),
    write: (chunk, _, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  const pump = async () => {
    for await (const chunk of socket)
      for (let at = 0; at < chunk.length; at += sliceBytes) {
        await takeTurn(sliceBytes);
        if (stream.destroyed) return;
        const wanted = new Promise<void>((resolve) => {
          resume = resolve;
        });
        if (!stream.push(chunk.subarray(at, at + sliceBytes))) await wanted;
      }
    stream.push(null);
  };
  pump().catch(() => stream.destroy());
  return stream;
}
