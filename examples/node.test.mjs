import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'sotra';
import { startSandbox } from 'sotra/sandbox';

test('a call is repeated until the service answers', async (context) => {
  const sandbox = await startSandbox({ faults: ['503:first=2:GET /v2/leaderboard'] });
  context.after(() => sandbox.close());
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.keys[0] });
  const { traders } = await client.leaderboard.list({ limit: 3 });
  assert.equal(traders.length, 3);
});
