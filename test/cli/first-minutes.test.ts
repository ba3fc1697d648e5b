import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';

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
