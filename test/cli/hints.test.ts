import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failure, run, temporaryFolder } from '../support/harness.ts';

const hex = '143cf5cccbc8447504a99413dec7ea93ec228432';
const address = `0x${hex}`;

const refused: readonly [argv: string, error: string, hint: string][] = [
  ['login', "unknown command 'login'", 'Did you mean sotra auth login?'],
  ['leaderboard ls', "unknown command 'ls'", 'Did you mean sotra leaderboard list?'],
  ['webhook rm abc', "unknown command 'rm'", 'Did you mean sotra webhook delete abc?'],
  ['webhook forward --to x', "unknown option '--to'", 'Did you mean --forward-to?'],
  ['webhook show e1 --file x', "unknown option '--file'", 'See sotra webhook show --help.'],
  ['leaderboard list --url x', "unknown option '--url'", 'Did you mean --base-url?'],
  ['leaderboard list --period 7d', "unknown option '--period'", 'Did you mean --timeframe?'],
  ['webhook events --tail', "unknown option '--tail'", 'Did you mean --follow?'],
  ['feed home --tail', "unknown option '--tail'", 'Did you mean --watch?'],
  ['follow list a', "unknown command 'list'", 'Did you mean sotra profile follows a?'],
  ['profile show x', "unknown command 'show'", 'Did you mean sotra profile get x?'],
  ['__proto__', "unknown command '__proto__'", 'See sotra --help.'],
  ['leaderboard list -o json', "unknown option '-o'", 'Did you mean --format? It takes table, json,'],
  ['leaderboard list -v', "unknown option '-v'", 'Did you mean --verbose? The version is sotra --version.'],
  ['leaderboard list --limit', "option '--limit <n>' argument missing", 'See sotra leaderboard list --help.'],
  ['follow bulk list.csv', "required option '--file <file>' not specified", 'Did you mean --file list.csv?'],
  ['comment verify ./signed.json', "unexpected argument './signed.json'", 'Did you mean --signed ./signed.json?'],
  ['comment post good morning', "unexpected argument 'morning'", 'Put a text of several words in quotes.'],
  ['leaderboard --limit 5', "unknown option '--limit'", 'Name a subcommand first: list, rank, copytraded, sections.'],
  ['--timeout 5s leaderboard list', "unknown option '--timeout'", 'Options of a command go after its name: sotra'],
  ['--jsn leaderboard list', "unknown option '--jsn'", 'Did you mean --json?'],
  ['-q leaderboard list', "unknown option '-q'", 'Did you mean --quiet?'],
  ['--api-key abc leaderboard list', "unknown option '--api-key'", 'A key is never an argument: sotra auth login'],
  ['webhook forward', '--forward-to or --route is required', 'For example: sotra webhook forward --forward-to'],
  ['comment gm --last --key trader', "unknown command 'gm'", 'See sotra comment --help.'],
  [
    'leaderboard list --only-with-comments=false',
    "unknown option '--only-with-comments=false'",
    'Did you mean --no-only-with-comments?',
  ],
  ['leaderboard list --limit=', '--limit "": must be a whole number from 1 to 250', ''],
  ['leaderboard list --sandbox=yes', "unknown option '--sandbox=yes'", '--sandbox takes no value: type it alone.'],
  ['profile get #1', 'no service is configured', 'Choose one: sotra auth login.'],
  ['webhook sync wallets.csv', '<uid> wallets.csv: is a file, not the uid', 'Give it with --file wallets.csv.'],
  [
    'webhook sync https://a.example/hook',
    '<uid> https://a.example/hook: is an address',
    'Give the address with --url.',
  ],
  [
    '--sandbox positions #1',
    "unknown command '#1'",
    "Did you mean sotra profile positions '#1' or sotra token positions '#1'?",
  ],
  ['followers #1', "unknown command 'followers'", "Did you mean sotra profile followers '#1'?"],
  [address, `unknown command '${address}'`, `Did you mean sotra profile get ${address}?`],
  ['leaderboard #1', "unknown command '#1'", "Did you mean sotra profile get '#1'?"],
  ['exam http://x', "unknown command 'exam'", 'Did you mean sotra webhook exam http://x?'],
  ['list', "unknown command 'list'", 'See sotra --help.'],
  ['list leaderboard --limit 5', "unknown command 'list'", 'Did you mean sotra leaderboard list --limit 5?'],
  ['profile positions open #1 --limit 5', 'open is in the wrong place', 'The order is <identifier> <status>.'],
  [`profile positions ${address}`, "missing required argument 'status'", 'For example: sotra --sandbox profile'],
  ['sandbox trade', "required option '--chain <chain>' not specified", 'For example: sotra sandbox trade --chain base'],
  ['profile get --address 0x12', "unknown option '--address'", 'It is an argument: sotra profile get <identifier>.'],
  ['profile get x --page 2', "unknown option '--page'", 'Omit it: this command has no pages.'],
  ['leaderboard list --page 2', "unknown option '--page'", 'For longer lists it has --limit.'],
  [
    'comment sign --private-key 0x1',
    "unknown option '--private-key'",
    'A private key is never an argument: --key-file',
  ],
  ['auth login --key abc', "unknown option '--key'", 'A key is never an argument: sotra auth login asks for it, or'],
  ['wallet new trader', "unknown command 'wallet'", 'Did you mean sotra key generate trader?'],
  ['mcp start', "unexpected argument 'start'", 'Did you mean sotra mcp?'],
  ['ui --port 8080', "unknown option '--port'", 'The page is served on a free port: omit it. --ready-file <file>'],
  ['request -X POST /v2/x', "unknown option '-X'", 'It is an argument: sotra request <method> <path>.'],
  ['request GET /v2/x -H Accept:text/plain', "unknown option '-H'", 'Headers are set for you, including the API key'],
  ['help nonsense', "no help on 'nonsense'", 'Topics: '],
  [`profile get 0X${hex}`, `<identifier> 0X${hex}: must begin with 0x`, ''],
  [`profile get ${address}g`, `<identifier> ${address}g: has the letter g, which is not a hex digit`, ''],
  ['webhook test copyswap', "unknown command 'test'", 'Did you mean sotra webhook trigger copyswap?'],
  ['leaderboard list --csv', "unknown option '--csv'", 'Did you mean --format csv?'],
  ['leaderboard list -n 5', "unknown option '-n'", 'Did you mean --limit 5?'],
  ['token comments base x -n20', "unknown option '-n20'", 'Did you mean --limit 20?'],
  ['leaderboard list --columns Trader', '--columns Trader: no such column', 'Did you mean name? Columns: rank,'],
  [
    'leaderboard list --columns roi30d',
    '--columns roi30d: no such column',
    'Did you mean roiPercent30d? Columns: rank,',
  ],
  ['leaderboard list --chains base solana', "unexpected argument 'solana'", 'Did you mean --chains base,solana?'],
  ['leaderboard list --chains base, solana', "unexpected argument 'solana'", 'Did you mean --chains base,solana?'],
  ['leaderboard list 5', "unexpected argument '5'", 'Did you mean --limit 5?'],
  ['leaderboard list solana', "unexpected argument 'solana'", 'Did you mean --chains solana?'],
  ['leaderboard list limit=5', "unexpected argument 'limit=5'", 'Did you mean --limit 5?'],
  ['leaderboard list -L 5', "unknown option '-L'", 'Did you mean --limit?'],
  ['leaderboard list --web', "unknown option '--web'", 'sotra ui --open shows the same data in the browser.'],
  ['auth login --with-token', "unknown option '--with-token'", 'Did you mean --with-key?'],
  ['comment post --body gm', "unknown option '--body'", 'Did you mean --text?'],
  ['bundle -o out.zip', "unknown option '-o'", 'Did you mean --out?'],
  ['bundle out.zip', "unexpected argument 'out.zip'", 'Did you mean --out out.zip?'],
  ['profile set-name ext:a alice', "unexpected argument 'alice'", 'Did you mean --name alice?'],
  ['context set own https://a.example', "unexpected argument 'https://a", 'Did you mean --base-url https://a.example?'],
  ['webhook register http://x/hook', "required option '--url <url>'", 'Did you mean --url http://x/hook?'],
  ['webhook listen --secret whsec_a', "unknown option '--secret'", 'Did you mean --secret-file?'],
  ['request GET /v2/x limit=1', "unexpected argument 'limit=1'", 'Did you mean --query limit=1?'],
  ['request GET /v2/x -f limit=1', "unknown option '-f'", 'Did you mean --query?'],
  ['api /v2/x', "unknown command 'api'", 'Did you mean sotra request GET /v2/x?'],
  ['key show trader', "unknown command 'show'", 'Did you mean sotra key list?'],
  [`key import trader 0x${'1'.repeat(64)}`, 'unexpected argument\n', 'A private key is never an argument'],
  ['auth login sk_live', 'unexpected argument\n', 'A key is never an argument: sotra auth login asks'],
  [
    `--sandbox profile get https://basescan.org/address/${address}#code`,
    `<identifier> https://basescan.org/address/${address}#code: must be`,
    `Did you mean ${address}?`,
  ],
  [
    `token comments base https://dexscreener.com/base/${address}`,
    `<contract> https://dexscreener.com/base/${address}: a token on base is 0x and 40 hex digits`,
    `Did you mean ${address}?`,
  ],
  [
    `token positions base open ${address}`,
    `${address} is in the wrong place`,
    'The order is <chain> <contract> <status>.',
  ],
  ['leaderboard list --limit 1_00', '--limit 1_00: must be a whole number from 1 to 250', 'Did you mean 100?'],
  ['--sandbox profile get vitalik.eth', '<identifier> vitalik.eth: must be', 'ENS names are not looked up: give the'],
  [`profile get ${hex} --sandbox`, `<identifier> ${hex}: must begin with 0x`, `Did you mean ${address}?`],
  [`token positions base ${hex} open`, `<contract> ${hex}: must begin with 0x`, `Did you mean ${address}?`],
  ['--sandbox profile get 0xdead…beef', '<identifier> 0xdead…beef: is shortened: the whole address is needed', ''],
];

