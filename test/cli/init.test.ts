import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';

const place = () => {
  const folder = temporaryFolder();
  const settings = () => JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  return { env: { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder }, settings };
};

test('init --sandbox --yes --no-input makes the sandbox current and shows a board', async () => {
  const { env, settings } = place();
  const { code, out } = await run('init --sandbox --yes --no-input', { env });
  expect(code).toBe(0);
  expect(out).toMatch(/\$ sotra context use sandbox\n.*\$ sotra leaderboard list --limit 5\n1\t/s);
  expect(settings().current).toBe('sandbox');
});

test('init --sandbox shows the sandbox though SOTRA_BASE_URL names a service, and says that this goes first', async () => {
  const { code, out, err } = await run('init --sandbox --yes --no-input', {
    env: { SOTRA_BASE_URL: 'http://127.0.0.1:1', SOTRA_CONFIG_DIR: temporaryFolder() },
  });
  expect([code, out]).toEqual([0, expect.stringMatching(/\$ sotra leaderboard list --limit 5 --context sandbox\n1\t/)]);
  expect(err).toContain('warning: SOTRA_BASE_URL is set and overrides what is stored here');
});

test('init asks for service, address, key and how comments are signed, and shows a board', async () => {
  const { env, settings } = place();
  const service = await serveSandbox();
  const { code, out, err } = await run('init --store file', {
    env,
    tty: 100,
    answers: ['3', service.url, 'Own', 'blank-line', service.keyA],
  });
  expect([code, err]).toEqual([
    0,
    expect.stringContaining('Which service? Enter: the sandbox\n   1  the built-in sandbox'),
  ]);
  expect(out).toContain(`$ sotra auth login --context local --base-url ${service.url}`);
  expect(out.replaceAll(/ \\\n +/g, ' ')).toContain('--service-name Own --layout blank-line\n');
  expect(out).toMatch(/\$ sotra leaderboard list --limit 5\n.*Trader/s);
  expect(out + err).not.toContain(service.keyA);
  expect(settings()).toMatchObject({
    current: 'local',
    contexts: { local: { baseUrl: service.url, serviceName: 'Own', layout: 'blank-line', keyStore: 'file' } },
  });
  const again = await run('init --store file', { env, tty: 100, answers: ['3', service.url, service.keyA] });
  expect([again.code, settings().contexts.local.serviceName]).toEqual([0, 'Own']);
});

test('init asks how comments are signed and posts nothing to find out', async () => {
  const { env, settings } = place();
  const service = await answering({ traders: [] });
  const line = `init --base-url ${service.url} --store file`;
  const later = await run(line, { env, tty: 100, answers: ['', 'some-key-1234'] });
  expect([later.code, later.err]).toEqual([
    0,
    expect.stringContaining('sotra context set local --service-name <name>'),
  ]);
  expect(settings().contexts.local.serviceName).toBeUndefined();
  expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
});

test('init in a script: every answer is a flag, and the key is read from stdin', async () => {
  const { env, settings } = place();
  const service = await serveSandbox();
  const line = `init --context own --base-url ${service.url} --service-name Sandbox --with-key --store file --json`;
  const { code, out } = await run(line, { env, stdin: `${service.keyA}\n` });
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    { context: 'own', baseUrl: service.url, serviceName: 'Sandbox', commands: [{}, {}, {}, { exitCode: 0 }] },
  ]);
  expect(settings().contexts.own.apiKey).toBe(service.keyA);
});

test('a key that is set in the environment is used and not stored', async () => {
  const { env, settings } = place();
  const service = await serveSandbox();
  const { code, out } = await run('init --no-input --service-name Sandbox', { env: { ...env, ...service.envA } });
  expect([code, out]).toEqual([0, expect.stringContaining(`$ sotra context set local --base-url ${service.url}`)]);
  expect(JSON.stringify(settings())).not.toContain(service.keyA);
});

