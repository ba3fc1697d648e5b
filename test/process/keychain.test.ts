import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';

const key = 'partner-key-0123456789-abcd';

/** The built program with a keychain beside it that keeps its keys in a file, or fails; the real one needs a session of a desktop. */
function programWithKeychain(
  failure?: string,
  {
    hasPackage = true,
    hangs = false,
    env: given = {},
  }: { hasPackage?: boolean; hangs?: boolean; env?: NodeJS.ProcessEnv } = {},
): {
  folder: string;
  sotra: (argv: string, stdin?: string) => { code: number | null; out: string; err: string };
  kept: () => unknown;
} {
  const folder = temporaryFolder();
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  const keyring = join(folder, 'node_modules', '@napi-rs', 'keyring');
  mkdirSync(keyring, { recursive: true });
  for (const name of ['libsql', '@libsql', '@neon-rs', 'detect-libc'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(keyring, 'package.json'), '{"name":"@napi-rs/keyring","main":"index.cjs"}');
  const file = join(folder, 'keychain.json');
  writeFileSync(file, '{}');
  writeFileSync(
    join(keyring, 'index.cjs'),
    `const fs = require('node:fs');
    const read = () => JSON.parse(fs.readFileSync(${JSON.stringify(file)}, 'utf8'));
    const write = (keys) => fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify(keys));
    exports.Entry = class {
      constructor(service, account) { this.name = service + ' ' + account; }
      getPassword() { ${failure === undefined ? '' : `throw new Error('${failure}');`} return read()[this.name] ?? null; }
      setPassword(key) { write({ ...read(), [this.name]: key }); }
      deletePassword() { const keys = read(); delete keys[this.name]; write(keys); return true; }
    };`,
  );
  if (hangs) writeFileSync(join(keyring, 'index.cjs'), 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
  if (!hasPackage) writeFileSync(join(keyring, 'index.cjs'), 'throw new Error();');
  const sotra = (argv: string, stdin = '') => {
    const env = { ...process.env, SOTRA_CONFIG_DIR: folder, SOTRA_API_KEY: '', ...given };
    const options = { env, input: stdin, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'dist', 'main.cjs'), ...argv.split(' ')],
      options,
    );
    return { code: status, out: stdout, err: stderr };
  };
  return { folder, sotra, kept: () => JSON.parse(readFileSync(file, 'utf8')) };
}

test('a key in the keychain is not in the file, stays there when it is replaced, and moves only when asked', async () => {
  const { folder, sotra, kept } = programWithKeychain();
  const login = 'auth login --context c --with-key --offline';
  const first = sotra(`${login} --base-url https://own.example.com --store keychain`, key);
  expect(first.err).toContain('Stored the key for https://own.example.com in the keychain');
  expect(first.code).toBe(0);
  expect(kept()).toEqual({ 'sotra c@https://own.example.com': key });
  expect(JSON.parse(sotra('auth status --json').out)).toMatchObject({ store: 'keychain', keySuffix: 'abcd' });
  expect(sotra(login, 'a-newer-key-5678').code).toBe(0);
  expect(kept()).toEqual({ 'sotra c@https://own.example.com': 'a-newer-key-5678' });
  const moved = sotra(`${login} --store file`, key);
  expect(moved.err).toContain('Removed the key ...5678 for https://own.example.com from the keychain.');
  expect(kept()).toEqual({});
  const status = await run('auth status --json', { env: { SOTRA_CONFIG_DIR: folder } });
  expect(JSON.parse(status.out)).toMatchObject({ store: 'file', keySuffix: 'abcd' });
});

test('without a keychain the key is kept in the settings file, and login, status and doctor say so', async () => {
  const { sotra, folder, kept } = programWithKeychain('no session of a desktop');
  const login = sotra('auth login --context c --with-key --offline --base-url https://own.example.com', key);
  expect(login.err).toContain('No keychain is used: cannot read the key in the keychain: no session of a desktop.\n');
  const file = join(folder, 'config.json');
  expect(login.err).toContain(
    `Stored the key for https://own.example.com in ${file} (mode 0600, unencrypted), unchecked.`,
  );
  expect([login.code, statSync(file).mode & 0o777, kept()]).toEqual([0, 0o600, {}]);
  expect(readFileSync(file, 'utf8')).toContain(`"apiKey": "${key}"`);
  const env = { SOTRA_CONFIG_DIR: folder };
  const { out } = await run('auth status --json', { env });
  expect(JSON.parse(out)).toMatchObject({ store: 'file', keySuffix: 'abcd' });
  const status = await run('auth status --format table', { env });
  expect(status.out).toContain('the settings file, unencrypted (mode 0600)');
});

