import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { encodeBase58 } from '../../src/api/address.ts';
import { run } from '../support/harness.ts';
import {
  apiKey,
  type CanaryWorld,
  canaryWorld,
  evmKey,
  namedSecret,
  pair,
  password,
  secretsIn,
  webhookSecret,
} from '../support/hostile/canaries.ts';
import { strayIn } from '../support/hostile/canary-commands.ts';
import { some } from '../support/size.ts';
import { degen, swaps } from '../support/traders.ts';

interface Process {
  pid: number;
  line: string;
  environment: string;
}

/** Whether other processes can be looked at as these tests do it. */
const canLook = existsSync('/proc/self/cmdline');

/** Those that ran before the tests are of somebody else; to read about all of them again and again takes long. */
const older = new Set(canLook ? readdirSync('/proc') : []);

/** The processes that carry a variable of that value: all that a command started, also those that it let go. */
function processesWith(marker: string): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (older.has(name) || !/^\d+$/.test(name)) return [];
    try {
      // The line first: what runs by then has its own environment, and not that of the shell whose place it took.
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      if (!environment.includes(marker)) return [];
      return [{ pid: Number(name), line, environment }];
    } catch {
      // It ended meanwhile, or belongs to somebody else.
      return [];
    }
  });
}

interface Case {
  argv: readonly string[];
  stdin?: string;
  /** What the user waits for before he ends it; a command without it ends by itself. */
  until?: () => boolean;
  /** A word of each process line that must have been seen. */
  seen: readonly string[];
}

test.skipIf(!canLook)('no process of ours, while it runs, has a secret in its line', async () => {
  const world = await canaryWorld();
  const swap = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', 'gm', '--service-name', 'Example'];
  const at = (name: string) => join(world.outputs, name);
  const sotra = (...argv: string[]) => [process.execPath, 'bin/sotra.js', ...argv];
  const cases: readonly Case[] = [
    { argv: sotra('comment', 'sign', ...swap, '--key-stdin'), stdin: evmKey, seen: ['comment sign'] },
    { argv: sotra('comment', 'post', ...swap, '--key-env', 'CANARY_KEY', '--verbose'), seen: ['comment post'] },
    {
      argv: sotra('auth', 'login', '--context', 'spare', '--with-key', '--offline', '--store', 'file'),
      stdin: apiKey,
      seen: ['auth login'],
    },
    {
      argv: sotra('key', 'import', 'again', '--key-env', 'CANARY_KEY', '--password-file', world.input('password')),
      seen: ['key import'],
    },
    { argv: sotra('webhook', 'list', '--show-secrets'), seen: ['webhook list'] },
    {
      argv: sotra('webhook', 'listen', '--port', '0', '--secret-file', world.input('hook.secret')).concat(
        '--forward-to',
        `${world.service.url}/hook`,
        '--ready-file',
        at('listening.json'),
      ),
      until: () => existsSync(at('listening.json')),
      seen: ['webhook listen'],
    },
    {
      argv: sotra('feed', 'actor', '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', '--watch', '1s'),
      until: () => world.service.requests.some(({ url }) => url.startsWith('/v1/feed/actor')),
      seen: ['feed actor'],
    },
    {
      argv: sotra('sandbox', 'start', '--detach', '--port', '0', '--ready-file', at('ready.json')),
      seen: ['sandbox start --detach', 'sandbox start --port 0 --ready-file'],
    },
  ];
  for (const [index, { argv, stdin, until, seen }] of some(cases, 2).entries()) {
    const marker = `CANARY_TREE=${process.pid}-${index}-${Date.now()}`;
    const [name = '', value = ''] = marker.split('=');
    const found = new Map<string, Process>();
    const look = () => {
      for (const each of processesWith(marker)) found.set(each.line, each);
    };
    onTestFinished(() => {
      for (const { pid } of processesWith(marker)) process.kill(pid, 'SIGKILL');
    });
    const [program = '', ...words] = argv;
    const env = { ...world.env, PATH: process.env['PATH'], [name]: value };
    const child = spawn(program, words, { env });
    let shown = '';
    child.stdout.on('data', (text) => (shown += text));
    child.stderr.on('data', (text) => (shown += text));
    let timer: NodeJS.Timeout | undefined;
    const code = await new Promise((resolve) => {
      child.on('close', resolve);
      timer = setInterval(() => {
        look();
        const isSeen = seen.every((word) => [...found.keys()].some((line) => line.includes(word)));
        // What it waits for comes once others have seen it.
        if (isSeen && !child.stdin.writableEnded) child.stdin.end(stdin ?? '');
        if (until?.() && isSeen && !child.killed) child.kill();
      }, 5);
    });
    clearInterval(timer);
    look();
    expect([argv, code, [0, 143, 130].includes(Number(code)) ? '' : shown]).toEqual([argv, expect.any(Number), '']);
    const lines = [...found.keys()];
    for (const word of seen) expect([argv, lines.filter((line) => line.includes(word))]).not.toEqual([argv, []]);
    expect([argv, lines.filter((line) => secretsIn(line).length > 0)]).toEqual([argv, []]);
    // What goes on behind the user's back keeps no key that it does not need.
    const left = processesWith(marker);
    expect([argv, left.length]).toEqual([argv, argv.includes('--detach') ? 1 : 0]);
    expect(left.filter(({ environment }) => environment.includes('SOTRA_API_KEY='))).toEqual([]);
  }
});

