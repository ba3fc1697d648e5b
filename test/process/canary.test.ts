import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Outcome, run, type Script } from '../support/harness.ts';
import {
  type CanaryWorld,
  canaryWorld,
  echoScripts,
  holdersUnder,
  namedSecret,
  type Secret,
  secretsIn,
  webhookSecret,
} from '../support/hostile/canaries.ts';
import { forgottenFlags, type Leak, runLine, strayIn, treeLines, ways } from '../support/hostile/canary-commands.ts';
import { scripts } from '../support/hostile/faults.ts';
import { signed } from '../support/listening.ts';
import { connect } from '../support/mcp-client.ts';
import { outlines } from '../support/outlines.ts';
import { long, size, some } from '../support/size.ts';
import { until } from '../support/until.ts';

test('no command, in any way of printing and against any echo, shows a secret or writes it down', async () => {
  expect(forgottenFlags()).toEqual([]);
  const world = await canaryWorld();
  const lines = treeLines();
  const leaks: Leak[] = [];
  const shown = new Set<string>();
  const loudest = '--verbose';
  const once = async (line: (typeof lines)[number], way: string) => {
    const ran = await runLine(line, way, world);
    leaks.push(...ran.leaks);
    for (const secret of ran.shown) shown.add(`${line.command}: ${secret}`);
    expect([line.argv, way, ran.code]).not.toEqual([line.argv, way, 1]);
  };
  const echoes = Object.values(echoScripts);
  // These print a secret when asked to, and are always among the lines.
  const isTried = ({ command }: { command: string }, index: number) =>
    index % size(12, 1) === 0 || ['request', 'webhook list'].includes(command);
  for (const [index, line] of lines.entries()) {
    if (line.isSlow || !isTried(line, index)) continue;
    world.answerAs(world.healthy);
    // One way a line, in turn; each with each is for the proof.
    await once(line, ways[index % ways.length] ?? '');
    await once(line, loudest);
    world.answerAs(echoes[index % echoes.length] ?? world.healthy);
    await once(line, loudest);
  }
  expect(leaks).toEqual([]);
  // The canary sings where it is asked to: what finds nothing would find nothing anywhere.
  expect([...shown].sort()).toEqual(
    expect.arrayContaining(['request: webhook secret', 'webhook list: webhook secret']),
  );
  expect(strayIn(world)).toEqual([]);
  expect(holdersUnder(world.outputs).map(({ file }) => file)).toContain('config/config.json');
});

/** CANARY_FAULTS: only those whose name holds this. */
const wanted = process.env['CANARY_FAULTS'] ?? '';
/** CANARY_WAYS: only the ways of printing that hold this. */
const chosen = ways.filter((way) => way.includes(process.env['CANARY_WAYS'] ?? ''));
/** Of the ways and faults of a line every ninth pair, so that each line still meets every way, and every fault twice; CANARY_STEP=1: all. */
const step = Number(process.env['CANARY_STEP'] ?? 9);

