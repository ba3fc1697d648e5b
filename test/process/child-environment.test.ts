import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { start } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** A program that writes its environment to a file; the file is there once it is whole. */
function tellingProgram() {
  const folder = temporaryFolder();
  const [program, told] = [join(folder, 'program'), join(folder, 'told')];
  writeFileSync(program, `#!/bin/sh\nenv > ${told}.part && mv ${told}.part ${told}\n`, { mode: 0o755 });
  return { folder, program, told };
}

test('the browser that --open starts gets the environment without the API key', async () => {
  const { folder, program, told } = tellingProgram();
  writeFileSync(join(folder, 'secret'), 'whsec_test\n', { mode: 0o600 });
  const env = {
    SOTRA_DATA_DIR: folder,
    SOTRA_CONFIG_DIR: folder,
    SOTRA_API_KEY: 'key-of-ours',
    BROWSER: program,
    OTHER: 'kept',
  };
  const { child, ended, printed } = start(
    ['webhook', 'listen', '--port', '0', '--ui', '--open', '--secret-file', join(folder, 'secret')],
    env,
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(
    () => existsSync(told),
    () => `the browser: ${printed.err}`,
  );
  child.kill('SIGTERM');
  await ended;
  expect(readFileSync(told, 'utf8')).toContain('OTHER=kept');
  expect(readFileSync(told, 'utf8')).not.toContain('key-of-ours');
});

test('a signer command gets the environment without the API key', async () => {
  const { program, told } = tellingProgram();
  const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
  const argv = `comment sign --chain base --token ${token} --tx 0x${'1'.repeat(64)} --text gm --service-name Example`;
  const env = { SOTRA_API_KEY: 'key-of-ours', OTHER: 'kept', PATH: process.env['PATH'] ?? '' };
  await run([...argv.split(' '), '--signer', token, '--signer-command', program], { env });
  expect(readFileSync(told, 'utf8')).toContain('OTHER=kept');
  expect(readFileSync(told, 'utf8')).not.toContain('key-of-ours');
});
