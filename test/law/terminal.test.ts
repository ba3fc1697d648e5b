import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { colorLevel } from '../../src/lib/io.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const widths = [60, 80, 140] as const;
const now = Date.UTC(2026, 10, 20, 12);

/** What is looked at again whenever it changes: each is kept as it stood on a terminal of three widths. */
const screens = {
  leaderboard: '--sandbox leaderboard list --limit 8',
  chart: '--sandbox leaderboard list --limit 8 --chart',
  position: '--sandbox position get 6527ff56-9ac0-5c42-812c-d84aa9a0cf53',
  help: '--help',
  'help-command': 'leaderboard rank --help',
  error: 'leaderboard list --timeframe 7',
} as const;

test.each(Object.entries(screens))('%s at 60, 80 and 140 columns is what was looked at', async (name, argv) => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  for (const tty of widths) {
    const { out, err } = await run(argv, { env, tty, now });
    await expect(out + err).toMatchFileSnapshot(`screens/${name}-${tty}.txt`);
  }
});

/** What stands on a terminal of that width when the command line has ended, with the escape codes of its colors. */
async function capture(argv: string, width: number, env: Readonly<Record<string, string>>): Promise<string> {
  const socket = join(temporaryFolder(), 'tmux');
  const tmux = (...words: string[]) => spawnSync('tmux', ['-S', socket, ...words], { encoding: 'utf8' }).stdout;
  const set = Object.entries(env).map(([key, value]) => `${key}='${value}'`);
  const command = `env -u NO_COLOR -u FORCE_COLOR -u CI ${set.join(' ')} ${process.execPath} bin/sotra.js ${argv}; echo "ended with $?"; cat`;
  onTestFinished(() => void tmux('kill-server'));
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(width), '-y', '70', command);
  for (;;) {
    const shown = tmux('capture-pane', '-p', '-e', '-J', '-S', '-200');
    const end = shown.indexOf('ended with');
    if (end !== -1) return shown.slice(0, end);
    await delay(25);
  }
}

const colors = /\u001b\[[\d;]*m/g;
/** Moments and ages go on between two looks. */
const still = (text: string) =>
  text
    .replaceAll(colors, '')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?Z/g, 'TIME')
    .replaceAll(/ +$/gm, '')
    .trimEnd();

test.skipIf(!hasTmux)('a real terminal shows the same (skipped without tmux)', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder(), SOTRA_CONFIG_DIR: temporaryFolder() };
  for (const argv of some(Object.values(screens), 1))
    for (const width of some(widths, 1)) {
      const shown = await capture(argv, width, env);
      const { out, err } = await run(argv, { env, tty: width });
      // On a terminal a note stands where it was written, below its table.
      const tables = (text: string) => still(text).replaceAll(/\n?\d+ columns? hidden, see --\w+(?=\n|$)/g, '');
      expect([argv, width, tables(shown)]).toEqual([argv, width, tables(out + err)]);
    }
});

test.skipIf(!hasTmux)('colors follow the terminal, NO_COLOR, FORCE_COLOR, TERM and --no-color', async () => {
  const data = { SOTRA_DATA_DIR: temporaryFolder(), SOTRA_CONFIG_DIR: temporaryFolder() };
  const colored = async (argv: string, env: Record<string, string>) =>
    colors.test(await capture(`--sandbox leaderboard list --limit 2 ${argv}`, 80, { ...data, ...env }));
  const cases: readonly [argv: string, env: Record<string, string>, isColored: boolean][] = [
    ['', {}, true],
    ['', { NO_COLOR: '' }, true],
    ['', { TERM: 'dumb' }, false],
    ['--no-color', {}, false],
    ['', { NO_COLOR: '1' }, false],
    ['', { CI: 'true' }, true],
    ['', { NO_COLOR: '1', FORCE_COLOR: '1' }, true],
    ['', { FORCE_COLOR: '0' }, false],
    ['| cat', {}, false],
    ['--format table | cat', { FORCE_COLOR: '1' }, true],
  ];
  for (const [argv, env, isColored] of some(cases, 1))
    expect([argv, env, await colored(argv, env)]).toEqual([argv, env, isColored]);
});

test.each([
  [{}, true, 8, 2],
  [{}, false, 8, 0],
  [{ CLICOLOR_FORCE: '1' }, false, 1, 1],
  [{ CLICOLOR_FORCE: '0' }, false, 8, 0],
  [{ CLICOLOR_FORCE: '1', TERM: 'dumb' }, true, 8, 2],
  [{ CLICOLOR_FORCE: '1', NO_COLOR: '1' }, true, 8, 0],
  [{ CLICOLOR_FORCE: '1', FORCE_COLOR: '0' }, true, 8, 0],
  [{ CLICOLOR: '0' }, true, 8, 0],
  [{ CLICOLOR: '0', CLICOLOR_FORCE: '1' }, false, 24, 3],
])('with %j, terminal %s and %d bits the level is %d', (env, isTTY, depth, level) => {
  expect(colorLevel(env, isTTY, depth)).toBe(level);
});