test('init stores nothing where the service refuses the key, and names what is missing where nobody can be asked', async () => {
  const { env, settings } = place();
  const { url } = await answering({ error: 'unknown key' }, 401);
  const refused = await run(`init --base-url ${url} --with-key --store file`, { env, stdin: 'some-key-1234' });
  expect([refused.code, refused.err]).toEqual([4, expect.stringContaining('refuses this key; it was not stored')]);
  expect(settings).toThrow('ENOENT');
  const alone = await run('init', { env });
  expect([alone.code, alone.err]).toEqual([
    2,
    expect.stringContaining('sotra init --sandbox, or sotra init --base-url'),
  ]);
});

test('init asks again after a wrong answer: the service, its address, the layout, and a key that is refused', async () => {
  const { env, settings } = place();
  const service = await serveSandbox();
  const wrong = ['7', '3', 'api.example.com', service.url, 'Own', 'three-line', 'blank-line', 'no-such-key-1234'];
  const { code, err } = await run('init --store file', { env, tty: 100, answers: [...wrong, service.keyA] });
  expect(code).toBe(0);
  expect(err).toContain('Nothing matches 7.\n');
  expect(err).toContain(
    'base URL api.example.com: must be an address such as https://api.example.com; did you mean https://api.example.com?\n',
  );
  expect(err).toContain("'three-line' is not a layout: type five-line or blank-line\n");
  expect(err).toContain('refuses this key; it was not stored');
  expect(settings().contexts.local).toMatchObject({ baseUrl: service.url, layout: 'blank-line', apiKey: service.keyA });
});

test('with --json a line of init that fails leaves one error on stderr, without the notes of the lines before it', async () => {
  const { env, settings } = place();
  const { code, out, err } = await run('init --preset clicker --retries 0 --json', {
    env: { ...env, SOTRA_API_KEY: 'some-key-1234', SOTRA_BASE_URL: 'http://127.0.0.1:1' },
  });
  expect([code, out, JSON.parse(err).error.code]).toEqual([9, '', 'network']);
  expect(settings().current).toBe('clicker');
});

test('init --dry-run shows what it would run, and changes nothing', async () => {
  const { env, settings } = place();
  const { code, out } = await run('init --preset clicker --dry-run --json', { env });
  const { changes } = JSON.parse(out);
  expect([code, changes.map(({ what }: { what: string }) => what)]).toEqual([
    0,
    ['sotra auth login --context clicker', 'sotra context use clicker', 'sotra leaderboard list --limit 5'],
  ]);
  expect(settings).toThrow('ENOENT');
});

test('what init would run can be pasted into a shell, whatever a service is called', async () => {
  const words = [
    'init',
    '--base-url',
    'https://api.example.com',
    '--service-name',
    "O'Neil <x>",
    '--layout',
    'five-line',
  ];
  const shown = await run([...words, '--offline', '--dry-run', '--jq', '.changes[1].what'], { env: place().env });
  expect(shown).toMatchObject({
    code: 0,
    out: `sotra context set example --base-url https://api.example.com --service-name 'O'\\''Neil <x>' --layout five-line\n`,
  });
});

test('init hands the flags of a call to the calls it makes, and refuses what they refuse', async () => {
  const { env } = place();
  const service = await answering({ error: 'busy' }, 503);
  const once = await run(`init --base-url ${service.url} --with-key --store file --retries 0 --timeout 5s`, {
    env,
    stdin: 'some-key-1234',
  });
  expect([once.code, service.requests.length]).toEqual([8, 1]);
  expect(once.out.replaceAll(/ \\\n +/g, ' ')).toContain('--store file --timeout 5000ms --retries 0');
  const wrong = await run('init --sandbox --retries many', { env });
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--retries many: must be a whole number')]);
  const board = await run('init --sandbox --rate 2/s', { env });
  expect([board.code, board.out]).toEqual([
    0,
    expect.stringContaining('$ sotra leaderboard list --limit 5 --rate 2/s'),
  ]);
  expect(board.err).toContain("Next: sotra profile get '#1'");
});

test('init shows the lines that it runs without what would steer a terminal', async () => {
  const { env } = await answering({ traders: [] });
  const { out, err } = await run(['init', '--service-name', '\u001b[31mred'], { env, tty: 80 });
  expect(out).toContain("--service-name $'\\033[31mred'");
  expect(out + err).not.toContain('\u001b[31m');
});
