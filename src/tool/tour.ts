import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, defineCommand, option, type Result } from '../cli/command.ts';
import { wrapProse } from '../cli/help.ts';
import type { Context } from '../context.ts';
import { createFile, makeFolder } from '../files/durable-file.ts';
import { mayAsk, showPlan } from '../output/confirm.ts';
import type { World } from '../world.ts';
import { runShown, showLine, typedLine } from './shown-line.ts';

const tour = defineCommand({
  words: ['tour'],
  summary: 'Two minutes in the sandbox: a trade, a comment, a webhook',
  description:
    'Each command is shown before it runs. On a terminal Enter runs it, s skips it and q ends the tour; elsewhere, and with --yes, all of them run.\n' +
    'Everything is in a folder of its own, which is removed at the end. Your settings and your sandbox are not touched.',
  params: { keep: option.flag('keep the folder: its key, comment, webhook and deliveries') },
  examples: [
    { argv: 'tour', says: 'step by step' },
    { argv: 'tour --yes --keep', says: 'without questions, and with what it made to look at' },
  ],
  uses: ['sandbox', 'changes'],
  exitCodes: [3, 9, 130],
  run: async ({ keep = false }, context) =>
    context.options.dryRun ? showPlan(plannedSteps()) : runTour(keep, context),
});

export const commands: readonly Command[] = [tour];

const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

/** What later steps need of earlier ones, and where things are. */
interface Facts {
  folder: string;
  port: string;
  address?: string;
  transactionHash?: string;
  uid?: string;
}

interface Step {
  says: string;
  /** Nothing where it needs something of a step that was skipped. */
  argv: (facts: Facts) => readonly string[] | '' | undefined;
  /** What it prints. */
  gives?: 'address' | 'transactionHash' | 'uid';
  listens?: true;
}

const inSandbox = (...words: string[]) => ['--sandbox', ...words];
const passwordFlags = ({ folder }: Facts) => ['--password-file', join(folder, 'password')];
const secretFlags = ({ folder }: Facts) => ['--secret-file', join(folder, 'hook.secret')];

const steps: readonly Step[] = [
  {
    says: 'A comment is signed with the private key of a wallet. This makes one, sealed with a password, and prints its address.',
    argv: (facts) => ['key', 'generate', 'tour', ...passwordFlags(facts), '--jq', '.address'],
    gives: 'address',
  },
  {
    says: 'The wallet buys 10,000 DEGEN on Base; the sandbox records the trade, and prints its hash.',
    argv: ({ address }) =>
      address && [
        ...['sandbox', 'trade', '--chain', 'base', '--trader', address, '--token', token],
        ...['--side', 'buy', '--amount', '10000', '--usd', '41', '--jq', '.transactionHash'],
      ],
    gives: 'transactionHash',
  },
  {
    says: 'A webhook sends what the wallet does to an address of yours. The service tells its secret once: it goes to a file. Printed is the webhook.',
    argv: (facts) =>
      facts.address && [
        ...inSandbox('webhook', 'register', '--url', `http://127.0.0.1:${facts.port}/hook`),
        ...['--wallet-addresses', facts.address, ...secretFlags(facts), '--jq', '.uid'],
      ],
    gives: 'uid',
  },
  {
    says: 'This receives deliveries, checks their signatures and stores them. It keeps running during the next steps.',
    argv: (facts) => facts.uid && ['webhook', 'listen', '--port', facts.port, ...secretFlags(facts)],
    listens: true,
  },
  {
    says: 'The comment: signed by the wallet over the trade, the token and the text, checked, and posted.',
    argv: (facts) =>
      facts.transactionHash && [
        ...inSandbox('comment', 'post', '--chain', 'base', '--tx', facts.transactionHash, '--token', token),
        ...['--text', 'My first comment', '--key', 'tour', ...passwordFlags(facts), '--yes'],
      ],
  },
  {
    says: 'The sandbox sends the event of that comment to the webhook, as a service would.',
    argv: ({ uid, transactionHash }) =>
      uid && transactionHash && ['webhook', 'trigger', 'comment-created', '--sandbox'],
  },
  {
    says: 'What the wallet holds.',
    argv: ({ address }) => address && inSandbox('profile', 'positions', address, 'open'),
  },
];

function plannedSteps() {
  const facts = { address: '<address>', transactionHash: '<hash>', uid: '<uid>' };
  const lines = steps.map(({ argv }) => typedLine(argv({ folder: '<folder>', port: '<port>', ...facts }) || []));
  return lines.map((what) => ({ action: 'run', what, detail: null }));
}

