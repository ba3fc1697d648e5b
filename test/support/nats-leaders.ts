import { setTimeout as delay } from 'node:timers/promises';
import { openConnection } from '../../src/inbox/nats/connection.ts';
import { openStreams } from '../../src/inbox/nats/streams.ts';

const everyMs = 100;
/** A leader that is there answers within this, also where two cores do everything. */
const answerMs = 1500;

/**
 * Asks each server again and again for the streams, which only their leaders answer. `withoutMs`: for how long within a span one of them had
 * no leader that any server knew.
 */
export async function watchLeaders(servers: readonly string[], streams: readonly string[]) {
  const links = await Promise.all(
    servers.map((server) => openConnection({ servers: [server], tls: false, name: 'watch' }, undefined)),
  );
  const spans: { fromMs: number; toMs: number }[] = [];
  const hasLeaders = async (link: (typeof links)[number]) => {
    for (const state of await Promise.all(streams.map(openStreams(link).state)))
      if (state === undefined) throw new Error('a stream is not there');
    return true;
  };
  let isOver = false;
  const watching = (async () => {
    let isLed = true;
    while (!isOver) {
      const fromMs = Date.now();
      const answered = Promise.any(links.map(hasLeaders)).catch(() => false);
      const wasLed = isLed;
      isLed = await Promise.race([answered, delay(answerMs, false)]);
      const last = spans.at(-1);
      if (!isLed && wasLed) spans.push({ fromMs, toMs: Number.POSITIVE_INFINITY });
      else if (isLed && !wasLed && last !== undefined) last.toMs = fromMs;
      await delay(everyMs);
    }
  })();
  return {
    withoutMs: (fromMs: number, toMs: number): number =>
      spans.reduce((sum, span) => sum + Math.max(0, Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs)), 0),
    end: async () => {
      isOver = true;
      await watching;
      for (const { connection } of links) await connection.close();
    },
  };
}
