import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namedSecret, type Secret, secretsIn, webhookSecret } from './canaries.ts';
import type { CanaryWorld } from './canary-world.ts';
import { type Outcome, run, type Script } from './harness.ts';
import { until } from './until.ts';

/** Ways of printing what comes live. */
export const liveWays: readonly string[] = [
  '',
  '--json',
  '--verbose',
  '--verbose --json',
  '--format csv',
  '--quiet',
  '--include --verbose --trace-file @@',
  '--plain --ascii',
];

/** What a command that goes on until it is stopped showed, and where a secret turned up. */
export interface Live extends Outcome {
  leaks: { where: string; holds: Secret[]; text: string }[];
}

const numbers = (function* () {
  for (let number = 1; ; number += 1) yield number;
})();

/** Ends a command once what is waited for is there, or it ended by itself. */
async function runUntil(argv: string, world: CanaryWorld, live: (isOver: () => boolean) => Promise<void>) {
  const stopping = new AbortController();
  let isOver = false;
  const ended = run(argv, { env: world.env, signal: stopping.signal, maxAnswerBytes: 1024 ** 2 }).finally(() => {
    isOver = true;
  });
  await live(() => isOver);
  stopping.abort();
  return ended;
}

function leaksOf(texts: Readonly<Record<string, string>>): Live['leaks'] {
  return Object.entries(texts)
    .map(([where, text]) => ({ where, holds: secretsIn(text), text: text.slice(0, 600) }))
    .filter(({ holds }) => holds.length > 0);
}

/** Signed in the way of the service, by one of the secrets of `hook.secret`. */
function signed(body: string, by: string): Record<string, string> {
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac('sha256', by).update(`${t}.${body}`).digest('base64url');
  return { 'Daylight-Signature': `t=${t},v1=${v1}`, 'content-type': 'application/json' };
}

/**
 * A listener that gets good deliveries by both secrets, and bad ones, and sends them on to a service that answers so. Leaks are looked for in
 * what it prints, what it answers, and all that it sends on.
 */
export async function listenOnce(
  way: string,
  script: Script,
  world: CanaryWorld,
): Promise<Live & { name: string; statuses: readonly number[] }> {
  const number = numbers.next().value;
  const ready = join(world.outputs, `ready-${number}.json`);
  const secrets = world.input('hook.secret');
  const forward = `--forward-to ${world.service.url}/hook --route copyswap=${world.service.url}/copies`;
  // A listener prints no table, and gets no answer of the service that could be shown.
  const printing = /csv|--include/.test(way) ? '--verbose' : way;
  const argv = `webhook listen --port 0 --name l${number} --secret-file ${secrets} --ready-file ${ready} ${forward} ${printing} --max-delivery 2048`;
  const before = world.service.requests.length;
  const answers: string[] = [];
  const statuses: number[] = [];
  world.answerAs(script);
  const { out, err, code } = await runUntil(argv, world, async (isOver) => {
    await until(() => isOver() || existsSync(ready));
    if (isOver()) return;
    const { url } = JSON.parse(readFileSync(ready, 'utf8'));
    const send = async (body: string, headers: Record<string, string>, method = 'POST') => {
      const answer = await fetch(`${url}/in?x=1`, { method, headers, ...(method === 'POST' && { body }) });
      answers.push(JSON.stringify([...answer.headers]) + (await answer.text()));
      statuses.push(answer.status);
    };
    const eventOf = (id: string, eventType: string) => JSON.stringify({ events: [{ eventId: id, eventType }] });
    const good = [eventOf('one', 'new-feed-item'), eventOf('two', 'copyswap')] as const;
    await send(good[0], signed(good[0], webhookSecret));
    await send(good[1], signed(good[1], namedSecret));
    await send(good[0], signed(good[0], webhookSecret));
    await send(good[0], {});
    await send(good[0], signed(good[0], 'another secret'));
    await send(good[0], { 'Daylight-Signature': 'v1' });
    await send('not JSON', signed('not JSON', webhookSecret));
    await send(`"${'x'.repeat(5000)}"`, signed('', webhookSecret));
    await send('', {}, 'GET');
    await until(() => isOver() || world.service.requests.length >= before + 3);
  });
  const sent = JSON.stringify(
    world.service.requests.slice(before).map(({ url, headers, body }) => [url, headers, body]),
  );
  return {
    out,
    err,
    code,
    name: `l${number}`,
    statuses,
    leaks: leaksOf({ stdout: out, stderr: err, answers: answers.join('\n'), forwarded: sent }),
  };
}
