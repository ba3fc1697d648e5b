import { randomFrom } from '../random.ts';
import { type Answer, answerOf, type IncomingRequest, pathOf } from './answer.ts';
import type { Fault } from './fault-text.ts';

/** An answer of which half is sent before the connection is closed, or nothing. */
export type FaultyAnswer = Answer & { cut?: 'half' | 'all' };

/**
 * Makes the faults happen: the first that is due for a request. A status is answered without the request being processed (429 and 503 ask
 * to come back in a second); a delayed request is processed after the delay, also when the asker has gone; a dropped one is by turns not
 * processed and processed before the connection is closed; a truncated or garbled one is processed.
 */
export function withFaults(faults: readonly Fault[], sleep: (ms: number) => Promise<void>) {
  const random = randomFrom('faults');
  const counts = new Map<Fault, number>();
  const isDue = (fault: Fault): boolean => {
    const count = (counts.get(fault) ?? 0) + 1;
    counts.set(fault, count);
    if (fault.when.kind === 'p') return random.chance(fault.when.share);
    return fault.when.kind === 'every' ? count % fault.when.count === 0 : count <= fault.when.count;
  };
  let drops = 0;
  return async (request: IncomingRequest, answer: () => Promise<Answer>): Promise<FaultyAnswer> => {
    const path = pathOf(request.target);
    const meant = faults.filter((fault) => ['*', request.method].includes(fault.method) && fault.path.test(path));
    const fault = meant.filter(isDue)[0];
    switch (fault?.does.kind) {
      case undefined:
        return answer();
      case 'status':
        return refuse(fault.does.status);
      case 'delay':
        await sleep(fault.does.ms);
        return answer();
      case 'drop':
        drops += 1;
        return { ...(drops % 2 === 0 ? await answer() : refuse(0)), cut: 'all' };
      case 'truncate':
        return { ...(await answer()), cut: 'half' };
      case 'garbage':
        return { ...(await answer()), text: '\u0000<!garbage\u001b[2J{"' };
    }
  };
}

function refuse(status: number): Answer {
  const headers: Record<string, string> = status === 429 || status === 503 ? { 'retry-after': '1' } : {};
  return answerOf(status, JSON.stringify({ error: `fault of the sandbox: ${status}` }), headers);
}
