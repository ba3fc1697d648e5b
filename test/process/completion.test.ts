import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandTree } from '../../scripts/completions/tree.ts';
import { run } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';
import { some } from '../support/size.ts';
import { keystore } from '../support/traders.ts';

interface Place {
  folder: string;
  script: string;
  env: Record<string, string>;
  lines: Lines;
}

const folder = mkdtempSync(join(tmpdir(), 'sotra-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The completion script of a shell, in a folder that all of them share. */
async function prepare(shell: string): Promise<Place> {
  prepared ??= prepareFolder();
  const script = join(folder, `_sotra.${shell}`);
  writeFileSync(script, (await run(`completion ${shell}`)).out);
  return { ...(await prepared), script };
}

let prepared: Promise<Omit<Place, 'script'>> | undefined;

/** The program as `sotra`, and settings with an alias, a context and a key. */
async function prepareFolder(): Promise<Omit<Place, 'script'>> {
  const program = join(folder, 'sotra');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${process.cwd()}/bin/sotra.js' "$@"\n`);
  chmodSync(program, 0o755);
  const settings = {
    contexts: { staging: { baseUrl: 'https://staging.example.com' } },
    aliases: { whale: '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2' },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings));
  mkdirSync(join(folder, 'keys'));
  writeFileSync(join(folder, 'keys', 'trader.json'), JSON.stringify(keystore));
  const path = `${folder}:${process.env['PATH']}`;
  const stored = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  return {
    folder,
    env: { PATH: path, HOME: folder, ...stored, LC_ALL: 'C.UTF-8', TERM: 'xterm' },
    lines: some(fixedLines, 10),
  };
}

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** What is typed, and what must be among what is offered for its last word. */
type Lines = readonly [typed: string, offered: string][];

const fixedLines: Lines = [
  ['sotra lead', 'leaderboard'],
  ['sotra leaderboard ra', 'rank'],
  ['sotra context rem', 'remove'],
  ['sotra --sandbox leaderboard li', 'list'],
  ['sotra leaderboard list --timef', '--timeframe'],
  ['sotra leaderboard list --dry', '--dry-run'],
  ['sotra leaderboard list --chains sol', 'solana'],
  ['sotra leaderboard list --chains solana,ba', 'base'],
  ['sotra leaderboard list --timeframe=3', '30d'],
  ['sotra leaderboard list --columns pnlUsd,hasC', 'hasComments'],
  ['sotra --format nd', 'ndjson'],
  ['sotra completion fi', 'fish'],
  ['sotra profile get @wh', '@whale'],
  ['sotra leaderboard rank --timeframe 7d @wh', '@whale'],
  ['sotra --context sta', 'staging'],
  ['sotra context use click', 'clicker'],
  ['sotra comment post --key tra', 'trader'],
  ['sotra comment sign --key=tra', 'trader'],
  ['sotra key remove tra', 'trader'],
  ['sotra feed home --wat', '--watch'],
  ['sotra leaderboard list --rat', '--rate'],
];

/** Nothing twice, and of names that others gave only those in which no shell reads anything. */
function expectDistinct(typed: string, words: readonly string[]): void {
  expect([typed, words]).toEqual([typed, [...new Set(words)]]);
}

test.skipIf(!has('bash'))('bash completes commands, flags, values, lists, contexts and aliases', async () => {
  const { folder, script, env, lines } = await prepare('bash');
  const driver = join(folder, 'driver.bash');
  writeFileSync(
    driver,
    `source '${script}'
    COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
    while IFS= read -r COMP_LINE; do
      COMP_POINT=\${#COMP_LINE}
      _sotra
      echo "\${COMPREPLY[*]}"
    done`,
  );
  const { stdout, stderr } = spawnSync('bash', ['--norc', driver], {
    env,
    encoding: 'utf8',
    input: lines.map(([typed]) => `${typed}\n`).join(''),
  });
  expect(stderr).toBe('');
  const offers = stdout.split('\n');
  for (const [index, [typed, offered]] of lines.entries()) {
    // readline keeps what stands before its last break, so of --flag=value only the value is offered.
    const words = (offers[index] ?? '').split(' ').map((word) => word.replace(/^.*,/, ''));
    expect([typed, words]).toEqual([typed, expect.arrayContaining([offered])]);
    expectDistinct(typed, words);
  }
});

test.skipIf(!has('fish'))('fish completes commands, flags, values, lists, contexts and aliases', async () => {
  const { folder, script, env, lines } = await prepare('fish');
  const driver = join(folder, 'driver.fish');
  const ask = lines.map(([typed], index) => `echo "line ${index}"; complete -C '${typed}'`).join('\n');
  writeFileSync(driver, `source '${script}'\n${ask}\n`);
  const { stdout, stderr } = spawnSync('fish', ['--no-config', driver], { env, encoding: 'utf8' });
  expect(stderr).toBe('');
  const offers = stdout.split(/line \d+\n/).slice(1);
  for (const [index, [typed, offered]] of lines.entries()) {
    const words = (offers[index] ?? '').split('\n').map((line) => (line.split('\t')[0] ?? '').replace(/^.*[,=]/, ''));
    expect([typed, words]).toEqual([typed, expect.arrayContaining([offered])]);
    expectDistinct(typed, words);
  }
});

test.skipIf(!has('zsh'))('zsh completes commands, flags, values, lists, contexts and aliases', async () => {
  const { folder, script, env, lines } = await prepare('zsh');
  const [driver, typed, shown] = [join(folder, 'driver.zsh'), join(folder, 'typed'), join(folder, 'shown')];
  writeFileSync(typed, lines.map(([line]) => `${line}\n`).join(''));
  writeFileSync(
    driver,
    `zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "autoload -U compinit; compinit -u -d '${folder}/dump'; source '${script}'"
    zpty -w shell 'show() { print -r -- "$BUFFER" >>${shown}; BUFFER="" }; zle -N show; bindkey "^Xz" show; : >${shown}'
    until [[ -e ${shown} ]]; do zpty -r -t shell >/dev/null; sleep 0.05; done
    count=0
    while IFS= read -r line; do
      zpty -w -n shell "$line"$'\\t'$'\\x18z'
      (( count++ ))
      until (( $(wc -l <${shown}) >= count )); do zpty -r -t shell >/dev/null; sleep 0.02; done
    done <${typed}
    cat ${shown}`,
  );
  const { stdout } = spawnSync('zsh', ['-f', driver], { env, encoding: 'utf8', timeout: 50_000 });
  const completed = stdout.split('\n');
  for (const [index, [line, offered]] of lines.entries()) {
    const word = (completed[index] ?? '').replace(/[\s,]+$/, '').replace(/^.*[\s,=]/, '');
    expect([line, word]).toEqual([line, offered]);
  }
});

test('everything the program takes is offered, and no flag is a yes/no flag in one place and takes a value in another', async () => {
  const { nodes, globals, valued } = commandTree(outlines);
  const flags = [...globals, ...nodes.flatMap((node) => node.flags)];
  const both = flags.filter(({ flag, takesValue }) => !takesValue && valued.includes(flag));
  expect(both).toEqual([]);
  for (const { words } of outlines) expect(nodes.map(({ path }) => path)).toContain(words.join(' '));
  const rank = nodes.find(({ path }) => path === 'leaderboard rank');
  expect(rank?.arguments).toEqual([{ values: [], file: false, list: false, names: 'aliases' }]);
});
