import { expect, test } from 'vitest';
import { topics } from '../../src/commands/help/index.ts';
import { errorExitCodes, exitMeanings } from '../../src/errors.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';

const widths = [60, 80, 140, 300];

/** Lines to copy, which are never broken. */
const isPasted = (line: string) => /^ {2}(sotra|#|GET|POST|PUT|DELETE|\{) ?/.test(line);

let texts: Promise<Map<string, string>> | undefined;

/** The help of each command at 80 columns, by the words of the command. */
const helpTexts = () => {
  texts ??= Promise.all(
    outlines.map(async ({ words }) => {
      const { out, err, code } = await run([...words, '--help'], { tty: 80 });
      expect([words, err, code]).toEqual([words, '', 0]);
      return [words.join(' '), out] as const;
    }),
  ).then((all) => new Map(all));
  return texts;
};

const isTooLong = (line: string, width: number) => line.length > width && !isPasted(line) && line.trim().includes(' ');

test('the help of every command says what it does, its endpoint, its options, examples and columns, and fits the terminal', async () => {
  const all = await helpTexts();
  for (const { words, summary, endpoint, examples, fields, columns } of outlines) {
    const out = all.get(words.join(' ')) ?? '';
    expect([words, out.split('\n').filter((line) => isTooLong(line, 80))]).toEqual([words, []]);
    const text = out.replaceAll(/\s+/g, ' ');
    expect(text).toContain(`Usage: sotra ${words.join(' ')} `);
    expect(text).toContain(summary);
    if (endpoint !== undefined) expect(text).toContain(`Sends ${endpoint.method} ${endpoint.path}.`);
    for (const { argv } of examples) expect(out).toContain(`  sotra ${argv}\n`);
    for (const { flag, positional } of fields)
      expect([words, text]).toEqual([words, expect.stringContaining(positional ? flag : `--${flag}`)]);
    for (const { key } of columns) expect(text).toContain(key);
    expect(text).toContain('Global options (sotra --help): --context, --sandbox, --base-url,');
  }
});

test('help is as wide as the terminal, to 100 columns', async () => {
  const widest = async (tty: number) => {
    const { out } = await run('leaderboard list --help', { tty });
    return Math.max(...out.split('\n').map((line) => (isPasted(line) || !line.trim().includes(' ') ? 0 : line.length)));
  };
  for (const tty of [60, 80, 100]) expect(await widest(tty)).toBeLessThanOrEqual(tty);
  expect(await widest(100)).toBeGreaterThan(90);
  expect(await widest(300)).toBe(await widest(100));
});

test('no help is longer than 60 lines at 80 columns, and the help of the program has 48 at most', async () => {
  const all = new Map(await helpTexts());
  const groups = new Set(outlines.flatMap(({ words }) => words.map((_, index) => words.slice(0, index).join(' '))));
  const others = [...[...groups].map((group) => `${group} --help`), ...topics.map((topic) => `help ${topic}`)];
  for (const line of others) all.set(line, (await run(line, { tty: 80 })).out);
  const long = [...all].filter(([, text]) => text.trimEnd().split('\n').length > 60);
  expect(all.size).toBeGreaterThan(90);
  expect(long.map(([line]) => line)).toEqual([]);
  expect((await run('--help', { tty: 80 })).out.trimEnd().split('\n').length).toBeLessThanOrEqual(48);
});

test('each value in help has a name that says what to type', async () => {
  const named = [...(await helpTexts()).values()].flatMap((text) => text.match(/^ +(?:-\w, )?--[\w-]+ <\S+>/gm) ?? []);
  expect(named.length).toBeGreaterThan(150);
  expect(named.filter((line) => /<(?:value|text|statu)\b/.test(line) && !/ --text /.test(line))).toEqual([]);
});

test.each(['leaderboard', 'leaderboard list', 'profiles', 'auth', 'sandbox import'])(
  'help %s is what --help prints',
  async (words) => {
    expect((await run(`help ${words}`, { tty: 80 })).out).toBe((await run(`${words} --help`, { tty: 80 })).out);
  },
);

test('help alone, sotra alone and --help print the help of the program; the plural of a group is in none', async () => {
  const { out } = await run('--help', { tty: 80 });
  for (const line of ['help', 'help --quiet', '--quiet help', '', '--json'])
    expect(await run(line, { tty: 80 })).toEqual({
      code: 0,
      out: line === '' || line === '--json' ? out : expect.stringContaining(out.trim()),
      err: '',
    });
  for (const { words } of outlines) expect(out).toMatch(new RegExp(`^  ${words[0]} +[A-Z]`, 'm'));
  expect(out).not.toContain('leaderboards ');
});

test('a topic wins over a group of the same name', async () => {
  expect((await run('help webhooks')).out).toContain('A DELIVERY');
  expect((await run('help webhook')).out).toContain('Usage: sotra webhook');
});

test.each(['exit-codes', 'environment', 'formatting', 'signing', 'webhooks', 'ci', 'bulk', 'contexts'])(
  'help %s fits the width',
  async (topic) => {
    for (const tty of widths) {
      const { out, code } = await run(`help ${topic}`, { tty });
      expect(code).toBe(0);
      expect(out.split('\n').filter((line) => isTooLong(line, tty))).toEqual([]);
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
