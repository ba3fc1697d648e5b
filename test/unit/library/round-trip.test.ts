import { expect, onTestFinished, test } from 'vitest';
import { callAll as throughGenerated } from '../../../bench/library/generated.ts';
import { callAll as throughOurs } from '../../../bench/library/ours.ts';
import { prepare } from '../../../bench/library/setup.ts';
import type { Calls, World } from '../../../bench/library/world.ts';
import { endpoints } from '../../../src/resources/index.ts';

async function answers(callAll: (world: World) => Promise<Calls>): Promise<Calls> {
  const { sandbox, world } = await prepare();
  onTestFinished(sandbox.close);
  return callAll(world);
}

/** What is made anew in each world: ids, secrets, and when something was made. */
const plain = (calls: Calls) =>
  JSON.parse(JSON.stringify(calls), (key, value) =>
    ['uid', 'id', 'secret', 'intentIds', 'itemId', 'followedAt'].includes(key) ? typeof value : value,
  );

test('a client generated from sotra openapi gets the answers that ours gets, of every endpoint', async () => {
  const [ours, generated] = [await answers(throughOurs), await answers(throughGenerated)];
  expect(Object.keys(ours).sort()).toEqual(endpoints.map(({ id }) => id as string).sort());
  expect(plain(generated)).toEqual(plain(ours));
});
