import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { apiKey, canaryWorld, evmKey, secretsIn } from '../support/hostile/canaries.ts';
import { canLook, type Process, processesWith } from '../support/process-tree.ts';
import { some } from '../support/size.ts';
import { degen, swaps } from '../support/traders.ts';

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