long('every line of every command, in every way of printing, against every fault and echo', async () => {
  const world = await canaryWorld();
  const leaks: Leak[] = [];
  const ours: string[] = [];
  const codes: Record<number, number> = {};
  const faults = Object.entries({ healthy: world.healthy, ...echoScripts, ...scripts });
  const lines = treeLines();
  const started = performance.now();
  let cells = 0;
  for (const [at, line] of lines.entries()) {
    // A line that sends nothing is the same against every fault.
    let sends = true;
    for (const [row, [fault, script]] of faults.entries()) {
      if (!sends || (line.isSlow && fault !== 'healthy' && !fault.startsWith('echo 4'))) continue;
      if (fault !== 'healthy' && !fault.includes(wanted)) continue;
      world.answerAs(script);
      const before = world.service.requests.length;
      for (const [column, way] of (line.isSlow ? chosen.slice(0, 2) : chosen).entries()) {
        if ((at + row + column) % step !== 0 && fault !== 'healthy') continue;
        const ran = await runLine(line, way, world, fault);
        cells += 1;
        codes[ran.code] = (codes[ran.code] ?? 0) + 1;
        if (ran.code === 1) ours.push(`${line.argv} ${way} (${fault}): ${ran.err.slice(0, 300)}`);
        leaks.push(...ran.leaks.map((leak) => ({ ...leak, argv: `${leak.argv} (${fault})` })));
      }
      sends &&= fault !== 'healthy' || world.service.requests.length > before;
    }
  }
  const stray = strayIn(world);
  const product = { lines: lines.length, ways: chosen.length, faults: faults.length, cells };
  const seconds = Math.round((performance.now() - started) / 1000);
  const figures = { ...product, seconds, codes, leaks: leaks.length, ours: ours.length, stray: stray.length };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  for (const { argv, holds, where } of leaks) process.stdout.write(`${argv}: ${holds.join(', ')} in ${where}\n`);
  for (const each of ours) process.stdout.write(`${each}\n`);
  expect({ leaks: leaks.slice(0, 20), ours: ours.slice(0, 20), stray }).toEqual({ leaks: [], ours: [], stray: [] });
});

test('every command is among the lines', async () => {
  const commands = outlines.map(({ words }) => words.join(' '));
  expect([...new Set(treeLines().map(({ command }) => command))].sort()).toEqual(commands.sort());
});

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const swap = { chain: 'base', transactionHash: `0x${'ab'.repeat(32)}`, tokenAddress: wallet, commentText: 'gm' };

const calls: readonly [name: string, input: Record<string, unknown>][] = [
  ['leaderboard_list', {}],
  ['profile_get', { identifier: wallet }],
  ['webhook_list', {}],
  ['webhook_register', { destinationUrl: 'http://127.0.0.1:9/new', walletAddresses: ['ext:user-9'] }],
  ['follow_add', { addressOrUid: 'ext:1', targets: [wallet] }],
  ['comment_sign', swap],
  ['comment_post', swap],
  ['verify_webhook', { header: 't=1,v1=x', body: `{"secret":"${namedSecret}"}` }],
];

test('no answer of a tool holds a secret, nor what is said beside it, whatever the service answers', {
  timeout: 120_000,
}, async () => {
  const world = await canaryWorld();
  let said = '';
  const { client, close } = await connect(
    `mcp --verbose --retries 0 --allow-writes --allow-signing --key evm --password-file ${world.input('password')} --secret-file ${world.input('hook.secret')}`,
    {
      env: world.env,
      skipWaits: true,
      onErr: (text) => {
        said += text;
      },
      client: { capabilities: { elicitation: {} } },
      prepare: (made) =>
        made.setRequestHandler('elicitation/create', async ({ params }) => {
          said += params.message;
          return { action: 'accept', content: { confirm: true } };
        }),
    },
  );
  said += JSON.stringify(await client.listTools());
  for (const script of [world.healthy, ...some(Object.values(echoScripts), 2)]) {
    world.answerAs(script);
    for (const [name, input] of calls) {
      const answer = JSON.stringify(await client.callTool({ name, arguments: input }).catch(({ message }) => message));
      expect([name, input, secretsIn(answer), answer]).toEqual([name, input, [], expect.any(String)]);
    }
  }
  const { out } = await close();
  expect(secretsIn(said)).toEqual([]);
  for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
  expect(strayIn(world)).toEqual([]);
});

/** Ways of printing what comes live. */
const liveWays: readonly string[] = ['', '--json', '--verbose', '--verbose --json', '--format csv', '--quiet'];

