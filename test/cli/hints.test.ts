import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';

const address = '0x143cf5cccbc8447504a99413dec7ea93ec228432';

const refused: readonly [argv: string, error: string, hint: string][] = [
  ['login', "unknown command 'login'", 'Did you mean sotra auth login?'],
  ['leaderboard ls', "unknown command 'ls'", 'Did you mean sotra leaderboard list?'],
  ['webhook rm abc', "unknown command 'rm'", 'Did you mean sotra webhook delete abc?'],
  ['webhook forward --to x', "unknown option '--to'", 'Did you mean --forward-to?'],
  ['webhook show e1 --file x', "unknown option '--file'", 'See sotra webhook show --help.'],
  ['leaderboard list --url x', "unknown option '--url'", 'Did you mean --base-url?'],
  ['sandbox stop --all', "unknown option '--all'", 'See sotra sandbox stop --help.'],
  ['leaderboard list --period 7d', "unknown option '--period'", 'Did you mean --timeframe?'],
  ['webhook events --tail', "unknown option '--tail'", 'Did you mean --follow?'],
  ['feed home --tail', "unknown option '--tail'", 'Did you mean --watch?'],
  ['follow list a', "unknown command 'list'", 'Did you mean sotra profile follows a?'],
  ['profile show x', "unknown command 'show'", 'Did you mean sotra profile get x?'],
  ['__proto__', "unknown command '__proto__'", 'See sotra --help.'],
  [
    'leaderboard list -o json',
    "unknown option '-o'",
    'Did you mean --format? It takes table, json, ndjson, csv or tsv.',
  ],
  ['leaderboard list -v', "unknown option '-v'", 'Did you mean --verbose? The version is sotra --version.'],
  ['leaderboard list --limit', "option '--limit <n>' argument missing", 'See sotra leaderboard list --help.'],
  [
    'webhook events a b',
    "too many arguments for 'events'. Expected 0 arguments but got 2.",
    'See sotra webhook events --help.',
  ],
  ['follow bulk list.csv', "required option '--file <file>' not specified", 'Did you mean --file list.csv?'],
  [
    'comment verify ./signed.json',
    "too many arguments for 'verify'. Expected 0 arguments but got 1.",
    'Did you mean --signed ./signed.json?',
  ],
  [
    'comment post good morning',
    "too many arguments for 'post'. Expected 1 argument but got 2.",
    'Put a text of several words in quotes.',
  ],
  ['leaderboard --limit 5', "unknown option '--limit'", 'Name a subcommand first: list, rank, copytraded, sections.'],
  [
    '--timeout 5s leaderboard list',
    "unknown option '--timeout'",
    'Options of a command go after its name: sotra <command> --timeout.',
  ],
  ['--jsn leaderboard list', "unknown option '--jsn'", 'Did you mean --json?'],
  ['-q leaderboard list', "unknown option '-q'", 'Did you mean --quiet?'],
  ['--api-key abc leaderboard list', "unknown option '--api-key'", 'A key is never an argument: sotra auth login'],
  ['leaderboard list -l 5', "unknown option '-l'", 'See sotra leaderboard list --help.'],
  ['leaderboard list --color', "unknown option '--color'", 'See sotra leaderboard list --help.'],
  ['leaderboard list --key trader', "unknown option '--key'", 'See sotra leaderboard list --help.'],
  [
    'webhook forward',
    '--forward-to or --route is required: forward every delivery to this URL; forward some: KIND=URL (sotra help webhooks)',
    'For example: sotra webhook forward --forward-to http://127.0.0.1:3000/hook',
  ],
  ['comment gm --last --key trader', "unknown command 'gm'", 'See sotra comment --help.'],
  ['leaderboard list --sandbox=yes', "unknown option '--sandbox=yes'", '--sandbox takes no value: type it alone.'],
  ['profile get #1', 'no service is configured', 'Choose one: sotra auth login.'],
  [
    'webhook sync --url http://127.0.0.1:9/hook wallets.csv',
    '<uid> wallets.csv: is a file, not the uid of a webhook',
    'Give it with --file wallets.csv.',
  ],
  ...(
    [
      ['webhook sync --file x --url', 'localhost:3000/hook', 'http://localhost:3000/hook'],
      ['webhook register --file x --url', '127.0.0.1:3000/hook', 'http://127.0.0.1:3000/hook'],
      ['webhook exam --secret-file x', 'hooks.example.com/hook', 'https://hooks.example.com/hook'],
      ['webhook trigger copyswap --to', '[::1]:3000', 'http://[::1]:3000'],
      ['webhook replay --to', 'my-box:3000/hook?a=1', 'https://my-box:3000/hook?a=1'],
    ] as const
  ).map(([line, typed, meant]): [string, string, string] => {
    const label = line.includes('exam') ? '<url>' : (line.split(' ').at(-1) ?? '');
    return [`${line} ${typed}`, `${label} ${typed}: must be an http or https address; did you mean ${meant}?`, ''];
  }),
  [
    '--base-url localhost:4010 leaderboard list',
    'base URL localhost:4010: must be an address such as https://api.example.com; did you mean http://localhost:4010?',
    '',
  ],
  [
    'context set own --base-url api.own.example/x',
    'base URL api.own.example/x: must be an address such as https://api.example.com; did you mean https://api.own.example/x?',
    '',
  ],
  [
    'profile set-name ext:a --name abc --avatar-url own.example/a.png',
    '--avatar-url own.example/a.png: must be an http or https address of a jpeg or png; did you mean https://own.example/a.png?',
    '',
  ],
  [
    'webhook sync https://a.example/hook --file x.csv',
    '<uid> https://a.example/hook: is an address, not the uid of a webhook',
    'Give the address with --url.',
  ],
  [
    '--sandbox positions #1',
    "unknown command '#1'",
    "Did you mean sotra profile positions '#1' or sotra token positions '#1'?",
  ],
  ['followers #1', "unknown command 'followers'", "Did you mean sotra profile followers '#1'?"],
  ['comments base 0x12', "unknown command 'base'", 'Did you mean sotra token comments base 0x12?'],
  [address, `unknown command '${address}'`, `Did you mean sotra profile get ${address}?`],
  ['leaderboard #1', "unknown command '#1'", "Did you mean sotra profile get '#1'?"],
  ['exam http://x', "unknown command 'exam'", 'Did you mean sotra webhook exam http://x?'],
  ['list', "unknown command 'list'", 'See sotra --help.'],
  [
    '--sandbox profile positions open #1 --limit 5',
    'open is in the wrong place',
    'The order is <identifier> <status>.',
  ],
  ['request /v2/leaderboard GET', '/v2/leaderboard is in the wrong place', 'The order is <method> <path>.'],
  [
    'profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2',
    "missing required argument 'status'",
    'For example: sotra --sandbox profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 closed --chains hyperliquid --limit 5',
  ],
  [
    'sandbox trade',
    "required option '--chain <chain>' not specified",
    'For example: sotra sandbox trade --chain base --trader 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --token',
  ],
  ['profile get --address 0x12', "unknown option '--address'", 'It is an argument: sotra profile get <identifier>.'],
  [
    'profile positions #1 --status open',
    "unknown option '--status'",
    'It is an argument: sotra profile positions <identifier> <status>.',
  ],
  ['profile get x --page 2', "unknown option '--page'", 'Omit it: this command has no pages.'],
  ['leaderboard list --page 2', "unknown option '--page'", 'For longer lists it has --limit.'],
  [
    'comment sign --private-key 0x1',
    "unknown option '--private-key'",
    'A private key is never an argument: --key-file <file>, --key-env <variable>, --key-stdin, or --key <name> of a stored one.',
  ],
  [
    'auth login --key abc',
    "unknown option '--key'",
    'A key is never an argument: sotra auth login asks for it, or reads it with --with-key < file; or set SOTRA_API_KEY.',
  ],
  ['wallet new trader', "unknown command 'wallet'", 'Did you mean sotra key generate trader?'],
  ['mcp start', "too many arguments for 'mcp'. Expected 0 arguments but got 1.", 'Did you mean sotra mcp?'],
  [
    'ui --port 8080',
    "unknown option '--port'",
    'The page is served on a free port: omit it. --ready-file <file> writes its address.',
  ],
  ['request -X POST /v2/x', "unknown option '-X'", 'It is an argument: sotra request <method> <path>.'],
  [
    'request GET /v2/x -H Accept:text/plain',
    "unknown option '-H'",
    'Headers are set for you, including the API key: omit it.',
  ],
  ['help nonsense', "no help on 'nonsense'", 'Topics: '],
  ['help rate-limitd', "no help on 'rate-limitd'", 'Did you mean sotra help rate-limited?'],
  [
    'profile get 0x143cf5cccbc8447504a99413dec7ea93ec22843',
    `<identifier> ${address.slice(0, -1)}: has 39 hex digits, 40 are needed`,
    '',
  ],
  [
    'profile get 0X143cf5cccbc8447504a99413dec7ea93ec228432',
    '<identifier> 0X143cf5cccbc8447504a99413dec7ea93ec228432: must begin with 0x',
    '',
  ],
  [
    'profile get 0x143cf5cccbc8447504a99413dec7ea93ec22843g',
    '<identifier> 0x143cf5cccbc8447504a99413dec7ea93ec22843g: has the letter g, which is not a hex digit',
    '',
  ],
  ['webhook test copyswap', "unknown command 'test'", 'Did you mean sotra webhook trigger copyswap?'],
  ['leaderboard list --csv', "unknown option '--csv'", 'Did you mean --format csv?'],
  ['leaderboard list -n 5', "unknown option '-n'", 'Did you mean --limit 5?'],
  ['token comments base x -n20', "unknown option '-n20'", 'Did you mean --limit 20?'],
  [
    '--sandbox leaderboard list --columns Trader',
    '--columns Trader: no such column',
    'Did you mean name? Columns: rank,',
  ],
  [
    '--sandbox leaderboard list --columns rank,roi30d',
    '--columns roi30d: no such column',
    'Did you mean roiPercent30d? Columns: rank,',
  ],
  [
    'leaderboard list --chains base solana',
    "too many arguments for 'list'. Expected 0 arguments but got 1.",
    'Did you mean --chains base,solana?',
  ],
  [
    '--sandbox profile get vitalik.eth',
    '<identifier> vitalik.eth: must be a profile UUID, a wallet address (0x... or Solana base58) or ext:<your user id>',
    'ENS names are not looked up: give the address, 0x and 40 hex digits.',
  ],
  [
    `profile get ${address.slice(2)} --sandbox`,
    `<identifier> ${address.slice(2)}: must begin with 0x`,
    `Did you mean ${address}?`,
  ],
  [
    '--sandbox token positions base 4ed4e862860bed51a9570b96d89af5e1b0efefed open',
    '<contract> 4ed4e862860bed51a9570b96d89af5e1b0efefed: must begin with 0x',
    'Did you mean 0x4ed4e862860bed51a9570b96d89af5e1b0efefed?',
  ],
  [
    `--sandbox leaderboard list --viewer-addresses ext:a,${address.slice(2)}`,
    `--viewer-addresses ${address.slice(2)}: must begin with 0x`,
    `Did you mean ${address}?`,
  ],
  ['--sandbox profile get 0xdead…beef', '<identifier> 0xdead…beef: is shortened: the whole address is needed', ''],
];

