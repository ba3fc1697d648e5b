import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { encodeBase58 } from '../../src/api/address.ts';
import { run, temporaryFolder, until } from '../support/harness.ts';
import { apiKey, canaryWorld, evmKey, pair, password, secretsIn, strayIn } from '../support/hostile/canaries.ts';
import { start } from '../support/processes.ts';
import { some } from '../support/size.ts';

const key = 'partner-key-0123456789-abcd';

/** The built program with a keychain beside it that keeps its keys in a file, or fails; the real one needs a session of a desktop. */
function programWithKeychain(
  failure?: string,
  { hasPackage = true, hangs = false, env: given = {} as NodeJS.ProcessEnv } = {},
) {
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
  const { sotra, folder, kept } = programWithKeychain('Platform failure: DBus error: Using X11');
  const login = sotra('auth login --context c --with-key --offline --base-url https://own.example.com', key);
  expect(login.err).toContain(
    'No keychain is used: cannot read the key in the keychain: no desktop session (D-Bus) is running.\n',
  );
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
  'if the keychain package does not load, secret-tool stores the key, which is never an argument',
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

/** Whether other processes can be looked at. */
const canLook = existsSync('/proc/self/cmdline');

/** Lines with a secret, up to the place of completion; each makes the shell run the program. */
const typed: readonly string[] = [
  `SOTRA_API_KEY='${apiKey}' sotra --context sta`,
  `OTHER=1 SOTRA_API_KEY=${evmKey} sotra profile get @wha`,
  `echo '${apiKey}' | sotra auth login --with-key --context sta`,
  `sotra comment sign --text '${password}' --key ${encodeBase58(pair)} --context sta`,
  `sotra key import ${evmKey} --context=sta`,
];

const prompt = 'ready> ';
const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

test.skipIf(!canLook || !has('script'))(
  'a secret in the line that bash completes shows in no process and is written nowhere',
  async () => {
    const world = await canaryWorld();
    await run('alias set whale 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', { env: world.env });
    const at = (file: string) => join(world.outputs, file);
    for (const folder of ['home', 'tmp']) mkdirSync(at(folder));
    // The program that the shell finds; it logs how it was called and by which process.
    const bin = temporaryFolder();
    const log = join(bin, 'calls');
    const look = "{ cat /proc/$$/cmdline /proc/$$/environ /proc/$PPID/cmdline | tr '\\0\\n' '  '; echo; }";
    const program = `#!/bin/sh\n${look} >>'${log}'\nexec '${process.execPath}' '${process.cwd()}/bin/sotra.js' "$@"\n`;
    writeFileSync(join(bin, 'sotra'), program, { mode: 0o700 });
    writeFileSync(log, '');
    const calls = () => readFileSync(log, 'utf8').split('\n').slice(0, -1);
    const written: string[] = [];
    const watcher = watch(at('tmp'), (_, file) => written.push(file ?? ''));
    onTestFinished(() => watcher.close());
    const { SOTRA_CONFIG_DIR, SOTRA_DATA_DIR } = world.env;
    // On a terminal of its own, so that readline finds and cuts the line.
    const child = spawn('script', ['-qec', 'bash --norc -i', '/dev/null'], {
      env: {
        PATH: `${bin}:${process.env['PATH']}`,
        HOME: at('home'),
        TMPDIR: at('tmp'),
        SOTRA_CONFIG_DIR,
        SOTRA_DATA_DIR,
        // As users export it in their profile.
        SOTRA_API_KEY: apiKey,
        LC_ALL: 'C.UTF-8',
        TERM: 'xterm',
        // As bash did it before 5.1.
        BASH_COMPAT: '50',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let shown = '';
    child.stdout.on('data', (text) => (shown += text));
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin.write(`source '${process.cwd()}/completions/sotra.bash'; PS1='rea''dy> '\r`);
    await until(() => shown.includes(prompt), 'the prompt');
    for (const [index, line] of typed.entries()) {
      child.stdin.write(`\x15${line}\t`);
      await until(
        () => calls().length > index,
        () => `${line}: ${shown}`,
      );
    }
    child.stdin.end('\x15exit\r');
    await ended;
    writeFileSync(at('tmp/end'), '');
    await until(() => written.includes('end'), 'the watcher');
    const list = /(context list --columns name|alias list --columns alias) /;
    expect(calls().map((call) => list.test(call))).toEqual(typed.map(() => true));
    expect(calls().filter((call) => secretsIn(call).length > 0)).toEqual([]);
    expect(written.filter((file) => file.startsWith('sh-thd'))).toEqual([]);
    expect(strayIn(world)).toEqual([]);
  },
);

test('the browser that --open starts gets the environment without the API key', async () => {
  const folder = temporaryFolder();
  const [program, told] = [join(folder, 'program'), join(folder, 'told')];
  writeFileSync(program, `#!/bin/sh\nenv > ${told}.part && mv ${told}.part ${told}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'secret'), 'whsec_test\n', { mode: 0o600 });
  const own = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const { child, ended, printed } = start(
    ['webhook', 'listen', '--port', '0', '--ui', '--open', '--secret-file', join(folder, 'secret')],
    { ...own, SOTRA_API_KEY: 'key-of-ours', BROWSER: program, OTHER: 'kept' },
  );
  await until(
    () => existsSync(told),
    () => `the browser: ${printed.err}`,
  );
  child.kill('SIGTERM');
  await ended;
  expect(readFileSync(told, 'utf8')).toContain('OTHER=kept');
  expect(readFileSync(told, 'utf8')).not.toContain('key-of-ours');
});