test('fields after --json, as gh takes them, are columns', async () => {
  const { err } = await run('leaderboard list --json name,pnlUsd');
  expect(JSON.parse(err).error.hint).toBe('Did you mean --json --columns name,pnlUsd?');
});

test('a comment that begins with a dash goes after two dashes', async () => {
  const outcome = await run(['comment', 'post', '-10 % and still long', '--last', '--key', 'trader']);
  const line = "sotra comment post --last --key trader -- '-10 % and still long'";
  expect(outcome).toEqual(failure(2, `unknown option '-10 % and still long'\nhint: Did you mean ${line}?\n`));
});

test.each([
  ['--sandbox leaderboards list --limit 3', '--sandbox leaderboard list --limit 3'],
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
  const outcome = await run(argv);
  expect(outcome).toEqual(failure(2, `error: ${error}`));
  expect(outcome.err.split('\n')[1]).toContain(hint);
});

test.each([
  ['webhook sync --file x --url localhost:3000/hook', 'http://localhost:3000/hook'],
  ['webhook register --file x --url 127.0.0.1:3000/hook', 'http://127.0.0.1:3000/hook'],
  ['webhook exam --secret-file x hooks.example.com/hook', 'https://hooks.example.com/hook'],
  ['webhook trigger copyswap --to [::1]:3000', 'http://[::1]:3000'],
  ['webhook replay --to my-box:3000/hook?a=1', 'https://my-box:3000/hook?a=1'],
  ['leaderboard list --base-url localhost:4010', 'http://localhost:4010'],
  ['context set own --base-url api.own.example/x', 'https://api.own.example/x'],
  ['profile set-name ext:a --name abc --avatar-url own.example/a.png', 'https://own.example/a.png'],
])('an address without a scheme is suggested with one: %s', async (argv, meant) => {
  const typed = argv.split(' ').at(-1);
  const outcome = await run(argv);
  expect(outcome).toEqual(failure(2, ` ${typed}: must be an`));
  expect(outcome.err).toContain(`; did you mean ${meant}?\n`);
});

