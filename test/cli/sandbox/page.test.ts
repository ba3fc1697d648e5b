import { expect, test } from 'vitest';
import { run } from '../../support/harness.ts';
import { openPageApi, startPage } from '../../support/page.ts';

test('ui shows any service, and a page calls endpoints that read alone', async () => {
  const { url } = await startPage('sandbox start --port 0 --ui');
  const { ui } = await startPage('ui', { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-b' });
  const page = await openPageApi(ui);
  expect((await page('list')).json.facts).toEqual({
    title: 'service',
    address: url,
    curl: `curl --silent --show-error --request GET ${url}/v2/leaderboard --header "authorization: Bearer $SOTRA_API_KEY"`,
    empty: 'No requests yet.',
    line: 'sotra leaderboard list',
    canTest: false,
    hasService: true,
  });
  for (const endpoint of ['webhook.delete', 'sandbox.reset'])
    expect((await page(`call?endpoint=${endpoint}`)).text).toBe(
      `{"error":"endpoint ${endpoint}: must be one that reads","code":"usage"}`,
    );
});

/** The answers of a page to its calls of endpoints. */
async function askPage(ui: string) {
  const page = await openPageApi(ui);
  return async (endpoint: string, input: object) =>
    (await page(`call?${new URLSearchParams({ endpoint, input: JSON.stringify(input) })}`)).json;
}

test('a page may give the inputs that are sent to the service, and none that opens, writes or shows what is on this machine', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui');
  const ask = await askPage(ui);
  const local = [
    ['webhook.list', 'showSecrets'],
    ['profile.positions', 'pricesFile'],
    ['profile.get', 'chart'],
    ['leaderboard.list', 'chart'],
    ['feed.home', 'watch'],
    ['token.comments', 'all'],
  ] as const;
  for (const [endpoint, key] of local)
    expect([endpoint, key, await ask(endpoint, { [key]: '/etc/hostname' })]).toEqual([
      endpoint,
      key,
      { error: expect.stringContaining(`${endpoint} has no input ${key}`), code: 'usage' },
    ]);
  expect(await ask('leaderboard.list', { limit: 1 })).toMatchObject({ data: { traders: [{}] } });
});

test('a call comes with the command that gives the same, and without the secret of a webhook', async () => {
  const { ui, env } = await startPage('sandbox start --port 0 --ui');
  const ask = await askPage(ui);
  const positions = await ask('profile.positions', {
    identifier: '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2',
    status: 'closed',
    providedAddressesOnly: true,
    chains: ['base', 'hyperliquid'],
    limit: 1,
  });
  expect(positions).toMatchObject({
    tables: [{ layout: 'table', rows: [expect.any(Array)] }],
    command:
      'sotra --sandbox profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 closed --provided-addresses-only --chains base,hyperliquid --limit 1',
  });
  await run('webhook register --url http://127.0.0.1:9/hook --wallet-addresses ext:one', { env });
  const webhooks = await ask('webhook.list', {});
  expect(webhooks).toMatchObject({
    data: [{ destinationUrl: 'http://127.0.0.1:9/hook', secret: '***' }],
    command: 'sotra --sandbox webhook list',
  });
  expect(JSON.stringify(webhooks)).not.toContain('whsec_');
});

test('sandbox start --cors lets the pages of these origins ask, and refuses what is no origin', async () => {
  const { url } = await startPage('sandbox start --port 0 --cors http://a.test --cors http://localhost:5173');
  const headers = { origin: 'http://localhost:5173', authorization: 'Bearer sandbox-key-a' };
  expect((await fetch(`${url}/v2/leaderboard`, { headers })).status).toBe(200);
  const { code, err } = await run('sandbox start --cors *');
  expect([code, err]).toEqual([2, expect.stringContaining('--cors *: must be the origin of pages')]);
});