test('a comment that begins with a dash goes after two dashes', async () => {
  const { code, err } = await run(['comment', 'post', '-10 % and still long', '--last', '--key', 'trader']);
  expect([code, err]).toEqual([
    2,
    `error: unknown option '-10 % and still long'
hint: Did you mean sotra comment post --last --key trader -- '-10 % and still long'?
`,
  ]);
});

test.each([
  ['--sandbox leaderboards list --limit 3', '--sandbox leaderboard list --limit 3'],
  ['--sandbox profiles get 0x143cf5cccbc8447504a99413dec7ea93ec228432', `--sandbox profile get ${address}`],
  ['aliases list', 'alias list'],
  ['leaderboards list --help', 'leaderboard list --help'],
  ['webhooks --help', 'webhook --help'],
  ['keys', 'key'],
])('sotra %s is sotra %s', async (plural, singular) => {
  const now = Date.UTC(2026, 10, 20);
  const [one, other] = [await run(plural, { now }), await run(singular, { now })];
  expect(one.code).toBe(0);
  expect(one).toEqual(other);
});

test.each(refused)('sotra %s: %s', async (argv, error, hint) => {
  const { code, out, err } = await run(argv);
  const [first = '', second = ''] = err.split('\n');
  expect({ code, out, first }).toEqual({ code: 2, out: '', first: `error: ${error}` });
  expect(second).toContain(hint);
});

