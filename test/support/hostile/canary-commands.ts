import { type RunOptions, run } from '../harness.ts';
import { globalFlags, type Outline, outlines } from '../outlines.ts';
import { degen, swaps } from '../traders.ts';
import { type CanaryWorld, evmKey, holdersUnder, type Secret, secretsIn } from './canaries.ts';

/** One command line of the tree; `@name` is a file of the user's, `@@` a new file for a secret that is asked for, `!` a service's address. */
export interface Line {
  command: string;
  argv: string;
  stdin?: string;
  answers?: readonly string[];
  /** It opens or makes a sealed key, which takes long on purpose. */
  isSlow?: true;
}

const swap = `--chain base --tx ${swaps.good} --token ${degen} --service-name Example`;
const onSolana = `--chain solana --tx ${swaps.solana} --token So11111111111111111111111111111111111111112 --service-name Example`;
const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';

/** The lines of the commands that are given a secret, beyond their examples. */
const own: Readonly<Record<string, readonly Omit<Line, 'command'>[]>> = {
  'comment sign': [
    { argv: `${swap} --text gm --key-file @evm.hex` },
    { argv: `${onSolana} --text gm --key-file @id.json` },
    { argv: `${onSolana} --text gm --key-env CANARY_PAIR` },
    { argv: `${onSolana} --text gm --key-env CANARY_KEY` },
    { argv: `${swap} --text gm --key-stdin --out @@`, stdin: evmKey },
    { argv: `${swap} --text gm --key-stdin`, stdin: `${evmKey}${evmKey}` },
    { argv: `${swap} --text gm`, answers: [evmKey] },
    { argv: `${swap} --text gm --key-file @evm.hex --signer ${degen}` },
    { argv: `${swap} --text gm --key evm --password-file @password`, isSlow: true },
    { argv: `${swap} --text gm --key sol --password-file @password`, isSlow: true },
    { argv: `${swap} --text gm --key evm --password-file @wrong.password`, isSlow: true },
  ],
  'comment post': [
    { argv: `${swap} --text gm --key-file @evm.hex` },
    { argv: `${swap} --text gm --key-stdin`, stdin: evmKey },
    { argv: `${onSolana} --text gm --key-env CANARY_PAIR` },
    { argv: `${swap} --text gm --key evm --password-file @password`, isSlow: true },
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
  'webhook sync': [{ argv: `${uid} --wallet-addresses ext:user-1` }],
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

/** Every line of every command: its own, else its examples. */
export function treeLines(): Line[] {
  return outlines.flatMap((outline) => {
    const command = outline.words.join(' ');
    const stdin = '{"addressOrUid":"ext:user_1","targets":["0xb129d76820940a14c764df8b223d8e39cf94a122"]}';
    const lines = own[command]?.map((line) => ({ ...line, argv: `${command} ${line.argv}`, command }));
    return lines ?? examplesOf(outline).map((argv) => ({ command, argv, stdin }));
  });
}

function examplesOf({ words, examples }: Outline): string[] {
  const isLocal = words[0] === 'sandbox';
  return examples.map(({ argv }) => {
    const typed = argv.split(' < ')[0] ?? '';
    const plain = typed.replace(/--(dry-run|curl|json)\b/g, '');
    return isLocal ? plain : plain.replace('--sandbox', '');
  });
}

/** Every way of printing; all of the flags that every command takes stand here, or in the list below. */
export const ways: readonly string[] = [
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

/** Flags that do not touch what is printed, or are in every line. */
const otherFlags = ['context', 'sandbox', 'base-url', 'columns', 'timeout', 'retries', 'rate'];

/** Flags of every command that are in no way of printing. */
export function forgottenFlags(): string[] {
  return globalFlags
    .map(({ flag }) => flag)
    .filter((flag) => !otherFlags.includes(flag) && !ways.some((way) => way.includes(`--${flag}`)));
}

/** What stdout may show, because the line asks for it. */
const asked: readonly { command: string; when: RegExp; holds: Secret }[] = [
  // "secret only where the service returned one and no --secret-file was given": for machines, as the result of the command.
  { command: 'webhook register', when: /--json|--format ndjson|--jq/, holds: 'webhook secret' },
  { command: 'webhook sync', when: /--json|--format ndjson|--jq/, holds: 'webhook secret' },
  { command: 'webhook list', when: /--show-secrets/, holds: 'webhook secret' },
  // The answer of any endpoint, as it came.
  { command: 'request', when: /./, holds: 'webhook secret' },
];

/** Answers that are of no shape of the contract, which `--json` and its kin print as they came; not those of commands that know secrets. */
const foreign = { answers: ['echo in another shape', 'echo in a list'], when: /--json|--format ndjson|--jq/ };
const knowing = ['webhook list', 'webhook register', 'webhook sync', 'webhook add-addresses'];

export interface Leak {
  argv: string;
  where: string;
  holds: Secret[];
}

const limits = '--retries 1 --timeout 60ms';
/** Those that go on until they are told to stop. */
const endless = ['sandbox start', 'sandbox simulate', 'webhook listen', 'ui'];

const numbers = (function* () {
  for (let number = 1; ; number += 1) yield number;
})();

/** Runs a line one way; the secrets that it shows without being asked to, and what it ended with. */
export async function runLine(
  line: Line,
  way: string,
  world: CanaryWorld,
  fault = '',
): Promise<{ leaks: Leak[]; code: number; err: string; shown: Secret[] }> {
  const place = (text: string) =>
    text
      .replaceAll('@@', () => `${world.outputs}/written-${numbers.next().value}`)
      .replaceAll(/(?<![\w@])@([\w.-]+)/g, (_, name: string) => world.input(name))
      .replaceAll('!/', `${world.service.url}/`);
  const argv = place(`${line.argv} ${way} ${line.command.startsWith('sandbox') ? '' : limits}`);
  const { out, err, code } = await run(argv, { env: world.env, maxAnswerBytes: 1024 ** 2, ...givenTo(line, world) });
  const all = { stdout: secretsIn(out), stderr: secretsIn(err) };
  const may = asked
    .filter(({ command, when }) => command === line.command && when.test(argv))
    .map(({ holds }) => holds);
  if (foreign.answers.includes(fault) && foreign.when.test(argv) && !knowing.includes(line.command))
    may.push('webhook secret');
  const leaks = Object.entries({ ...all, stdout: all.stdout.filter((each) => !may.includes(each)) })
    .filter(([, holds]) => holds.length > 0)
    .map(([where, holds]) => ({
      argv: `${line.argv} ${way}`,
      where: `${where}: ${where === 'stdout' ? out : err}`.slice(0, 600),
      holds,
    }));
  return { leaks, code, err, shown: all.stdout };
}

function givenTo({ command, stdin = '', answers }: Line, world: CanaryWorld): RunOptions {
  const text = (given: string) => (given.startsWith('@') ? world.text(given.slice(1)) : given);
  return {
    stdin: text(stdin),
    ...(answers && { answers: answers.map(text) }),
    ...(endless.includes(command) ? { signal: AbortSignal.timeout(30) } : { skipWaits: true }),
  };
}

/** Files that hold a secret because that is what they are for; each is its owner's alone. */
const holders: readonly { file: RegExp; holds: Secret }[] = [
  { file: /^config\/config\.json$/, holds: 'API key' },
  { file: /^data\/webhook\/uploads\/[0-9a-f]{12}\/secret-[0-9a-f]{12}$/, holds: 'webhook secret' },
  // webhook register --secret-file.
  { file: /^written-\d+$/, holds: 'webhook secret' },
  // key export --unencrypted --out.
  { file: /^written-\d+$/, holds: 'EVM key' },
];

/** Files that the program wrote and that hold a secret without being for it, or that others may read. */
export function strayIn({ outputs }: CanaryWorld): ReturnType<typeof holdersUnder> {
  const mayHold = (file: string, secret: Secret) =>
    holders.some((each) => each.file.test(file) && each.holds === secret);
  return holdersUnder(outputs).filter(
    ({ file, holds, mode }) => mode !== 0o600 || !holds.every((secret) => mayHold(file, secret)),
  );
}
