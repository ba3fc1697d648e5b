import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { secret, send, signed } from '../support/listening.ts';
import { start } from '../support/processes.ts';
import { until } from '../support/until.ts';

test('a listener whose output nobody reads keeps a bounded part of it, stores all, and says how many it did not print', async () => {
  const folder = temporaryFolder();
  const [file, ready] = [join(folder, 'secret'), join(folder, 'ready.json')];
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', file, '--ready-file', ready, '--json'];
  const { child, printed, ended } = start(argv, { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.pause();
  await until(() => existsSync(ready), 'the listener listens');
  const { url } = JSON.parse(readFileSync(ready, 'utf8'));
  const megabyte = 'x'.repeat(1024 ** 2);
  for (let index = 0; index < 30; index += 1) {
    const body = JSON.stringify({ eventId: `e${index}`, eventType: 'x', pad: megabyte });
    expect(await send(url, body, signed(body))).toBe(200);
  }
  child.stdout.resume();
  await until(() => printed.err.includes('not printed'), 'the listener says what it left out');
  child.kill('SIGINT');
  await ended;
  const shown = printed.out.trimEnd().split('\n').length;
  const [, omitted] = /(\d+) events not printed, because the output was not read/.exec(printed.err) ?? [];
  expect(shown + Number(omitted)).toBe(30);
  expect(shown).toBeLessThan(20);
});
