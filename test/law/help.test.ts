import { expect, test } from 'vitest';
import { listChoices } from '../../src/commands/read-input.ts';
import { errorExitCodes, exitMeanings } from '../../src/errors.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';

const widths = [40, 60, 80, 140, 300];

/** Lines that are typed as they stand, and so are never broken. */
const isPasted = (line: string) => /^ {2}(sotra|#|GET|POST|PUT|DELETE|\{) ?/.test(line);
const isQuoted = (line: string) => /^ {4}\S+ ['"]/.test(line);

/** As a shell reads it. */
const unwrapped = (text: string) => text.replaceAll(/ ?\\\n +/g, ' ').replaceAll('\\\n', '');

test('the help of every command fits every width', async () => {
  for (const { words, summary, examples, fields } of outlines)
    for (const tty of words[0] === 'leaderboard' ? widths : [40, 80]) {
      const { out, code } = await run([...words, '--help'], { tty });
      expect(code).toBe(0);
      const long = out.split('\n').filter((line) => line.length > Math.min(tty, 100) && !isQuoted(line));
      // A word that is wider than the terminal cannot be broken: it must still be there whole.
      expect([words, tty, long.filter((line) => line.trim().includes(' '))]).toEqual([words, tty, []]);
      // The help of help is that of the program.
      if (tty < 80 || words[0] === 'help') continue;
      expect(out.replaceAll(/\s+/g, ' ')).toContain(summary);
      expect(unwrapped(out)).toContain(`  sotra ${examples[0]?.argv}\n`);
      for (const { flag } of fields) expect(out).toContain(flag);
    }
});

test('no help is longer than 60 lines at 80 columns', async () => {
  const groups = outlines.flatMap(({ words }) => words.map((_, index) => words.slice(0, index).join(' ')));
  const topics = outlines.flatMap(({ words, fields }) =>
    words[0] === 'help' ? fields.slice(0, 1).flatMap(listChoices) : [],
  );
  const lines = [
    ...[...new Set(groups)].map((group) => `${group} --help`),
    ...outlines.map(({ words }) => `${words.join(' ')} --help`),
    ...topics.map((topic) => `help ${topic}`),
  ];
  const lengths = await Promise.all(
    lines.map(async (line) => [line, (await run(line, { tty: 80 })).out.trimEnd().split('\n').length] as const),
  );
  expect(lengths.length).toBeGreaterThan(90);
  expect(lengths.filter(([, length]) => length > 60)).toEqual([]);
});

test('the page about webhooks names every one of their commands', async () => {
  const { out } = await run('help webhooks');
  const lacking = outlines.filter(({ words }) => words[0] === 'webhook' && !out.includes(`  ${words.join(' ')}  `));
  expect(lacking.map(({ words }) => words.join(' '))).toEqual([]);
});

test('an example that is too long goes on below its flags, as a shell reads it', async () => {
  const { out } = await run('leaderboard rank --help', { tty: 80 });
  expect(out).toContain(`
  # on one chain, as JSON
  sotra --sandbox leaderboard rank 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 \\
    --chains hyperliquid --json
`);
});

test('each value in help has a name that says what to type', async () => {
  const lines = outlines.map(async ({ words }) => (await run([...words, '--help'], { tty: 80 })).out);
  const named = (await Promise.all(lines)).flatMap((text) => text.match(/^ +(?:-\w, )?--[\w-]+ <\S+>/gm) ?? []);
  expect(named.length).toBeGreaterThan(150);
  expect(named.filter((line) => /<(?:value|text|statu)\b/.test(line) && !/ --text /.test(line))).toEqual([]);
});

test('help of a command at 80 columns', async () => {
  const { out } = await run('leaderboard rank --help', { tty: 80 });
  expect(out).toContain(`The rank of one trader and the PnL behind it.

Rank 1 is the top trader; null means not on the leaderboard.

USAGE
  sotra leaderboard rank <address> [flags]
  sends GET /v2/leaderboard/ranking

ARGUMENTS
  <address>  wallet whose rank to get

FLAGS
  --chains <chain,...>  sum PnL over these chains: one of base, solana,
                        ethereum, hyperliquid or another; repeatable, or
                        comma-separated; default: all four (set by the service)
  --only-with-comments  rank among traders with swap comments
  --timeframe <period>  window of the PnL: one of 7d, 30d; default: 30d (set by
                        the service)

GLOBAL FLAGS
  --columns, --jq, --show-nsfw, --timeout, --retries, --rate, --dry-run, --curl,
  --strict, and those of sotra --help

EXAMPLES
  # the place of one wallet
  sotra --sandbox leaderboard rank 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2
  # on one chain, as JSON
  sotra --sandbox leaderboard rank 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 \\
    --chains hyperliquid --json

COLUMNS
  ranking, pnlUsd, baseUsd, solanaUsd, ethereumUsd, hyperliquidUsd
`);
});

test('help of a command at 40 columns puts meanings below the flags', async () => {
  const { out } = await run('leaderboard rank --help', { tty: 40 });
  expect(out).toContain(`  --timeframe <period>
      window of the PnL: one of 7d, 30d;
      default: 30d (set by the service)
`);
});

test('the words help and --help mean the same', async () => {
  for (const words of ['leaderboard list', 'auth', 'sandbox import'])
    expect((await run(`help ${words}`)).out).toBe((await run(`${words} --help`)).out);
  for (const line of ['help', 'help --quiet', 'help --help'])
    expect((await run(line)).out).toBe((await run('--help')).out);
  expect((await run('')).out).toBe((await run('--help')).out);
});

test('sotra alone prints the help, and a group alone its commands', async () => {
  expect(await run('', { tty: 80 })).toEqual({ ...(await run('--help', { tty: 80 })), code: 0 });
  const { code, out, err } = await run('follow', { tty: 80 });
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('COMMANDS\n  add     Follow');
});

test('the help of the program names every group and its commands in 60 lines', async () => {
  const { out } = await run('--help', { tty: 80 });
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  for (const { words } of outlines) expect(out).toMatch(new RegExp(`^  ${words[0]} `, 'm'));
  expect(out).toContain('  leaderboard  list, rank, copytraded, sections\n');
});

test.each(['exit-codes', 'environment', 'formatting', 'signing', 'webhooks', 'ci', 'bulk', 'contexts'])(
  'help %s fits the width',
  async (topic) => {
    for (const tty of widths) {
      const { out, code } = await run(`help ${topic}`, { tty });
      expect(code).toBe(0);
      const long = out.split('\n').filter((line) => line.length > tty && !isPasted(line));
      expect(long.filter((line) => line.trim().includes(' '))).toEqual([]);
    }
    const { out } = await run(`help ${topic} --json`);
    expect(JSON.parse(out).topic).toBe(topic);
  },
);

test('help exit-codes names every error code beside its exit code', async () => {
  const { out } = await run('help exit-codes', { tty: 100 });
  for (const [name, exit] of Object.entries(errorExitCodes)) {
    expect(exitMeanings[exit]).toBeDefined();
    expect(out).toContain(name);
  }
  expect(out).toMatch(/^ {2}4 +key missing or refused \[key-missing, key-refused, forbidden\]$/m);
});

const typos: readonly [argv: string, hint: string][] = [
  ['help fomatting', 'Did you mean formatting?'],
  ['help leaderbord list', 'Did you mean sotra help leaderboard?'],
  ['help webhoks', 'Did you mean webhooks?'],
  ['leaderbord list', 'Did you mean leaderboard?'],
  ['context sett own', 'Did you mean set?'],
  ['leaderboard list --chain base', 'Did you mean --chains?'],
  ['leaderboard list --jsn', 'Did you mean --json?'],
  ['leaderboard list --chains sollana', 'Did you mean solana?'],
  ['leaderboard list --chains eth', 'Did you mean ethereum?'],
  ['leaderboard list --format tabel', 'Did you mean table?'],
  ['leaderboard list --colour', 'See sotra leaderboard list --help.'],
];

test.each(typos)('a slip of the finger is answered with what was meant: %s', async (argv, hint) => {
  const { code, err } = await run(argv);
  expect(code).toBe(2);
  expect(err).toContain(hint);
});

test('every example of the commands about the tool itself runs', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const nouns = ['alias', 'auth', 'context', 'doctor', 'completion', 'help'];
  const tried: string[] = [];
  for (const { words, examples } of outlines.filter((command) => nouns.includes(command.words[0] ?? '')))
    for (const { argv } of examples) {
      const fromFile = argv.endsWith(' < key.txt');
      const typed = argv.replace(' < key.txt', '');
      // The check of a key asks a service of the internet.
      const checksKey = words.join(' ') === 'auth login' && !/--offline|--sandbox/.test(typed);
      const line = checksKey ? `${typed} --offline --store file` : typed;
      const input = fromFile ? { stdin: 'some-key-1234\n' } : { answers: ['some-key-1234'] };
      const { code, err } = await run(line, { env, ...input });
      expect([argv, code, code === 0 ? '' : err]).toEqual([argv, 0, '']);
      const { out } = await run(line.includes('--json') ? line : `${line} --json`, { env, ...input });
      if (out !== '') expect(() => JSON.parse(out)).not.toThrow();
      tried.push(argv);
    }
  expect(tried.length).toBeGreaterThan(20);
});

test('help in JSON mode is the part of the tree that was asked for', async () => {
  const entry = { command: 'leaderboard rank', summary: 'The rank of one trader and the PnL behind it' };
  for (const argv of ['leaderboard rank --help --json', '--json leaderboard rank -h', 'help leaderboard rank --json']) {
    const { code, out, err } = await run(argv);
    expect([code, err]).toEqual([0, '']);
    const { commands: shown } = JSON.parse(out);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject(entry);
  }
  const noun = JSON.parse((await run('leaderboard --json')).out);
  expect(noun.commands.map(({ command }: { command: string }) => command)).toEqual([
    'leaderboard list',
    'leaderboard rank',
    'leaderboard copytraded',
    'leaderboard sections',
  ]);
  const whole = await run('--help --json');
  for (const argv of ['--json', '--json --quiet'])
    expect(JSON.parse((await run(argv)).out)).toEqual(JSON.parse(whole.out));
  expect(await run('--version --json')).toEqual({ code: 0, out: '{"version":"0.0.0-test"}\n', err: '' });
});