/** What a command that goes on until it is stopped showed, and where a secret turned up. */
interface Live extends Outcome {
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

/**
 * A listener that gets good deliveries by both secrets, and bad ones, and sends them on to a service that answers so. Leaks are looked for in
 * what it prints, what it answers, and all that it sends on.
 */
async function listenOnce(
  way: string,
  script: Script,
  world: CanaryWorld,
): Promise<Live & { name: string; statuses: readonly number[] }> {
  const number = numbers.next().value;
  const ready = join(world.outputs, `ready-${number}.json`);
  const secrets = world.input('hook.secret');
  const forward = `--forward-to ${world.service.url}/hook --route copyswap=${world.service.url}/copies`;
  // A listener prints no table, and gets no answer of the service that could be shown.
  const printing = /csv/.test(way) ? '--verbose' : way;
  const argv = `webhook listen --port 0 --name l${number} --secret-file ${secrets} --ready-file ${ready} ${forward} ${printing}`;
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
    await send(`"${'x'.repeat(5 * 1024 * 1024)}"`, signed('', webhookSecret));
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

const all = { ...echoScripts, ...scripts };
const faults = [
  'healthy',
  'echo 401',
  'echo 500',
  'echo that is no JSON',
  'echo in another shape',
  'echo cut in the key',
];
// Each way of printing with another answer.
const plan = some(
  faults.map((fault, index) => [liveWays[index] ?? '--verbose', fault] as const),
  2,
);

test('webhook listen shows no secret, writes none down and sends none on, whatever arrives and whoever takes it', async () => {
  const world = await canaryWorld();
  let name = '';
  for (const [way, fault] of plan) {
    const ran = await listenOnce(way, all[fault] ?? world.healthy, world);
    expect([way, fault, ran.leaks, ran.code, ran.err]).toEqual([way, fault, [], 0, expect.any(String)]);
    expect(ran.statuses).toEqual([200, 200, 200, 401, 401, 401, 200, 413, 405]);
    name = ran.name;
  }
  for (const argv of [
    `webhook events --name ${name} --json`,
    `webhook replay --name ${name} --since 1h --to ${world.service.url}/again --verbose`,
  ]) {
    world.answerAs(echoScripts['echo 400'] ?? world.healthy);
    const { out, err } = await run(argv, { env: world.env, skipWaits: true });
    expect([argv, secretsIn(out + err), out + err]).toEqual([argv, [], expect.stringContaining('copyswap')]);
  }
  expect(strayIn(world)).toEqual([]);
});

test('the secret itself in the place of its file is not repeated', async () => {
  const secret = 'whsec_Y2FuYXJ5LWhvb2stc2VjcmV0LTA4MTU';
  for (const argv of [
    `webhook listen --port 0 --secret-file ${secret}`,
    `webhook verify --header t=1,v1=x --secret-file ${secret}`,
    `webhook trigger new-feed-item --sandbox --to http://127.0.0.1:9 --secret-file=${secret}`,
    `webhook listen --port 0 --secret-file /dev/null --forward-to ${secret}`,
  ]) {
    const { code, err } = await run(`${argv} --json`, { stdin: '{}' });
    expect([argv, code > 0, err.includes('Y2FuYXJ5')]).toEqual([argv, true, false]);
  }
});

long('the password in an address that deliveries are sent on to is not shown', async () => {
  const world = await canaryWorld();
  const to = `${world.service.url.replace('//', '//me:hunter2@')}/hook`;
  for (const script of [scripts['reset before answer'], echoScripts['echo 400']]) {
    const ran = await listenOnce(`--verbose --forward-to ${to}`, script ?? world.healthy, world);
    expect([ran.code, ran.out + ran.err]).toEqual([0, expect.not.stringContaining('hunter2')]);
    expect(ran.err).toContain('//***@127.0.0.1');
  }
  for (const more of [`--forward-to ${to}`, `--route x=ftp://me:hunter2@host/`]) {
    const argv = `webhook listen --port 0 --secret-file ${world.input('hook.secret')} --forward-to ${to} ${more}`;
    const { code, err } = await run(argv, { env: world.env });
    expect([argv, code, err.includes('***@'), err.includes('hunter2')]).toEqual([argv, 2, true, false]);
  }
});
