import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scripts } from '../support/faults.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { bodyOf, listen, send, signed } from '../support/listening.ts';
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
  const { url, stop } = await listen(temporaryFolder(), `--forward-to ${target.url}/`);
  for (const id of ['one', 'two', 'three']) expect(await send(url, bodyOf(id), signed(bodyOf(id)))).toBe(200);
  await until(() => target.requests.length === 3);
  await stop();
  expect(target.requests.map(({ body }) => JSON.parse(body).events[0].eventId)).toEqual(['one', 'two', 'three']);
});
