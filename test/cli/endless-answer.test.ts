import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scripts } from '../support/faults.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { until } from '../support/until.ts';

const endless = scripts['endless body'] ?? (() => undefined);

test('a destination whose answer never ends has taken the event by its status: a trigger does not wait for the rest', async () => {
  const destination = await stub(endless);
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, 'whsec_test\n');
  const words = `webhook trigger new-feed-item --sandbox --json --to ${destination.url}/hook --secret-file ${file}`;
  const { code, out } = await run(words);
  expect([code, JSON.parse(out)]).toMatchObject([0, [{ delivered: true, status: 200 }]]);
  expect(destination.requests).toHaveLength(1);
});

test('a target whose answer never ends holds up no delivery behind it', async () => {
  const target = await stub(endless);
  const folder = temporaryFolder();
  const [file, ready] = [join(folder, 'secret'), join(folder, 'ready')];
  writeFileSync(file, 'whsec_test\n');
  const stopping = new AbortController();
  const argv = `webhook listen --port 0 --secret-file ${file} --ready-file ${ready} --forward-to ${target.url}/`;
  const ended = run(argv, { env: { SOTRA_DATA_DIR: folder }, signal: stopping.signal });
  await until(() => existsSync(ready));
  const { url } = JSON.parse(readFileSync(ready, 'utf8'));
  for (const id of ['one', 'two', 'three']) {
    const body = `{"eventId":"${id}","eventType":"copyswap"}`;
    const t = Math.floor(Date.now() / 1000);
    const v1 = createHmac('sha256', 'whsec_test').update(`${t}.${body}`).digest('base64url');
    const headers = { 'daylight-signature': `t=${t},v1=${v1}` };
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(200);
  }
  await until(() => target.requests.length === 3);
  stopping.abort();
  await ended;
  expect(target.requests.map(({ body }) => JSON.parse(body).eventId)).toEqual(['one', 'two', 'three']);
});
