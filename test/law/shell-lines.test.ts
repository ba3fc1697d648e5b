import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { curlLine } from '../../src/client/preview.ts';
import { shellLine } from '../../src/client/shell.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { naughty } from '../support/hostile/corpus.ts';

/** What a service may call its webhooks, or give as a cursor. */
const hostile = [
  '$(touch$IFS./ran)',
  '`touch ran`',
  "'; touch ran; '",
  '"; touch ran; "',
  'a\ntouch ran\n',
  'a\r\ntouch ran',
  'a & touch ran',
  'a > ran',
  '!touch',
  '~root',
  '{a,b}',
  '=ls',
  '*',
  '\\',
  "\\'",
  'x\u009b2Jy\u202ez',
];

const shells = ['bash', 'zsh', 'ksh'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

/** What a shell passes to a program for the words of a line, and whether anything ran. */
function wordsOf(line: string, shell: string): string[] {
  const cwd = temporaryFolder();
  const { stdout, stderr } = spawnSync(shell, ['-c', `show() { printf '%s\\0' "$@"; }\nshow ${line}`], {
    cwd,
    encoding: 'utf8',
  });
  expect([line, stderr, existsSync(join(cwd, 'ran'))]).toEqual([line, '', false]);
  return stdout.split('\0').slice(0, -1);
}

const isWord = (text: string) => !/\0|\p{Surrogate}/u.test(text);

test.each(shells)('%s reads back every word as it was', (shell) => {
  const words = [...naughty, ...hostile].filter(isWord);
  expect(wordsOf(shellLine(words), shell)).toEqual(words);
});

test('a curl line is one line, and curl gets the body as it is', () => {
  for (const text of hostile) {
    const body = JSON.stringify({ text });
    const line = curlLine({
      method: 'POST',
      url: new URL('http://127.0.0.1:9/'),
      headers: { 'x-a': text },
      body: `${body}\n`,
    });
    expect(line.trimEnd()).not.toMatch(/[\n\r]/);
    expect(wordsOf(line.trimEnd(), 'bash').slice(-3)).toEqual([`x-a: ${text}`, '--data-raw', `${body}\n`]);
  }
});

test('a cursor of the service is quoted in the line that gives the next page', async () => {
  for (const text of hostile) {
    const service = await stub((_, response) =>
      response.end(JSON.stringify({ items: [{ id: 'p', name: 'n', addresses: [] }], cursor: text })),
    );
    const page = await run('profile followers 0x143cf5cccbc8447504a99413dec7ea93ec228432', { env: service.env });
    const [, typed = ''] = /--cursor (.*) or --all/s.exec(page.err) ?? [];
    expect([text, wordsOf(typed, 'bash')]).toEqual([text, [text]]);
  }
});

test('what a service names so that it reads as a flag is no flag in a line to copy', async () => {
  const service = await stub((_, response) => response.end('{"items":[],"cursor":"--sandbox"}'));
  const { err } = await run('profile followers ext:a', { env: service.env });
  expect(err).toContain('more with --cursor=--sandbox or --all');
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const { code, err: unknown } = await run(['webhook', 'show', '--', '--since=3650d'], { env });
  expect([code, unknown]).toEqual([5, expect.not.stringContaining('unknown option')]);
});
