import { expect, test } from 'vitest';
import { run } from '../support/harness.ts';
import {
  type CanaryWorld,
  canaryWorld,
  echoScripts,
  evmKey,
  holdersUnder,
  namedSecret,
  type Secret,
  secretsIn,
  strayIn,
} from '../support/hostile/canaries.ts';
import { connect } from '../support/mcp-client.ts';
import { exampleStdin, globalFlags, outlines } from '../support/outlines.ts';
import { isProof, size, some } from '../support/size.ts';
import { degen, swaps } from '../support/traders.ts';

/** A command line; `@name` is a file of the user's, `@@` a new file, `!` the service's address. */
interface Line {
  command: string;
  argv: string;
  stdin?: string;
  answers?: readonly string[];
  /** It opens or makes a sealed key, which takes long on purpose. */
  isSlow?: true;
}

const swap = `--chain base --tx ${swaps.good} --token ${degen} --service-name Example --text gm`;
const onSolana = `--chain solana --tx ${swaps.solana} --token So11111111111111111111111111111111111111112 --service-name Example --text gm`;

/** Lines of the commands that handle a secret, instead of their examples. */
const own: Readonly<Record<string, readonly Omit<Line, 'command'>[]>> = {
  'comment sign': [
    { argv: `${swap} --key-file @evm.hex` },
    { argv: `${onSolana} --key-file @id.json` },
    { argv: `${onSolana} --key-env CANARY_PAIR` },
    { argv: `${onSolana} --key-env CANARY_KEY` },
    { argv: `${swap} --key-stdin --out @@`, stdin: evmKey },
    { argv: `${swap} --key-stdin`, stdin: `${evmKey}${evmKey}` },
    { argv: swap, answers: [evmKey] },
    { argv: `${swap} --key-file @evm.hex --signer ${degen}` },
    { argv: `${swap} --key evm --password-file @password`, isSlow: true },
    { argv: `${swap} --key sol --password-file @password`, isSlow: true },
    { argv: `${swap} --key evm --password-file @wrong.password`, isSlow: true },
  ],
  'comment post': [
    { argv: `${swap} --key-file @evm.hex` },
    { argv: `${swap} --key-stdin`, stdin: evmKey },
    { argv: `${onSolana} --key-env CANARY_PAIR` },
    { argv: `${swap} --key evm --password-file @password`, isSlow: true },
  ],
  'key import': [
    { argv: 'evm --replace --key-file @evm.hex --password-file @password', isSlow: true },
    { argv: 'sol --replace --key-env CANARY_PAIR --password-file @password', isSlow: true },
    { argv: 'evm --replace --key-stdin --new-password-file @password', stdin: evmKey, isSlow: true },
    { argv: 'evm --key-file @evm.hex --password-file @password' },
  ],
  'key export': [
    { argv: 'evm' },
    { argv: 'sol --out @@' },
    { argv: 'evm --password-file @password' },
    { argv: 'evm --out @@ --password-file @password', isSlow: true },
    { argv: 'sol --out @@ --password-file @wrong.password', isSlow: true },
  ],
  'key remove': [{ argv: 'evm' }],
  'auth login': [
    { argv: '--context staging --with-key', stdin: '@api.key' },
    { argv: '--context staging --with-key --offline', stdin: '@api.key' },
    { argv: '--context staging --offline', answers: ['@api.key'] },
    { argv: '--context staging --with-key', stdin: '@key.json' },
  ],
  'auth logout': [{ argv: '--context spare' }],
  'auth status': [{ argv: '' }, { argv: '--check' }, { argv: '--check --context staging' }],
  'context show': [{ argv: 'staging' }],
  'context set': [{ argv: 'staging --service-name Example' }, { argv: 'spare --base-url https://user:x@example.com' }],
  'context use': [{ argv: 'staging' }],
  'context remove': [{ argv: 'spare' }],
  'webhook register': [
    { argv: '--url http://127.0.0.1:9/kept --wallet-addresses ext:user-1' },
    { argv: '--url http://127.0.0.1:9/more --another --file @users.txt --secret-file @@' },
    { argv: '--url http://127.0.0.1:9/more --another --file -', stdin: evmKey },
  ],
  'webhook list': [{ argv: '' }, { argv: '--show-secrets' }],
  'webhook sync': [{ argv: '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --wallet-addresses ext:user-1' }],
  'webhook listen': [{ argv: '--port 0 --secret-file @hook.secret' }],
  ui: [{ argv: '--sandbox' }],
  'webhook verify': [
    { argv: '--secret-file @hook.secret --header t=1,v1=x', stdin: '{}' },
    { argv: '--secret-file @hook.secret --header t=1,v1=x --file @body.json' },
  ],
  'webhook replay': [{ argv: '--since 1h --to !/hook' }],
  'webhook trigger': [
    { argv: 'new-feed-item --sandbox --to !/hook --secret-file @hook.secret' },
    { argv: 'new-feed-item --sandbox' },
  ],
  'webhook exam': [{ argv: '!/hook --secret-file @hook.secret --junit @@' }],
  request: [
    { argv: 'GET /v1/webhooks/feed' },
    { argv: 'GET /v1/webhooks/feed --paginate' },
    { argv: 'POST /v1/webhooks/feed --data -', stdin: '{"walletAddresses":[],"destinationUrl":"http://127.0.0.1:9"}' },
  ],
  bundle: [{ argv: '--out @@ --yes' }],
  'sandbox start': [{ argv: '--port 0 --ready-file @@' }],
};

