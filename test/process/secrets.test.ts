import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { encodeBase58 } from '../../src/api/address.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { apiKey, canaryWorld, evmKey, pair, password, secretsIn, strayIn } from '../support/hostile/canaries.ts';
import { start } from '../support/processes.ts';
import { some } from '../support/size.ts';
import { degen, swaps } from '../support/traders.ts';
import { until } from '../support/until.ts';

/** Whether other processes can be looked at. */
const canLook = existsSync('/proc/self/cmdline');

/** Processes that ran before are not ours, and reading all of them takes long. */
const older = new Set(canLook ? readdirSync('/proc') : []);

interface Process {
  pid: number;
  line: string;
  environment: string;
}

/** The processes with that variable: all that a command started, also detached ones. */
function processesWith(marker: string): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (older.has(name) || !/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      return environment.includes(marker) ? [{ pid: Number(name), line, environment }] : [];
    } catch {
      // It ended meanwhile, or belongs to somebody else.
      return [];
    }
  });
}

const swap = `--chain base --tx ${swaps.good} --token ${degen} --text gm --service-name Example`;

/** Command lines (`@` is the folder of the user's files), the processes that must be seen, and stdin; `lasts`: it is ended once it was seen. */
const cases: readonly { argv: string; seen: readonly string[]; stdin?: string; lasts?: true }[] = [
  { argv: `comment sign ${swap} --key-stdin`, seen: ['comment sign'], stdin: evmKey },
  {
    argv: 'sandbox start --detach --port 0 --ready-file @ready',
    seen: ['start --detach', 'start --port 0 --ready-file'],
  },
  { argv: `comment post ${swap} --key-env CANARY_KEY --verbose`, seen: ['comment post'] },
  {
    argv: 'auth login --context spare --with-key --offline --store file',
    seen: ['auth login'],
    stdin: apiKey,
  },
  { argv: 'webhook list --show-secrets', seen: ['webhook list'] },
  {
    argv: 'webhook listen --port 0 --secret-file @hook.secret --forward-to http://127.0.0.1:9/hook',
    seen: ['webhook listen'],
    lasts: true,
  },
];

