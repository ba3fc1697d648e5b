import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { freePorts } from '../../support/free-ports.ts';
import { run, stub, temporaryFolder } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

test('a webhook whose destination does not listen is named with the line that removes it', async () => {
  const [env, [port = 0]] = [{ SOTRA_DATA_DIR: temporaryFolder() }, await freePorts(1)];
  const open = await stub((_, response) => response.end());
  const register = async (url: string) =>
    JSON.parse((await run(`--sandbox webhook register --url ${url} --wallet-addresses ext:a --json`, { env })).out).uid;
  await register(`${open.url}/hook`);
  const uid = await register(`http://127.0.0.1:${port}/hook`);
  const { code, err, out } = await run('webhook trigger new-feed-item --sandbox', { env, skipWaits: true, tty: 80 });
  expect(out.split('\n')[0]?.trimEnd()).toMatch(/^Destination +Taken {2}Status {2}Why not$/);
  expect([code, err]).toEqual([
    9,
    `Not taken by http://127.0.0.1:${port}/hook; sotra --sandbox webhook delete ${uid} removes that webhook.\n`,
  ]);
  expect((await run(`--sandbox webhook delete ${uid} --yes`, { env })).code).toBe(0);
  expect(await run('webhook trigger new-feed-item --sandbox', { env })).toMatchObject({ code: 0, err: '' });
});

test('a listener that starts a moment after the event gets it', async () => {
  const [env, [port = 0]] = [{ SOTRA_DATA_DIR: temporaryFolder() }, await freePorts(1)];
  const hook = `--url http://127.0.0.1:${port}/hook --wallet-addresses ext:a`;
  expect((await run(`--sandbox webhook register ${hook}`, { env })).code).toBe(0);
  const triggered = run('webhook trigger new-feed-item --sandbox --json', { env });
  const db = openDb(join(env.SOTRA_DATA_DIR, 'sandbox.db'));
  await until(() => db.get('SELECT 1 FROM delivery WHERE tries = 1'), 'a try that nobody answers');
  db.close();
  const { server } = await stub((_, response) => response.end());
  await new Promise((resolve) => server.close(resolve));
  server.listen(port, '127.0.0.1');
  const { code, out, err } = await triggered;
  expect([code, err, JSON.parse(out)]).toMatchObject([0, '', [{ delivered: true, status: 200 }]]);
});