/** Every line of every command: its own, else its examples against a service. */
const lines: readonly Line[] = outlines.flatMap(({ words, examples }) => {
  const command = words.join(' ');
  const typed = examples.map(({ argv }) => (argv.split(' < ')[0] ?? '').replace(/--(dry-run|curl|json)\b/g, ''));
  const plain = typed.map((argv) => ({ argv: words[0] === 'sandbox' ? argv : argv.replace('--sandbox', '') }));
  const ofOwn = own[command]?.map((line) => ({ ...line, argv: `${command} ${line.argv}` }));
  return (ofOwn ?? plain.map((line) => ({ ...line, stdin: exampleStdin }))).map((line) => ({ ...line, command }));
});

/** Every way of printing; each global flag is here or in `otherFlags`. */
const ways: readonly string[] = [
  '',
  '--json',
  '--format table',
  '--format ndjson',
  '--format csv',
  '--format tsv',
  '--verbose',
  '--verbose --json',
  '--no-color',
  '--json --verbose --strict',
  '--format table --show-nsfw',
  '--dry-run',
  '--dry-run --json',
  '--curl',
  '--jq .',
  '--quiet --yes --no-input',
];

/** Flags that do not change the output, or are in every line. */
const otherFlags = ['context', 'sandbox', 'base-url', 'columns', 'timeout', 'retries', 'rate'];

const asJson = /--json|--format ndjson|--jq/;

/** Lines that ask for a secret on stdout. */
const asked: readonly { command: string; when: RegExp }[] = [
  // A secret is the result of these for machines, where no --secret-file takes it.
  { command: 'webhook register', when: asJson },
  { command: 'webhook sync', when: asJson },
  { command: 'webhook list', when: /--show-secrets/ },
  // The answer of any endpoint, as it came.
  { command: 'request', when: /./ },
];

/** Answers of an unknown shape, which JSON output passes through unchanged, except in commands that handle secrets. */
const foreign = ['echo in another shape', 'echo in a list'];
const knowing = ['webhook list', 'webhook register', 'webhook sync', 'webhook add-addresses'];

/** Commands that run until they are stopped. */
const endless = ['sandbox start', 'sandbox simulate', 'webhook listen', 'webhook forward', 'ui'];

let files = 0;

function maySing({ command }: Line, argv: string, answer: string): boolean {
  if (foreign.includes(answer) && asJson.test(argv) && !knowing.includes(command)) return true;
  return asked.some((each) => each.command === command && each.when.test(argv));
}

/** Runs a line one way and expects no secret that it did not ask for; returns the secrets on stdout. */
async function sing(line: Line, way: string, answer: string, world: CanaryWorld) {
  const place = (text: string) =>
    text
      .replaceAll('@@', () => `${world.outputs}/written-${files++}`)
      .replaceAll(/(?<![\w@])@([\w.-]+)/g, (_, name: string) => world.input(name))
      .replaceAll('!/', `${world.service.url}/`);
  const given = (text: string) => (text.startsWith('@') ? world.text(text.slice(1)) : text);
  const argv = place(`${line.argv} ${way} ${line.command.startsWith('sandbox') ? '' : '--retries 1'}`);
  world.answerAs(echoScripts[answer] ?? world.healthy);
  const { out, err, code } = await run(argv, {
    env: world.env,
    maxAnswerBytes: 1024 ** 2,
    stdin: given(line.stdin ?? ''),
    ...(line.answers && { answers: line.answers.map(given) }),
    ...(endless.includes(line.command) ? { signal: AbortSignal.timeout(30) } : { skipWaits: true }),
  });
  expect([argv, answer, code === 1 ? err : '']).toEqual([argv, answer, '']);
  const shown = secretsIn(out);
  const stray = maySing(line, argv, answer) ? shown.filter((each) => each !== 'webhook secret') : shown;
  expect([argv, answer, stray, secretsIn(err)]).toEqual([argv, answer, [], []]);
  return shown.map((secret: Secret) => `${line.command}: ${secret}`);
}