test.skipIf(!canLook).each(some(cases, 2))(
  'no process of $argv has a secret in its line, and none that goes on has the key',
  async ({ argv, seen, stdin = '', lasts }) => {
    const world = await canaryWorld();
    const marker = `CANARY_TREE=${process.pid}-${argv.length}-${Date.now()}`;
    const [name = '', value = ''] = marker.split('=');
    const words = argv.replaceAll('@', world.input('')).split(' ');
    const child = spawn(process.execPath, ['bin/sotra.js', ...words], {
      env: { ...world.env, PATH: process.env['PATH'], [name]: value },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    onTestFinished(() => {
      for (const { pid } of processesWith(marker)) process.kill(pid, 'SIGKILL');
    });
    const found = new Map<string, Process>();
    const look = () => {
      for (const each of processesWith(marker)) found.set(each.line, each);
      return seen.every((word) => [...found.keys()].some((line) => line.includes(word)));
    };
    const ended = new Promise((resolve) => child.once('close', resolve));
    await until(look, `${seen}`);
    // It gets its stdin once its processes were seen.
    child.stdin.end(stdin);
    if (lasts) child.kill();
    await ended;
    look();
    expect([...found.keys()].filter((line) => secretsIn(line).length > 0)).toEqual([]);
    const left = processesWith(marker);
    expect(left).toHaveLength(argv.includes('--detach') ? 1 : 0);
    expect(left.filter(({ environment }) => environment.includes('SOTRA_API_KEY='))).toEqual([]);
  },
);

/** Lines with a secret, up to the place of completion; each makes the shell run the program. */
const typed: readonly string[] = [
  `SOTRA_API_KEY='${apiKey}' sotra --context sta`,
  `OTHER=1 SOTRA_API_KEY=${evmKey} sotra profile get @wha`,
  `echo '${apiKey}' | sotra auth login --with-key --context sta`,
  `sotra comment sign --text '${password}' --key ${encodeBase58(pair)} --context sta`,
  `sotra key import ${evmKey} --context=sta`,
];

const onTerminal = { keys: (line: string) => `\x15${line}\t`, end: '\x15exit\r' };
const prompt = 'ready> ';

/** How each shell is started and set up, the keys that complete a line, and those that end it. */
const shells = {
  // On a terminal of its own, so that readline finds and cuts the line.
  bash: {
    ...onTerminal,
    argv: ['script', '-qec', 'bash --norc -i', '/dev/null'],
    setUp: `source "$SCRIPT"; PS1='rea''dy> '\r`,
  },
  zsh: {
    ...onTerminal,
    argv: ['script', '-qec', 'zsh -f -i', '/dev/null'],
    setUp: `autoload -U compinit; compinit -u; source "$SCRIPT"; PS1='rea''dy> '\r`,
  },
  fish: {
    argv: ['fish', '--no-config', '-c', `source $SCRIPT; echo '${prompt}'; while read -l line; complete -C $line; end`],
    setUp: '',
    keys: (line: string) => `${line}\n`,
    end: '',
  },
};

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

for (const [name, { argv, setUp, keys, end }] of some(Object.entries(shells), 1))
  test.skipIf(!canLook || !has(name) || !has('script'))(
    `a secret in the line that ${name} completes shows in no process and is written nowhere`,
    async () => {
      const world = await canaryWorld();
      await run('alias set whale 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', { env: world.env });
      const at = (file: string) => join(world.outputs, file);
      for (const folder of ['home', 'tmp']) mkdirSync(at(folder));
      writeFileSync(at('script'), (await run(`completion ${name}`)).out);
      // The program that the shell finds; it logs how it was called and by which process.
      const bin = temporaryFolder();
      const [program, log] = [join(bin, 'sotra'), join(bin, 'calls')];
      const look = "{ cat /proc/$$/cmdline /proc/$$/environ /proc/$PPID/cmdline | tr '\\0\\n' '  '; echo; }";
      writeFileSync(
        program,
        `#!/bin/sh\n${look} >>'${log}'\nexec '${process.execPath}' '${process.cwd()}/bin/sotra.js' "$@"\n`,
      );
      chmodSync(program, 0o700);
      writeFileSync(log, '');
      const calls = () => readFileSync(log, 'utf8').split('\n').slice(0, -1);
      const written: string[] = [];
      const watcher = watch(at('tmp'), (_, file) => written.push(file ?? ''));
      onTestFinished(() => watcher.close());
      const { SOTRA_CONFIG_DIR, SOTRA_DATA_DIR } = world.env;
      const [first = '', ...words] = argv;
      const child = spawn(first, words, {
        env: {
          PATH: `${bin}:${process.env['PATH']}`,
          HOME: at('home'),
          TMPDIR: at('tmp'),
          SCRIPT: at('script'),
          SOTRA_CONFIG_DIR,
          SOTRA_DATA_DIR,
          // As users export it in their profile.
          SOTRA_API_KEY: apiKey,
          LC_ALL: 'C.UTF-8',
          TERM: 'xterm',
          // As bash did it before 5.1.
          BASH_COMPAT: '50',
        },
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let shown = '';
      child.stdout.on('data', (text) => (shown += text));
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin.write(setUp);
      await until(() => shown.includes(prompt), 'the prompt');
      for (const [index, line] of typed.entries()) {
        child.stdin.write(keys(line));
        await until(
          () => calls().length > index,
          () => `${line}: ${shown}`,
        );
      }
      child.stdin.end(end);
      await ended;
      writeFileSync(at('tmp/end'), '');
      await until(() => written.includes('end'), 'the watcher');
      const list = /(context list --columns name|alias list --columns alias) /;
      expect(calls().map((call) => list.test(call))).toEqual(typed.map(() => true));
      expect(calls().filter((call) => secretsIn(call).length > 0)).toEqual([]);
      expect(written.filter((file) => file.startsWith('sh-thd'))).toEqual([]);
      // zsh keeps a list of all its functions, and some are named like words of the recovery phrase, which nobody typed.
      expect(strayIn(world).filter(({ holds }) => `${holds}` !== 'recovery phrase')).toEqual([]);
    },
  );

test('the browser that --open starts gets the environment without the API key', async () => {
  const folder = temporaryFolder();
  const [program, told] = [join(folder, 'program'), join(folder, 'told')];
  writeFileSync(program, `#!/bin/sh\nenv > ${told}.part && mv ${told}.part ${told}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'secret'), 'whsec_test\n', { mode: 0o600 });
  const own = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const { child, ended, printed } = start(
    ['webhook', 'listen', '--port', '0', '--ui', '--open', '--secret-file', join(folder, 'secret')],
    { ...own, SOTRA_API_KEY: 'key-of-ours', BROWSER: program, OTHER: 'kept' },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(
    () => existsSync(told),
    () => `the browser: ${printed.err}`,
  );
  child.kill('SIGTERM');
  await ended;
  expect(readFileSync(told, 'utf8')).toContain('OTHER=kept');
  expect(readFileSync(told, 'utf8')).not.toContain('key-of-ours');
});
