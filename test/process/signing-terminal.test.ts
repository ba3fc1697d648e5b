import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../support/harness.ts';
import { degen, swaps, tradersWorld } from '../support/traders.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** A command in a real terminal of its own; `shows` waits until its screen holds a text and gives the screen. */
function terminal(argv: readonly string[], env: Record<string, string>, socket: string) {
  const tmux = (...words: string[]) => spawnSync('tmux', ['-S', socket, ...words], { encoding: 'utf8' }).stdout;
  const quoted = argv.map((word) => `'${word}'`).join(' ');
  const set = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const command = `${set.join(' ')} ${process.execPath} bin/sotra.js ${quoted}; echo "ended with $?"; cat`;
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', '120', '-y', '40', command);
  onTestFinished(() => void tmux('kill-server'));
  const screen = () => tmux('capture-pane', '-p', '-J', '-S', '-200');
  return {
    type: (...keys: string[]) => void tmux('send-keys', ...keys),
    shows: async (text: string): Promise<string> => {
      for (;;) {
        const now = screen();
        if (now.includes(text)) return now;
        await delay(50);
      }
    },
  };
}

describe.skipIf(!hasTmux)('on a real terminal (skipped without tmux)', () => {
  const password = 'correct horse';

  async function world() {
    const { env, folder, keys } = await tradersWorld();
    const words = ['key', 'import', 'trader', '--key-file', keys.evm, '--password-file', keys.password];
    expect((await run(words, { env })).code).toBe(0);
    const post = ['--sandbox', 'comment', 'post', '--chain', 'base', '--tx', swaps.good, '--token', degen];
    const posted = async () => {
      const list = ['--sandbox', 'comment', 'list', swaps.good, '--chain', 'base', '--json'];
      return JSON.parse((await run(list, { env })).out)[swaps.good].comments.length;
    };
    return { env, socket: join(folder, 'tmux'), argv: [...post, '--text', 'gm frens', '--key', 'trader'], posted };
  }

  test('the password is asked for without echo, the text shown, a yes asked for, and the comment posted', async () => {
    const { env, socket, argv, posted } = await world();
    const { type, shows } = terminal(argv, env, socket);
    await shows('Password of key trader (not shown):');
    type('-l', password);
    type('Enter');
    const asked = await shows('Post this comment to the sandbox? [y/N]');
    expect(asked).toContain('5  Comment: | gm frens');
    expect(await posted()).toBe(0);
    type('y', 'Enter');
    const ended = await shows('ended with');
    expect(ended).toContain('ended with 0');
    expect(ended).not.toContain(password);
    expect(ended).not.toContain('correct');
    expect(await posted()).toBe(1);
  });

  test('Ctrl-C at the password, and at the question, leaves 130 and nothing sent', async () => {
    const { env, socket, argv, posted } = await world();
    const first = terminal(argv, env, `${socket}-1`);
    await first.shows('Password of key trader (not shown):');
    first.type('-l', 'correct');
    first.type('C-c');
    const ended = await first.shows('ended with');
    expect(ended).toContain('ended with 130');
    expect(ended).not.toContain('correct');
    const second = terminal(argv, env, `${socket}-2`);
    await second.shows('Password of key trader (not shown):');
    second.type('-l', password);
    second.type('Enter');
    await second.shows('Post this comment to the sandbox? [y/N]');
    second.type('C-c');
    expect(await second.shows('ended with')).toContain('ended with 130');
    expect(await posted()).toBe(0);
  });
});
