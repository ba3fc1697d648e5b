import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { contentsOf, run, stub, temporaryFolder } from '../support/harness.ts';
import { long, some } from '../support/size.ts';
import { degen, swaps, tradersWorld, writeKeys } from '../support/traders.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** The built program at a terminal of its own: a pseudo-terminal that tmux makes. */
function terminal(argv: string, env: Record<string, string>, folder: string, width = 120) {
  const tmux = (...words: string[]) =>
    spawnSync('tmux', ['-S', join(folder, 'tmux'), ...words], { encoding: 'utf8' }).stdout;
  const [before, after, pid] = ['before', 'after', 'pid'].map((name) => join(folder, name)) as [string, string, string];
  const set = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const program = `env -u NO_COLOR -u FORCE_COLOR -u CI ${set.join(' ')} ${process.execPath} bin/sotra.js ${argv}`;
  const shell = `stty -g > ${before}; sh -c 'echo $$ > ${pid}; exec ${program.replaceAll("'", '"')}'; echo "ended with $?"; stty -g > ${after}; cat`;
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(width), '-y', '70', shell);
  onTestFinished(() => void tmux('kill-server'));
  const shows = async (text: string, ...more: string[]): Promise<string> => {
    for (;;) {
      const now = tmux('capture-pane', '-p', '-J', '-S', '-200', ...more);
      if (now.includes(text)) return now;
      await delay(20);
    }
  };
  return {
    type: (...keys: string[]) => void tmux('send-keys', ...keys),
    shows,
    kill: (signal: NodeJS.Signals) => process.kill(Number(readFileSync(pid, 'utf8')), signal),
    hasCursor: () => tmux('display-message', '-p', '#{cursor_flag}').trim() === '1',
    /** What `stty` says of the terminal before the program and after it. */
    settings: async () => {
      while (!existsSync(after) || readFileSync(after, 'utf8') === '') await delay(5);
      return [before, after].map((file) => readFileSync(file, 'utf8'));
    },
  };
}

const sign = `comment sign --chain base --tx ${swaps.good} --token ${degen} --text gm --service-name Example`;
const prompts: readonly { argv: string; asks: string; hidden: boolean }[] = [
  { argv: 'key import k --key-file KEY', asks: 'Password to encrypt the key with (not shown):', hidden: true },
  { argv: 'webhook delete 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e', asks: '[y/N]', hidden: false },
  { argv: sign, asks: 'wallet (not shown):', hidden: true },
  { argv: 'auth login --context staging', asks: '(not shown):', hidden: true },
];
const ends = ['Ctrl-C', 'SIGTERM', 'SIGHUP', 'SIGINT', 'Ctrl-D'] as const;