test('a row of the board of the sandbox needs --sandbox if another service is in use', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder(), SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_API_KEY: 'k' };
  await run('--sandbox leaderboard list', { env });
  const { code, err } = await run('profile get #1', { env });
  expect([code, err]).toEqual([2, expect.stringContaining('a row of the board of the sandbox needs --sandbox.')]);
});

test('a target without a scheme is suggested with one, possible secrets hidden', async () => {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, 'whsec_1\n', { mode: 0o600 });
  const to = 'localhost:3000/hook?token=abc';
  expect(await run(`webhook listen --secret-file ${file} --forward-to ${to}`)).toEqual({
    code: 2,
    out: '',
    err: 'error: --forward-to or --route localhost:3000/hook?token=***: must be an http or https address; did you mean http://localhost:3000/hook?token=***?\n',
  });
});

test.each(['-h', '--help'])('%s before a command shows the help of the command', async (word) => {
  expect(await run(`${word} leaderboard list`)).toEqual(await run('leaderboard list --help'));
});

test('help explains an exit code and an error code', async () => {
  const byExit = await run('help 7');
  expect((await run('help 429')).out).toBe(byExit.out);
  expect((await run('help 401')).out).toContain('KEY-REFUSED\n');
  expect((await run('help 503')).out).toContain('Exit code 8: server error.');
  expect(byExit.out).toMatch(/^Exit code 7: rate limited/);
  expect(byExit.out).toContain('--timeout');
  expect((await run('help rate-limited')).out).toBe(byExit.out);
  const files = await run('help 3');
  for (const name of ['CONFIG', 'LOCKED', 'LOCAL-FILE']) expect(files.out).toContain(`${name}\n`);
  expect((await run('help locked')).out).not.toContain('CONFIG\n');
});