interface StepRun {
  command: string;
  exitCode: number;
}

async function runTour(keep: boolean, context: Context): Promise<Result> {
  const { options, dataDirectory } = context;
  const parent = keep ? await dataDirectory() : tmpdir();
  makeFolder(parent);
  const folder = mkdtempSync(join(parent, 'sotra-tour-'));
  const stop = new AbortController();
  const listening: Promise<unknown>[] = [];
  try {
    createFile(join(folder, 'password'), `${randomBytes(12).toString('base64url')}\n`);
    await say('A tour of the sandbox, offline. Nothing of it stays, unless you ask to --keep it.', context);
    const ran = await runSteps(folder, { context, stop: stop.signal, listening });
    stop.abort();
    await Promise.all(listening);
    const failed = ran.find(({ exitCode }) => exitCode !== 0);
    const end = keep ? `Kept in ${folder}: set SOTRA_CONFIG_DIR and SOTRA_DATA_DIR to it.` : 'All of it is removed.';
    if (failed === undefined) await say(`\n${end} Next: sotra init, for a service of your own.`, context);
    const exitCode = failed?.exitCode ?? 0;
    if (options.format !== 'json') return { kind: 'none', exitCode };
    return { kind: 'answer', answer: { commands: ran, folder: keep ? folder : null }, exitCode };
  } finally {
    stop.abort();
    await Promise.allSettled(listening);
    if (!keep) rmSync(folder, { recursive: true, force: true });
  }
}

interface TourOptions {
  context: Context;
  stop: AbortSignal;
  listening: Promise<unknown>[];
}

/** Runs the steps until one fails or the user ends the tour. */
async function runSteps(folder: string, { context, stop, listening }: TourOptions): Promise<StepRun[]> {
  const facts: Facts = { folder, port: String(await freePort()) };
  const place = worldIn(folder, context.world);
  const ran: StepRun[] = [];
  for (const { says, argv, gives, listens } of steps) {
    const line = argv(facts);
    if (!line) continue;
    await say(`\n${says}`, context);
    await showLine(line, context, listens && ' &');
    const answer = await askNext(context);
    if (answer === 'quit') break;
    if (answer === 'skip') continue;
    const signal = AbortSignal.any([place.signal, stop]);
    const { code, printed } = listens
      ? await startListening(line, folder, { ...place, signal }, { context, listening })
      : await runShown(line, context, place);
    ran.push({ command: typedLine(line), exitCode: code });
    if (code !== 0) break;
    if (gives !== undefined) facts[gives] = printed.trim();
  }
  return ran;
}

async function startListening(
  line: readonly string[],
  folder: string,
  place: World,
  { context, listening }: Pick<TourOptions, 'context' | 'listening'>,
): Promise<{ code: number; printed: string }> {
  const readyFile = join(folder, 'listening.json');
  const ended = runShown([...line, '--ready-file', readyFile], context, place);
  listening.push(ended);
  let isEnding = false;
  const ready = async () => {
    while (!isEnding && !existsSync(readyFile)) await place.sleep(10, place.signal);
    return { code: 0, printed: '' };
  };
  const first = await Promise.race([ended, ready()]);
  isEnding = true;
  return first;
}

async function say(text: string, { world: { io }, options }: Context): Promise<void> {
  if (options.format === 'json') return;
  await io.out.write(`${wrapProse(text, Math.max(20, Math.min(100, io.out.width))).join('\n')}\n`);
}

async function askNext(context: Context): Promise<'run' | 'skip' | 'quit'> {
  if (!mayAsk(context) || context.options.yes) return 'run';
  const question = 'Enter runs it, s skips it, q ends the tour: ';
  const answer = (await context.world.io.ask(question, { hidden: false })).trim().toLowerCase();
  return answer.startsWith('s') ? 'skip' : answer.startsWith('q') ? 'quit' : 'run';
}

/** A world whose settings and data are in the folder, and that knows of no service. */
function worldIn(folder: string, world: World): World {
  const { SOTRA_API_KEY: _, SOTRA_BASE_URL: __, SOTRA_CONTEXT: ___, ...env } = world.env;
  const { out, err, ask } = world.io;
  const io = { out, err, ask, in: emptyInput() };
  return { ...world, io, env: { ...env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder } };
}

/** A port that nothing listened on just now, below those that systems give to whoever asks for any. */
async function freePort(): Promise<number> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(randomInt(15_000, 32_000), '127.0.0.1');
  try {
    await listening;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw thrown;
    return freePort();
  }
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function* emptyInput(): AsyncGenerator<Uint8Array> {}