/** What somebody types who has a secret in the line, up to where he asks for completion; all of them make the program be asked. */
const typed: readonly string[] = some(
  [
    `SOTRA_API_KEY='${apiKey}' sotra --context sta`,
    `OTHER=1 SOTRA_API_KEY=${evmKey} sotra profile get @wha`,
    `echo '${apiKey}' | sotra auth login --with-key --context sta`,
    `sotra comment sign --key-file ${evmKey} --context sta`,
    `sotra comment sign --text '${password}' --key ${encodeBase58(pair)} --context sta`,
    `sotra webhook verify --secret-file ${webhookSecret} --header=${namedSecret} --context sta`,
    `sotra feed actor --cursor ${namedSecret} @wha`,
    `sotra key import ${evmKey} --context=sta`,
  ],
  2,
);

interface Shell {
  /** What it is started with. */
  argv: readonly string[];
  /** What it is told first. Its prompt is there once it reads key by key. */
  setUp: string;
  /** The keys that make it complete a line. */
  keys: (line: string) => string;
  end: string;
}

const prompt = 'ready> ';
const onTerminal = {
  setUp: `source "$SCRIPT"; PS1='rea''dy> '\r`,
  keys: (line: string) => `\x15${line}\t`,
  end: '\x15exit\r',
};

const shells: Readonly<Record<string, Shell>> = {
  // On a terminal of its own, so that the line is found and cut by readline itself.
  bash: { ...onTerminal, argv: ['script', '-qec', 'bash --norc -i', '/dev/null'] },
  zsh: {
    ...onTerminal,
    argv: ['script', '-qec', 'zsh -f -i', '/dev/null'],
    setUp: `autoload -U compinit; compinit -u; ${onTerminal.setUp}`,
  },
  fish: {
    argv: ['fish', '--no-config', '-c', `source $SCRIPT; echo '${prompt}'; while read -l line; complete -C $line; end`],
    setUp: '',
    keys: (line) => `${line}\n`,
    end: '',
  },
};

