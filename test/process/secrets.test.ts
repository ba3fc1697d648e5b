import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { encodeBase58 } from '../../src/api/address.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { apiKey, canaryWorld, evmKey, pair, password, secretsIn, strayIn } from '../support/hostile/canaries.ts';
import { start } from '../support/processes.ts';
import { until } from '../support/until.ts';

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