test('every global flag is tried, or known not to change the output', () => {
  const flags = globalFlags.map(({ flag }) => flag);
  const tried = (flag: string) => otherFlags.includes(flag) || ways.some((way) => way.includes(`--${flag}`));
  expect(flags.filter((flag) => !tried(flag))).toEqual([]);
});

test('no command prints or stores a secret, in any way of printing and whatever the service echoes', async () => {
  const world = await canaryWorld();
  const sung = new Set<string>();
  const answers = ['healthy', ...Object.keys(echoScripts)];
  // These print a secret when asked to, and are always among the lines.
  const always = ['request', 'webhook list'];
  const tried = lines.filter(({ command }, index) => index % size(8, 1) === 0 || always.includes(command));
  for (const [index, line] of tried.entries()) {
    if (line.isSlow && !isProof) continue;
    const chosen = isProof && !line.isSlow ? ways : [ways[index % ways.length] ?? '', '--verbose'];
    const one = async (way: string, answer: string) => {
      for (const each of await sing(line, way, answer, world)) sung.add(each);
    };
    for (const [turn, way] of chosen.entries()) await one(way, answers[(index + turn) % answers.length] ?? '');
    await one('--verbose', 'healthy');
  }
  // These were asked for: the search does find secrets.
  expect([...sung]).toEqual(expect.arrayContaining(['request: webhook secret', 'webhook list: webhook secret']));
  expect(strayIn(world)).toEqual([]);
  expect(holdersUnder(world.outputs).map(({ file }) => file)).toContain('config/config.json');
});

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const comment = { chain: 'base', transactionHash: `0x${'ab'.repeat(32)}`, tokenAddress: wallet, commentText: 'gm' };

const calls: readonly [name: string, input: Record<string, unknown>][] = [
  ['leaderboard_list', {}],
  ['profile_get', { identifier: wallet }],
  ['webhook_list', {}],
  ['webhook_register', { destinationUrl: 'http://127.0.0.1:9/new', walletAddresses: ['ext:user-9'] }],
  ['follow_add', { addressOrUid: 'ext:1', targets: [wallet] }],
  ['comment_sign', comment],
  ['comment_post', comment],
  ['verify_webhook', { header: 't=1,v1=x', body: `{"secret":"${namedSecret}"}` }],
];

test('no result of an MCP tool, notice or question contains a secret, whatever the service answers', async () => {
  const world = await canaryWorld();
  let shown = '';
  const secrets = `--key evm --password-file ${world.input('password')} --secret-file ${world.input('hook.secret')}`;
  const { client, close } = await connect(`mcp --verbose --retries 0 --allow-writes --allow-signing ${secrets}`, {
    env: world.env,
    skipWaits: true,
    onErr: (text) => (shown += text),
    client: { capabilities: { elicitation: {} } },
    prepare: (made) =>
      made.setRequestHandler('elicitation/create', async ({ params }) => {
        shown += params.message;
        return { action: 'accept', content: { confirm: true } };
      }),
  });
  shown += JSON.stringify(await client.listTools());
  for (const script of [world.healthy, ...some(Object.values(echoScripts), 2)]) {
    world.answerAs(script);
    for (const [name, input] of calls) {
      const answer = JSON.stringify(await client.callTool({ name, arguments: input }).catch(({ message }) => message));
      expect([name, secretsIn(answer), answer]).toEqual([name, [], expect.any(String)]);
    }
  }
  const { out } = await close();
  expect(secretsIn(shown)).toEqual([]);
  for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
  expect(strayIn(world)).toEqual([]);
});

test('a secret given instead of its file is not repeated', async () => {
  for (const argv of [
    `webhook listen --port 0 --secret-file ${namedSecret}`,
    `webhook verify --header t=1,v1=x --secret-file ${namedSecret}`,
    `webhook trigger new-feed-item --sandbox --to http://127.0.0.1:9 --secret-file=${namedSecret}`,
    `webhook listen --port 0 --secret-file /dev/null --forward-to ${namedSecret}`,
  ]) {
    const { code, err } = await run(`${argv} --json`, { stdin: '{}' });
    expect([argv, code > 0, secretsIn(err)]).toEqual([argv, true, []]);
  }
});
