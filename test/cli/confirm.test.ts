import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyDemo } from '../support/demo.ts';
import { answering, failure, run, temporaryFolder } from '../support/harness.ts';

const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
const trader = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const trade = `--chain base --trader ${trader} --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --side buy --amount 5 --usd 10`;
const swap = [
  '--chain',
  'base',
  '--tx',
  `0x${'12'.repeat(32)}`,
  '--token',
  '0x940181a94a35a4569e4529a3cdfb74e38fd98631',
];
const sign = ['comment', 'sign', ...swap, '--text', 'gm', '--service-name', 'Example', '--key-env', 'KEY'];

async function place() {
  const folder = temporaryFolder();
  const service = await answering({ state: 'deleted' });
  const env = { ...service.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, KEY: `0x${'0'.repeat(63)}1` };
  const staging = { baseUrl: service.url, apiKey: 'a-stored-key' };
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ version: 1, contexts: { staging }, aliases: { me: 'ext:1' } }),
  );
  writeFileSync(join(folder, 'taken'), 'what was there');
  copyDemo(join(folder, 'world.db'), Date.now());
  await run(`sandbox trade ${trade} --db ${folder}/world.db`, { env });
  return { folder, env, service };
}

type Place = Awaited<ReturnType<typeof place>>;

/** A line that cannot be undone, the question that it asks, and whether it was done. */
const deeds: readonly [
  line: readonly string[],
  question: string,
  isDone: (place: Place) => boolean | Promise<boolean>,
][] = [
  [
    ['webhook', 'delete', uid],
    `Delete webhook ${uid} with its addresses and its secret? [y/N] `,
    ({ service }) => service.requests.length > 0,
  ],
  [
    ['profile', 'delete-name', 'ext:1'],
    'Remove the name and avatar of ext:1 at your partner? [y/N] ',
    ({ service }) => service.requests.length > 0,
  ],
  [
    ['profile', 'set-name', 'ext:1', '--clear'],
    'Remove the name and avatar of ext:1 at your partner? [y/N] ',
    ({ service }) => service.requests.length > 0,
  ],
  [
    ['profile', 'set-name', 'ext:1', '--clear-avatar'],
    'Remove the avatar of ext:1 at your partner? [y/N] ',
    ({ service }) => service.requests.length > 0,
  ],
  [['request', 'DELETE', '/v1/x'], 'Send DELETE /v1/x? [y/N] ', ({ service }) => service.requests.length > 0],
  [
    ['auth', 'logout', '--context', 'staging'],
    'Remove the API key of context staging? [y/N] ',
    ({ folder }) => !readFileSync(join(folder, 'config.json'), 'utf8').includes('a-stored-key'),
  ],
  [
    ['context', 'remove', 'staging'],
    'Remove context staging and its key? [y/N] ',
    ({ folder }) => !readFileSync(join(folder, 'config.json'), 'utf8').includes('staging'),
  ],
  [
    ['alias', 'set', '@me', 'ext:2'],
    'Replace alias @me (ext:1)? [y/N] ',
    ({ folder }) => readFileSync(join(folder, 'config.json'), 'utf8').includes('ext:2'),
  ],
  [
    ['alias', 'remove', '@me'],
    'Remove alias @me (ext:1)? [y/N] ',
    ({ folder }) => !readFileSync(join(folder, 'config.json'), 'utf8').includes('"me"'),
  ],
  [
    ['sandbox', 'reset', '--db', 'FOLDER/world.db'],
    'Reset FOLDER/world.db, including 1 trade that you added? [y/N] ',
    async ({ folder }) => {
      const { out } = await run(`sandbox reset --db ${folder}/world.db --dry-run --quiet --no-input`);
      const { err } = await run(`sandbox reset --db ${folder}/world.db --no-input`);
      return out !== '' && !err.includes('1 trade');
    },
  ],
  [
    [...sign, '--out', 'FOLDER/taken'],
    'Replace FOLDER/taken (--out)? [y/N] ',
    ({ folder }) => readFileSync(join(folder, 'taken'), 'utf8') !== 'what was there',
  ],
  [
    ['bundle', '--out', 'FOLDER/taken'],
    'Replace FOLDER/taken (--out)? [y/N] ',
    ({ folder }) => readFileSync(join(folder, 'taken'), 'utf8').includes('"sotra"'),
  ],
];

test.each(deeds)(
  '%j asks on a terminal, needs --yes elsewhere, and ends with 2 without it',
  async (words, question, isDone) => {
    const here = await place();
    const { env, folder } = here;
    const line = words.map((word) => word.replace('FOLDER', folder));
    const asked = question.replace('FOLDER', folder);
    const piped = await run(line, { env });
    expect([piped.code, piped.out]).toEqual([2, '']);
    expect(piped.err).toMatch(
      /cannot ask whether to .*: stdin is not a terminal\nhint: Add --yes to do it without asking\.\n$/,
    );
    expect(await run([...line, '--no-input'], { env, answers: [] })).toEqual(failure(2, ': --no-input is set\n'));
    const refused = await run(line, { env, answers: ['n'] });
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(asked)]);
    expect(refused.err).toContain(': the answer was not yes\n');
    expect(await isDone(here)).toBe(false);
    expect((await run(line, { env, answers: ['y'] })).err).toContain(asked);
    expect(await isDone(here)).toBe(true);
  },
);

test('--yes does it without a question, even without a terminal', async () => {
  const here = await place();
  for (const [words, , isDone] of deeds) {
    here.service.requests.splice(0);
    const line = words.map((word) => word.replace('FOLDER', here.folder));
    const { err } = await run([...line, '--yes', '--no-input'], { env: here.env });
    expect(err).not.toContain('[y/N]');
    expect([words, await isDone(here)]).toEqual([words, true]);
  }
});

test('what loses nothing asks nothing: an alias that stays the same, a world without additions, a file that is new', async () => {
  const { env, folder } = await place();
  expect((await run('alias set @me ext:1', { env })).code).toBe(0);
  expect((await run(`sandbox reset --db ${folder}/new.db`, { env })).code).toBe(0);
  expect((await run(`sandbox reset --db ${folder}/new.db`, { env })).code).toBe(0);
  expect((await run([...sign, '--out', join(folder, 'new.json')], { env })).code).toBe(0);
  expect(existsSync(join(folder, 'new.json'))).toBe(true);
});
