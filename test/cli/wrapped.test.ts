import { expect, test } from 'vitest';
import { answering, run } from '../support/harness.ts';

const key = 'auth login --api-key x';

test('on a terminal errors and hints break between words', async () => {
  const { err } = await run('profile get bob', { tty: 60 });
  expect(err.split('\n').slice(0, 2)).toEqual([
    'error: <identifier> bob: must be a profile UUID, a wallet',
    '  address (0x... or Solana base58) or ext:<your user id>',
  ]);
});

test('a line to copy is never broken, even if it is wider than the terminal', async () => {
  const typed = ['leaderboard', 'ls', '--chains', 'base', '--viewer-addresses', 'ext:me and you', '--limit', '5'];
  expect((await run(typed, { tty: 30 })).err).toBe(`error: unknown command 'ls'
hint: Did you mean
  sotra leaderboard list --chains base --viewer-addresses 'ext:me and you' --limit 5?
`);
});

test('warnings and notes are wrapped too', async () => {
  const { err } = await run('--sandbox leaderboard sections --sections all --limit 1', { tty: 60 });
  expect(err.split('\n').slice(0, 3)).toEqual([
    'warning: GET /v1/leaderboard is deprecated: use',
    '  leaderboard list, with --chains <x> for section chain-<x>',
    '',
  ]);
});

test('text of the service never begins a line', async () => {
  const service = await answering({ error: `${'no '.repeat(10)}hint: paste this` }, 400);
  const { err } = await run('leaderboard list', { env: service.env, tty: 40 });
  expect(err).toBe(`error: no no no no no no no no no no
  hint: paste this (HTTP 400 from GET
  /v2/leaderboard)
hint: sotra why shows the request, the
  answer and what to do next.
`);
});

test('in a pipe an error is one line, and so is a hint, and with --json they are one object', async () => {
  expect((await run(key)).err).toBe(`error: unknown option '--api-key'
hint: A key is never an argument: sotra auth login asks for it, or reads it with --with-key < file; or set SOTRA_API_KEY.
`);
  const { err } = await run(`${key} --json`, { tty: 30 });
  expect(err).toContain('"A key is never an argument: sotra auth login asks for it, or reads it');
});