test.skipIf(!hasTmux).each(
  some(
    prompts.flatMap((prompt) => ends.map((end) => ({ ...prompt, end }))),
    2,
  ),
)(
  '$argv asks, $end ends it with its exit code, the terminal as it was and nothing written (skipped without tmux)',
  async ({ argv, asks, hidden, end }) => {
    const service = await stub((_, response) => response.end('{}'));
    const [folder, state] = [temporaryFolder(), temporaryFolder()];
    const { evm } = writeKeys(folder);
    const settings = { contexts: { staging: { baseUrl: service.url } } };
    writeFileSync(join(state, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
    const env = { ...service.env, SOTRA_CONFIG_DIR: state, SOTRA_DATA_DIR: state };
    const before = contentsOf(state);
    const { type, shows, kill, settings: stty, hasCursor } = terminal(argv.replace('KEY', evm), env, folder);
    await shows(asks);
    // What is typed unseen can be waited for only by what is typed after it.
    if (end === 'Ctrl-C' || (!hidden && end !== 'Ctrl-D')) type('-l', 'half-typed');
    if (!hidden && end !== 'Ctrl-D') await shows('half-typed');
    if (end === 'Ctrl-C' || end === 'Ctrl-D') type(end === 'Ctrl-C' ? 'C-c' : 'C-d');
    else kill(end);
    const shown = await shows('ended with');
    expect(shown).toContain(`ended with ${end === 'SIGTERM' ? 143 : end === 'SIGHUP' ? 129 : 130}`);
    expect(shown).not.toContain('internal error');
    if (hidden) expect(shown).not.toContain('half-typed');
    const [first, last] = await stty();
    expect([last, hasCursor()]).toEqual([first, true]);
    expect([contentsOf(state), service.requests]).toEqual([before, []]);
  },
);

test.skipIf(!hasTmux)(
  'the password is asked for without echo, the text shown, a yes asked for, and the comment posted (skipped without tmux)',
  async () => {
    const { env, folder, keys } = await tradersWorld();
    const words = ['key', 'import', 'trader', '--key-file', keys.evm, '--password-file', keys.password];
    expect((await run(words, { env })).code).toBe(0);
    const posted = async () => {
      const list = `--sandbox comment list ${swaps.good} --chain base --json`;
      return JSON.parse((await run(list, { env })).out)[swaps.good].comments.length;
    };
    const post = `--sandbox comment post --chain base --tx ${swaps.good} --token ${degen} --text 'gm frens' --key trader`;
    const { type, shows } = terminal(post, env, folder);
    await shows('Password of key trader (not shown):');
    type('-l', 'correct horse');
    type('Enter');
    expect(await shows('Post this comment to the sandbox? [y/N]')).toContain('5  Comment: | gm frens');
    expect(await posted()).toBe(0);
    type('y', 'Enter');
    const ended = await shows('ended with');
    expect(ended).toContain('ended with 0');
    expect(ended).not.toContain('correct');
    expect(await posted()).toBe(1);
  },
);

if (hasTmux)
  long('Ctrl-Z while a secret is typed changes nothing: what follows is not shown (skipped without tmux)', async () => {
    const [folder, state] = [temporaryFolder(), temporaryFolder()];
    const { evm } = writeKeys(folder);
    const env = { SOTRA_CONFIG_DIR: state, SOTRA_DATA_DIR: state };
    const { type, shows } = terminal(`key import k --key-file ${evm}`, env, folder);
    await shows('Password to encrypt the key with (not shown):');
    type('C-z');
    type('-l', 'typed-secret');
    type('C-c');
    expect(await shows('ended with 130')).not.toContain('typed-secret');
  });

/** Times and ages change between two runs; on a terminal the note of a table is below it. */
const still = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?Z/g, 'TIME')
    .replaceAll(/ +$/gm, '')
    .replaceAll(/\n?\d+ columns? hidden, see --\w+(?=\n|$)/g, '')
    .trimEnd();

test.skipIf(!hasTmux).each([
  ['--sandbox leaderboard list --limit 8 --chart', 140],
  ['--sandbox position get 6527ff56-9ac0-5c42-812c-d84aa9a0cf53', 60],
  ['--help', 80],
])('%s shows on a real terminal of %i columns what it writes (skipped without tmux)', async (argv, width) => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const shown = (await terminal(argv, env, folder, width).shows('ended with')).split('ended with')[0] ?? '';
  const { out, err } = await run(argv, { env, tty: width });
  expect(still(shown)).toBe(still(out + err));
});

test.skipIf(!hasTmux).each<[argv: string, env: Record<string, string>, isColored: boolean]>(
  some(
    [
      ['', {}, true],
      ['', { NO_COLOR: '' }, true],
      ['', { TERM: 'dumb' }, false],
      ['--no-color', {}, false],
      ['', { NO_COLOR: '1' }, false],
      ['', { FORCE_COLOR: '0' }, false],
      ['', { CI: 'true' }, true],
      ['| cat', {}, false],
      ['--format table | cat', { FORCE_COLOR: '1' }, true],
    ],
    2,
  ),
)('a board %s with %j in the environment is colored: %s (skipped without tmux)', async (argv, more, isColored) => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, ...more };
  const shown = await terminal(`--sandbox leaderboard list --limit 2 ${argv}`, env, folder).shows('ended with', '-e');
  expect(/\u001b\[[\d;]*m/.test(shown)).toBe(isColored);
});
