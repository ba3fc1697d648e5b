import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { bodyOf, secret, send, signed } from '../support/listening.ts';
import { start } from '../support/processes.ts';
import { until } from '../support/until.ts';

test('webhook events --wait prints the first event that fits, from a listener in another process', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const [secretFile, readyFile] = [join(folder, 'secret'), join(folder, 'ready.json')];
  writeFileSync(secretFile, secret, { mode: 0o600 });
  const listener = start(
    ['webhook', 'listen', '--port', '0', '--secret-file', secretFile, '--ready-file', readyFile],
    env,
  );
  onTestFinished(async () => {
    listener.child.kill();
    await listener.ended;
  });
  await until(() => existsSync(readyFile), 'the listener is ready');
  const { url } = JSON.parse(readFileSync(readyFile, 'utf8'));
  const deliver = (id: string, type: string) => send(url, bodyOf(id, type), signed(bodyOf(id, type)));

  await deliver('before', 'copyswap');
  const waiting = start(['webhook', 'events', '--type', 'copyswap', '--wait', '60s', '--json'], env);
  for (let count = 0; waiting.child.exitCode === null; count += 1) {
    await deliver(`other-${count}`, 'new-feed-item');
    await deliver(`copy-${count}`, 'copyswap');
  }
  expect(await waiting.ended).toBe(0);
  expect(JSON.parse(waiting.printed.out)).toMatchObject([
    { eventType: 'copyswap', eventId: expect.stringMatching(/^copy-\d+$/) },
  ]);
});
