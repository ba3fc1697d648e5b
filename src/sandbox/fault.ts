import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomFrom } from './demo/random.ts';
import type { Fault } from './fault-text.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

/** The two ends of a request on the socket. */
export interface Socketed {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/**
 * An application in which the faults happen: the first that is due for a request. A status is answered without the request being
 * processed (429 and 503 ask to come back in a second); a delayed request is processed after the delay, also when the asker has gone;
 * a dropped one is by turns not processed and processed before the connection is closed; a truncated or garbled one is processed.
 */
export function withFaults(
  fetch: Fetch,
  faults: readonly Fault[],
  sleep: (ms: number) => Promise<void>,
  sent: Response,
) {
  const random = randomFrom('faults');
  const counts = new Map<Fault, number>();
  const isDue = (fault: Fault): boolean => {
    const count = (counts.get(fault) ?? 0) + 1;
    counts.set(fault, count);
    if (fault.when.kind === 'p') return random.chance(fault.when.share);
    return fault.when.kind === 'every' ? count % fault.when.count === 0 : count <= fault.when.count;
  };
  let drops = 0;
  return async (request: Request, socketed: Socketed): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const meant = faults.filter(
      ({ method, path }) => (method === '*' || method === request.method) && path.test(pathname),
    );
    const fault = meant.filter(isDue)[0];
    if (fault === undefined) return fetch(request);
    switch (fault.does.kind) {
      case 'status':
        await request.arrayBuffer();
        return refuse(fault.does.status);
      case 'delay':
        await sleep(fault.does.ms);
        return fetch(request);
      case 'drop':
        drops += 1;
        if (drops % 2 === 0) await (await fetch(request)).arrayBuffer();
        else await request.arrayBuffer();
        socketed.outgoing.destroy();
        return sent;
      case 'truncate':
        return truncate(await fetch(request), socketed.outgoing, sent);
      case 'garbage':
        return garble(await fetch(request));
    }
  };
}

function refuse(status: number): Response {
  const headers: Record<string, string> = status === 429 || status === 503 ? { 'retry-after': '1' } : {};
  return Response.json({ error: `fault of the sandbox: ${status}` }, { status, headers });
}

async function truncate(answer: Response, outgoing: ServerResponse, sent: Response): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  outgoing.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': bytes.length });
  outgoing.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => outgoing.destroy());
  return sent;
}

async function garble(answer: Response): Promise<Response> {
  await answer.arrayBuffer();
  return new Response('\u0000<!garbage\u001b[2J{"', {
    status: answer.status,
    headers: { 'content-type': 'application/json' },
  });
}
