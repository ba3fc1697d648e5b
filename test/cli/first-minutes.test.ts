import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';

test('sotra alone on a terminal: ten lines of what it is, what to type first and what is configured', async () => {
  const { code, out } = await run('', { tty: 80 });
  expect(code).toBe(0);
  expect(out.split('\n').length).toBeLessThanOrEqual(11);
  for (const line of ['sotra tour', 'sotra init', 'sotra leaderboard list', 'sotra --help'])
    expect(out).toContain(`  ${line}`);
  expect(out).toContain('Configured: no service yet; --sandbox needs none.');
});

test.each([
  [{ current: 'sandbox', contexts: {} }, {}, 'the built-in sandbox.'],
  [
    { current: 'own', contexts: { own: { baseUrl: 'https://a.example', apiKey: 'key-ab12', keyStore: 'file' } } },
    {},
    'https://a.example, key ...ab12 from context own, kept in the settings file.',
  ],
  [
    { current: 'own', contexts: { own: { baseUrl: 'https://a.example', keyStore: 'keychain', keySuffix: 'cd34' } } },
    {},
    'https://a.example, key ...cd34 from context own, kept in the keychain.',
  ],
  [{ contexts: {} }, { SOTRA_BASE_URL: 'https://b.example' }, 'https://b.example, no key.'],
  [
    { contexts: {} },
    { SOTRA_BASE_URL: 'https://b.example', SOTRA_API_KEY: 'key-ef56' },
    'https://b.example, key ...ef56 from SOTRA_API_KEY.',
  ],
  [[], {}, 'cannot read the settings'],
])('what is configured: %j %j', async (settings, env, says) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings));
  const { code, out } = await run('', { tty: 200, env: { SOTRA_CONFIG_DIR: folder, ...env } });
  expect([code, out]).toEqual([0, expect.stringContaining(`Configured: ${says}`)]);
  expect(out).not.toMatch(/key-(ab|ef)/);
});

test('tour: each command is shown before it runs, the comment is posted and its event received, and nothing stays', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder(), TMPDIR: temporaryFolder() };
  const { code, out } = await run('tour', { env, tty: 80 });
  expect(code).toBe(0);
  expect(out).toMatch(/\$ sotra key generate tour .*--jq \.address\n0x[0-9a-fA-F]{40}\n/s);
  expect(out).toMatch(/\$ sotra --sandbox comment post .*Text +My first comment/s);
  expect(out).toMatch(
    /\$ sotra webhook trigger comment-created --sandbox\n.*comment-created .*127\.0\.0\.1:\d+\/hook +yes +200/s,
  );
  expect(out).toMatch(/\$ sotra --sandbox profile positions .*DEGEN/s);
  expect([readdirSync(env.SOTRA_CONFIG_DIR), readdirSync(env.SOTRA_DATA_DIR)]).toEqual([[], []]);
});

test('tour: s skips a step and what needs it, q ends it', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const skipped = await run('tour --keep', { env, tty: 80, answers: ['', 's', 's', ''] });
  expect(skipped.code).toBe(0);
  expect(skipped.out.match(/^\$ sotra .*$/gm)?.map((line) => line.split(' ').slice(2, 5).join(' '))).toEqual([
    'key generate tour',
    'sandbox trade --chain',
    '--sandbox webhook register',
    '--sandbox profile positions',
  ]);
  const [kept = ''] = readdirSync(env.SOTRA_DATA_DIR);
  expect(existsSync(join(env.SOTRA_DATA_DIR, kept, 'keys', 'tour.json'))).toBe(true);
  expect(skipped.out.replaceAll('\n', ' ')).toContain(`Kept in ${join(env.SOTRA_DATA_DIR, kept)}`);
  const ended = await run('tour', { env, tty: 80, answers: ['q'] });
  expect([ended.code, ended.out.match(/^\$/gm)?.length]).toEqual([0, 1]);
});

test('tour in a script: a plan with --dry-run, what ran with --json', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const { changes } = JSON.parse((await run('--sandbox tour --dry-run --json', { env })).out);
  expect(changes).toHaveLength(7);
  const { code, out } = await run('tour --json', { env });
  const { commands, folder } = JSON.parse(out);
  expect([code, folder, commands.map(({ exitCode }: { exitCode: number }) => exitCode)]).toEqual([
    0,
    null,
    [0, 0, 0, 0, 0, 0, 0],
  ]);
});

test('a chart of more than nine traders has their names below each other', async () => {
  const { out } = await run('--sandbox leaderboard list --limit 10 --chart', { tty: 80 });
  expect(out).toMatch(/^ 1 mossyledger/m);
  expect(out).toMatch(/^10 0x0cf2/m);
});
