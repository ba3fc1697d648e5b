import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';

const first = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const second = '0x69247dc5319cf2417e8c2b02e8608da749e6ee01';
const place = () => ({ SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() });

test('a trader that is missing is picked by number, or by a part of the name', async () => {
  const env = place();
  const byNumber = await run('--sandbox leaderboard rank --json', { env, answers: ['2'] });
  expect([byNumber.code, byNumber.err]).toEqual([0, expect.stringContaining(`   2  ${second}  cobalt.alpha.test`)]);
  const byName = await run('--sandbox profile get --json', { env, answers: ['nobody at all', 'mossyledger'] });
  expect(byName.err).toContain('Nothing fits nobody at all.');
  expect([byName.code, byName.out]).toEqual([0, expect.stringContaining(first)]);
});

test('several that are missing are asked for in their order, choices too', async () => {
  const answers = ['1', 'open'];
  const { code, err } = await run('--sandbox profile positions --json', { env: place(), answers });
  expect(code).toBe(0);
  expect(err).toMatch(/<identifier>, .*<status>, .*1 {2}open/s);
});

test('a token is picked among those that the best traders traded on the chain', async () => {
  const answers = ['base', 'aero', 'closed'];
  const { code, err } = await run('--sandbox token positions --json', { env: place(), answers });
  expect([code, err]).toEqual([
    0,
    expect.stringMatching(/<chain>, .*<contract>, .*0x[0-9a-f]{40} {2}\w+.*<status>, /s),
  ]);
});

test('nothing is asked without a terminal, with --no-input, or where no list has what is missing', async () => {
  const env = place();
  for (const [argv, options] of [
    ['--sandbox profile get', {}],
    ['--sandbox profile get --no-input', { answers: [] }],
    ['--sandbox position get', { answers: [] }],
    ['webhook resume', { answers: [] }],
    ['--sandbox profile get', { answers: [''] }],
  ] as const) {
    const { code, err } = await run(argv, { env, ...options });
    expect([argv, code, err]).toEqual([argv, 2, expect.stringMatching(/(is|are) required: /)]);
  }
});

test('contexts and keys that are stored are picked as well', async () => {
  const env = place();
  const { code, out } = await run('context use --json', { env, answers: ['click'] });
  expect([code, JSON.parse(out).name]).toEqual([0, 'clicker']);
});

test('a rank or a name of the last answers stands for a trader', async () => {
  const env = place();
  const unknown = await run('--sandbox leaderboard rank #2', { env });
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('has no such place')]);
  await run('--sandbox leaderboard list --limit 3', { env, tty: 120 });
  for (const who of ['#2', 'cobalt.alpha.test', 'Cobalt.Alpha.TEST', '0x6924…ee01', '0x6924...ee01']) {
    const { out } = await run(['--sandbox', 'profile', 'get', who, '--json'], { env });
    expect([who, out]).toEqual([who, expect.stringContaining(second)]);
  }
  await run('--sandbox leaderboard list --limit 1 --chains solana', { env, tty: 120 });
  expect((await run('--sandbox leaderboard rank #2', { env })).code).toBe(2);
});
