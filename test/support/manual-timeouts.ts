import type { StartTimer } from '../../src/http/deadline.ts';
import { createTransport } from '../../src/http/transport.ts';
import type { Transport } from '../../src/world.ts';
import type { Seen } from './harness.ts';

export interface ManualTimeouts {
  /** Real sockets, whose timeouts come when the service has gone silent and not before: a busy machine changes nothing. */
  transport: Transport;
  /** The service has gone silent to this request; the one who asked gives up once so many signs of life were seen. */
  goneSilent: (seen: Seen, signs: number) => void;
}

interface Wait {
  signs: number;
  enough: number;
  giveUp: () => void;
}

const mark = 'x-exchange';

/** A transport whose timeouts come when they are told to, not by a clock. */
export async function createManualTimeouts(): Promise<ManualTimeouts> {
  const waits: Wait[] = [];
  const look = (wait: Wait) => {
    if (wait.signs >= wait.enough) wait.giveUp();
  };
  const startTimer: StartTimer = (giveUp) => {
    const wait: Wait = { signs: 0, enough: Number.POSITIVE_INFINITY, giveUp };
    waits.push(wait);
    const refresh = () => {
      wait.signs += 1;
      look(wait);
    };
    const clear = () => {
      wait.enough = Number.POSITIVE_INFINITY;
    };
    return { refresh, clear };
  };
  const transport = await createTransport({ now: Date.now, node: process.versions.node, env: {}, startTimer });
  return {
    transport: {
      ...transport,
      // Its wait begins at once: the next one has this number.
      send: (request, limits) =>
        transport.send({ ...request, headers: { ...request.headers, [mark]: String(waits.length) } }, limits),
    },
    goneSilent: ({ headers }, signs) => {
      const wait = waits[Number(headers[mark])];
      if (wait === undefined) return;
      wait.enough = signs;
      look(wait);
    },
  };
}