function has(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

/** The program as the shell finds it, which writes down how it was called and by whom before it goes on. */
function witness(folder: string): { path: string; calls: () => string[] } {
  const [program, log] = [join(folder, 'sotra'), join(folder, 'calls')];
  const look = "{ cat /proc/$$/cmdline /proc/$$/environ /proc/$PPID/cmdline | tr '\\0\\n' '  '; echo; }";
  const start = `exec '${process.execPath}' '${process.cwd()}/bin/sotra.js' "$@"`;
  writeFileSync(program, `#!/bin/sh\n${look} >>'${log}'\n${start}\n`);
  chmodSync(program, 0o700);
  writeFileSync(log, '');
  return { path: folder, calls: () => readFileSync(log, 'utf8').split('\n').slice(0, -1) };
}

/** Types all lines in a shell and asks it to complete each; every process that ran meanwhile, and what the shell showed. */
async function complete(
  { argv, setUp, keys, end }: Shell,
  name: string,
  world: CanaryWorld,
  path: string,
  asked: () => number,
) {
  const at = (file: string) => join(world.outputs, file);
  for (const folder of ['home', 'tmp']) mkdirSync(at(folder));
  writeFileSync(at('script'), (await run(`completion ${name}`)).out);
  const marker = `${process.pid}-${name}-${Date.now()}`;
  const written: string[] = [];
  const watcher = watch(at('tmp'), (_, file) => written.push(file ?? ''));
  onTestFinished(() => {
    watcher.close();
    for (const { pid } of processesWith(marker)) process.kill(pid, 'SIGKILL');
  });
  const { SOTRA_CONFIG_DIR = '', SOTRA_DATA_DIR = '' } = world.env;
  const env = {
    PATH: `${path}:${process.env['PATH']}`,
    HOME: at('home'),
    TMPDIR: at('tmp'),
    SCRIPT: at('script'),
    SOTRA_CONFIG_DIR,
    SOTRA_DATA_DIR,
    // As the user has it in his profile.
    SOTRA_API_KEY: apiKey,
    CANARY_TREE: marker,
    LC_ALL: 'C.UTF-8',
    TERM: 'xterm',
    // As bash did it before 5.1.
    BASH_COMPAT: '50',
  };
  const [program = '', ...words] = argv;
  const child = spawn(program, words, { env });
  const found: Process[] = [];
  let shown = '';
  child.stdout.on('data', (text) => (shown += text));
  child.stderr.on('data', (text) => (shown += text));
  child.stdin.write(setUp);
  await new Promise<void>((resolve) => {
    let next = 0;
    const timer = setInterval(() => {
      found.push(...processesWith(marker));
      if (!shown.includes(prompt) || asked() < next || child.stdin.writableEnded) return;
      const line = typed[next];
      if (line === undefined) child.stdin.end(end);
      else child.stdin.write(keys(line));
      next += 1;
    }, 5);
    onTestFinished(() => clearInterval(timer));
    child.on('close', () => {
      clearInterval(timer);
      resolve();
    });
  });
  writeFileSync(at('tmp/end'), '');
  await expect.poll(() => written).toContain('end');
  return { found, shown, written };
}

for (const [name, shell] of some(Object.entries(shells), 1))
  test.skipIf(!canLook || !has(name) || !has('script'))(
    `a secret in the line that ${name} completes shows in no process and is written nowhere`,
    async () => {
      const world = await canaryWorld();
      await run('alias set whale 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', { env: world.env });
      const { path, calls } = witness(world.input(''));
      const { found, shown, written } = await complete(shell, name, world, path, () => calls().length);
      const asked = calls();
      expect([asked.length, shown]).toEqual([typed.length, expect.any(String)]);
      expect(asked.filter((call) => /(context list --columns name|alias list --columns alias) /.test(call))).toEqual(
        asked,
      );
      expect(asked.filter((call) => secretsIn(call).length > 0)).toEqual([]);
      const ours = found.filter(({ line }) => line.includes('bin/sotra.js'));
      expect(ours.length).toBeGreaterThan(0);
      expect(ours.filter(({ environment }) => secretsIn(environment).length > 0)).toEqual([]);
      expect(found.filter(({ line }) => secretsIn(line).length > 0)).toEqual([]);
      expect(written.filter((name) => name.startsWith('sh-thd'))).toEqual([]);
      // zsh keeps a list of all its functions, and some are named like words of the recovery phrase, which nobody typed.
      expect(strayIn(world).filter(({ holds }) => `${holds}` !== 'recovery phrase')).toEqual([]);
    },
  );