test('a row of the board of the sandbox needs --sandbox if another service is in use', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder(), SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_API_KEY: 'k' };
  await run('--sandbox leaderboard list', { env });
  const refused = await run('profile get #1', { env });
  expect(refused).toEqual(failure(2, 'a row of the board of the sandbox needs --sandbox.'));
});

test('a secret in an address without a scheme is hidden', async () => {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, 'whsec_1\n', { mode: 0o600 });
  const { err } = await run(`webhook listen --secret-file ${file} --forward-to localhost:3000/hook?token=abc`);
  expect(err).toContain(
    'localhost:3000/hook?token=***: must be an http or https address; did you mean http://localhost',
  );
});

test.each(['-h', '--help'])('%s before a command shows the help of the command', async (word) => {
  expect(await run(`${word} leaderboard list`)).toEqual(await run('leaderboard list --help'));
});

test('help explains an exit code and an error code', async () => {
  const helpOn = async (word: string) => (await run(`help ${word}`)).out;
  const limited = await helpOn('7');
  expect(limited).toMatch(/^Exit code 7: rate limited/);
  expect([await helpOn('429'), await helpOn('rate-limited')]).toEqual([limited, limited]);
  expect(await helpOn('401')).toContain('KEY-REFUSED\n');
  for (const name of ['CONFIG', 'LOCKED', 'LOCAL-FILE']) expect(await helpOn('3')).toContain(`${name}\n`);
  expect(await helpOn('locked')).not.toContain('CONFIG\n');
});
