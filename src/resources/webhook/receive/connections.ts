import type { Duplex } from 'node:stream';

/** Deliveries come over a few; the rest are of senders who keep us waiting. */
const maxConnections = 256;

export interface Connections {
  add: (socket: Duplex) => void;
  /** Keeps the connection of a signed delivery open while the work runs, and counts it as the newest then. */
  keep: <Result>(socket: Duplex, work: () => Promise<Result>) => Promise<Result>;
}

/**
 * The open connections of a server, bounded: a new one closes the one that has been open for the longest without a signed delivery, so that
 * those which only wait cannot keep others out.
 */
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
