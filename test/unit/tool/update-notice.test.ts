import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askRegistry, noticeUpdate } from '../../../src/tool/update-notice.ts';
import type { World } from '../../../src/world.ts';
import { answering, temporaryFolder } from '../../support/harness.ts';

const day = 86_400_000;
const registry = { npm_config_registry: 'https://registry.sotra.example/npm/' };

/** A terminal of which `later` is how long after the first look it is. */
function terminal(env: Record<string, string> = registry, { isTTY = true, latest = '' } = {}) {
  const folder = temporaryFolder();
  const file = join(folder, 'update.json');
  if (latest !== '') writeFileSync(file, JSON.stringify({ askedMs: 0, shownMs: 0, latest }));
  const seen = { err: '', asked: [] as (readonly string[])[] };
  const look = async (later = 0, argv: readonly string[] = ['whois', 'ext:1']) => {
    const write = async (text: string) => {
      seen.err += text;
    };
    const world = {
      env: { SOTRA_DATA_DIR: folder, HOME: folder, ...env },
      io: { err: { isTTY, write } },
      version: '0.9.1',
      now: () => 100 * day + later,
      system: { platform: 'linux' },
      spawnSelf: async (words: readonly string[]) => void seen.asked.push(words),
    } as unknown as World;
    await noticeUpdate(argv, world);
  };
  return { look, seen, file, folder };
}

test('the registry is asked once a day, and a newer version is told once a day', async () => {
  const { look, seen, file } = terminal(registry, { latest: '0.10.0' });
  for (const later of [0, 1, day - 1]) await look(later);
  expect(seen.asked).toEqual([['--check-for-update', 'https://registry.sotra.example/npm/sotra/latest', file]]);
  expect(seen.err).toBe(
    'sotra 0.10.0 is out (this is 0.9.1): npm install --global sotra. SOTRA_UPDATE_NOTICE=0 stops this notice.\n',
  );
  await look(day);
  expect([seen.asked.length, seen.err.split('\n').length]).toEqual([2, 3]);
});

test.each(['0.9.1', '0.9.0', '0.8.9', '1.0.0-beta', '\u001b[31m1.0.0', 'null'])(
  'version %j is told to nobody',
  async (latest) => {
    const { look, seen } = terminal(registry, { latest });
    await look();
    expect(seen.err).toBe('');
  },
);

test.each([
  ['CI', { ...registry, CI: 'true' }, {}],
  ['the variable', { ...registry, SOTRA_UPDATE_NOTICE: '0' }, {}],
  ['no terminal', registry, { isTTY: false }],
  ['no registry', {}, {}],
  ['a registry in the clear', { npm_config_registry: 'http://registry.sotra.example' }, {}],
  ['a registry with a password', { npm_config_registry: 'https://a:b@registry.sotra.example' }, {}],
])('nothing is asked, told or written with %s', async (_, env, more) => {
  const { look, seen, folder } = terminal(env as Record<string, string>, more);
  await look();
  expect([seen, existsSync(join(folder, 'update.json'))]).toEqual([{ err: '', asked: [] }, false]);
});

test('output for programs stays as it is: --json, --quiet, --help and --version', async () => {
  const { look, seen } = terminal(registry, { latest: '1.0.0' });
  for (const flag of ['--json', '--quiet', '--help', '--version']) await look(0, ['whois', flag]);
  expect(seen).toEqual({ err: '', asked: [] });
});

test('the registry of .npmrc is asked where no variable names one', async () => {
  const { look, seen, folder } = terminal({});
  writeFileSync(
    join(folder, '.npmrc'),
    '# mine\nregistry = "https://mirror.sotra.example/"\n//mirror/:_authToken=secret\n',
  );
  await look();
  expect(seen.asked[0]?.[1]).toBe('https://mirror.sotra.example/sotra/latest');
});

test('the process that asks sends one GET with nothing of the user, and keeps the version', async () => {
  const service = await answering({ name: 'sotra', version: '2.0.0' });
  const file = join(temporaryFolder(), 'update.json');
  writeFileSync(file, '{"askedMs":5}');
  await askRegistry(`${service.url}/sotra/latest`, file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ askedMs: 5, shownMs: 0, latest: '2.0.0' });
  const [request] = service.requests;
  expect([request?.method, request?.url, request?.body, request?.headers.authorization]).toEqual([
    ...['GET', '/sotra/latest', '', undefined],
  ]);
  const refused = await answering({ error: 'no' }, 500);
  await askRegistry(`${refused.url}/sotra/latest`, file);
  expect(JSON.parse(readFileSync(file, 'utf8')).latest).toBe('2.0.0');
  expect(
    execFileSync(process.execPath, ['bin/sotra.js', '--check-for-update', 'no-address', file], { encoding: 'utf8' }),
  ).toBe('');
});