test('a keychain that never answers is waited for 5 s at most, or as long as --timeout says', () => {
  const { sotra, folder } = programWithKeychain(undefined, { hangs: true });
  const stored = { baseUrl: 'https://own.example.com', keyStore: 'keychain', keyOrigin: 'https://own.example.com' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ contexts: { own: stored }, current: 'own' }));
  const login = 'auth login --context c --with-key --offline --base-url https://own.example.com';
  for (const [argv, seconds] of some(
    [
      ['leaderboard list --timeout 1s', 1],
      ['leaderboard list', 5],
      [`${login} --timeout 1s --store keychain`, 1],
      [`${login} --timeout 1s`, 1],
    ] as const,
    2,
  )) {
    const { code, err } = sotra(argv, key);
    expect([argv, code, err]).toEqual([
      argv,
      3,
      `error: the keychain did not answer within ${seconds} s\nhint: Unlock it, set SOTRA_API_KEY, or keep the key in a file with sotra auth login --store file.\n`,
    ]);
  }
});

test('a command that waits for the keychain ends with SIGTERM', async () => {
  const { folder } = programWithKeychain(undefined, { hangs: true });
  const stored = { baseUrl: 'https://own.example.com', keyStore: 'keychain', keyOrigin: 'https://own.example.com' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ contexts: { own: stored }, current: 'own' }));
  const env = { ...process.env, SOTRA_CONFIG_DIR: folder, SOTRA_API_KEY: '', SOTRA_HISTORY: '0' };
  const child = spawn(process.execPath, [join(folder, 'dist', 'main.cjs'), 'leaderboard', 'list'], { env });
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  await expect.poll(() => readFileSync(children, 'utf8'), { timeout: 20_000 }).not.toBe('');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([143, null]);
});

/** A folder for PATH with a `secret-tool` that keeps secrets in files, and notes its arguments. */
function fakeSecretTool(): string {
  const folder = temporaryFolder();
  const script = `#!/bin/sh
cd '${folder}'
printf '%s\\n' "$*" >> arguments
env > environment
case $1 in
store) shift 2; cat > "kept $(echo "$*" | tr / :)" ;;
lookup) shift; cat "kept $(echo "$*" | tr / :)" 2> /dev/null || exit 1 ;;
clear) shift; rm "kept $(echo "$*" | tr / :)" 2> /dev/null || exit 1 ;;
*) exit 2 ;;
esac
`;
  writeFileSync(join(folder, 'secret-tool'), script, { mode: 0o755 });
  return folder;
}

test.runIf(process.platform === 'linux')(
  'where the package of the keychain does not load, secret-tool keeps the key, which is in no argument',
  () => {
    const tool = fakeSecretTool();
    const env = { PATH: `${tool}:${process.env['PATH']}`, SOTRA_API_KEY: 'another-key-wxyz' };
    const { sotra, folder } = programWithKeychain(undefined, { hasPackage: false, env });
    const login = sotra('auth login --context c --with-key --offline --base-url https://own.example.com', key);
    expect(login.err).toContain('Stored the key for https://own.example.com in the keychain');
    const kept = join(tool, 'kept service sotra username c@https:::own.example.com');
    expect([login.code, readFileSync(kept, 'utf8')]).toEqual([0, key]);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).not.toContain(key);
    expect(readFileSync(join(tool, 'environment'), 'utf8')).not.toContain('another-key');
    env.SOTRA_API_KEY = '';
    expect(JSON.parse(sotra('auth status --json').out)).toMatchObject({ store: 'keychain', keySuffix: 'abcd' });
    expect(sotra('auth logout --yes').code).toBe(0);
    expect(existsSync(kept)).toBe(false);
    const typed = readFileSync(join(tool, 'arguments'), 'utf8');
    expect(typed).toContain(
      'store --label=sotra: c@https://own.example.com service sotra username c@https://own.example.com\n',
    );
    expect(typed).not.toContain(key);
  },
);
