import { createClient } from 'sotra';
import { startSandbox } from 'sotra/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { failure, run, runJson, serve, temporaryFolder } from '../../support/harness.ts';
import { connect, textOf } from '../../support/mcp-client.ts';
import { openPageApi, startPage } from '../../support/served.ts';

const alice = `0x${'a'.repeat(40)}`;
const trades = [
  ['ETH', 'sell', 10, 20_000, '--direction short --leverage 4'],
  ['ETH', 'buy', 4, 7200, '--direction short --leverage 4'],
  ['ETH', 'buy', 6, 10_800, '--direction short --leverage 4'],
  ['BTC', 'buy', 2, 100_000, '--leverage 5'],
  ['SOL', 'sell', 50, 5000, '--direction short --leverage 2'],
] as const;

/** A served sandbox in which alice has closed a short and holds a long and a short. */
async function served(flags: string) {
  const { env, ui } = await startPage(`sandbox start --port 0 --empty ${flags}`);
  for (const [token, side, amount, usd, more] of trades) {
    const line = `sandbox trade --chain hyperliquid --trader ${alice} --token ${token} --side ${side} --amount ${amount} --usd ${usd} ${more}`;
    expect((await run(line, { env })).err).toBe('');
  }
  const shown = async (status: string, form: string) =>
    (await run(`profile positions ${alice} ${status} --chains all --sort latest ${form}`, { env })).out;
  const cards = async (status: string) =>
    JSON.parse(await shown(status, '--json')).map(({ metadata }: { metadata: Record<string, unknown> }) => [
      ...[metadata['tokenSymbol'], metadata['perpPositionType']],
      ...[metadata['positionAmount'], metadata['positionAmountWithLeverage']],
    ]);
  return { env, ui, shown, cards };
}

test('--wire clicker: a closed perp keeps the amount that it last had, and no perp has a sign', async () => {
  const { cards } = await served('--wire clicker');
  expect(await cards('closed')).toEqual([['ETH', 'short', 1.5, 6]]);
  expect((await cards('open')).flat()).toEqual(['SOL', 'short', 25, 50, 'BTC', 'long', 0.4, 2]);
});

test('without --wire clicker, and with names for parameters, a closed perp holds nothing and a short is negative', async () => {
  const { cards, env } = await served('--wire {"*.limit":"count"}');
  expect(await cards('closed')).toEqual([['ETH', 'short', 0, 0]]);
  expect((await cards('open'))[0]).toEqual(['SOL', 'short', -25, -50]);
  const asked = await run('request GET /v2/leaderboard?count=0', { env });
  expect(asked).toEqual(failure(6, 'count 0: must be a whole number from 1 to 250 (HTTP 400'));
});

test('--wire clicker: tokens match exactly, perps have milliseconds and in feeds no address, and chains without trades are absent', async () => {
  const { env } = await served('--wire clicker');
  const ask = (argv: string) => runJson(argv, { env });
  expect(await ask('token positions hyperliquid btc open')).toEqual([]);
  const [card] = await ask('token positions hyperliquid BTC open');
  expect(card).toMatchObject({ metadata: { tokenAddress: 'BTC' }, timestamp: expect.toSatisfy((ms) => ms > 1e12) });
  const { items } = await ask(`feed actor ${alice} --chains all`);
  expect(items.map(({ metadata }: typeof card) => metadata.tokenAddress)).toEqual(['', '', '']);
  expect(Object.keys((await ask(`profile get ${alice}`)).metadata.perChainPnl30d)).toEqual(['hyperliquid']);
});

test('--wire clicker: tables, agents and pages show a closed perp as empty, without unrealized PnL', async () => {
  const { shown, env, ui } = await served('--wire clicker --ui');
  const columns = '--columns token,side,realizedUsd,amount,amountWithLeverage,unrealizedUsd,totalUsd';
  expect(await shown('closed', `--price 9999 --format csv ${columns}`)).toBe(
    'token,side,realizedUsd,amount,amountWithLeverage,unrealizedUsd,totalUsd\nETH,short,2000,0,0,0,2000\n',
  );
  expect(await shown('open', `--format csv --columns token,side,amount,amountWithLeverage`)).toBe(
    'token,side,amount,amountWithLeverage\nSOL,short,25,50\nBTC,long,0.4,2\n',
  );
  const { client } = await connect('mcp', { env });
  const given = { identifier: alice, status: 'closed', chains: ['all'], fields: ['token', 'side', 'amount'] };
  expect(textOf(await client.callTool({ name: 'profile_positions', arguments: given }))).toContain('ETH\tshort\t0');
  const page = await openPageApi(ui);
  const input = JSON.stringify({ identifier: alice, status: 'closed', chains: ['all'] });
  const { json } = await page(`call?${new URLSearchParams({ endpoint: 'profile.positions', input })}`);
  expect(JSON.stringify(json.tables[0].rows)).toMatch(/short.*\$0\.00/);
});

test('--wire lasts for one run: the next start without it answers as the document says', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const amountsAfter = async (flags: string) => {
    const { stop } = await serve(`sandbox start --port 0 ${flags}`, { env });
    const cards: { metadata: { positionAmount: number } }[] = await runJson(
      '--sandbox token positions hyperliquid ETH closed --limit 50',
      { env },
    );
    await stop();
    return cards.map(({ metadata }) => metadata.positionAmount);
  };
  const clicker = await amountsAfter('--wire clicker');
  expect([clicker.length > 3, clicker.every((amount) => amount > 0)]).toEqual([true, true]);
  const document = await amountsAfter('');
  expect([document.length, document.some((amount) => amount > 0.01)]).toEqual([clicker.length, false]);
});

test.each([
  ['clickers', 'must be clicker, or names for parameters as JSON'],
  ['{"*.limit":7}', 'must be clicker, or names for parameters as JSON'],
  ['{"x.y":"z"}', '--wire x.y: no endpoint is called x'],
])('--wire %s is refused before anything is served, also by a dry run and for the background', async (wire, said) => {
  for (const more of ['', '--dry-run', '--detach'])
    expect(await run(`sandbox start --wire ${wire} ${more}`)).toEqual(failure(2, said));
});

test('a dry run says how it would answer, and the library accepts the same', async () => {
  expect((await run('sandbox start --wire clicker --dry-run')).out).toContain('clicker');
  const sandbox = await startSandbox({ seed: 'empty', wire: 'clicker' });
  onTestFinished(sandbox.close);
  for (const [token, side, amount, usd] of trades.slice(0, 3))
    sandbox.trade({ chain: 'hyperliquid', trader: alice, token, side, amount, usd, direction: 'short', leverage: 4 });
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.keys[0] });
  const [card] = await client.profile.positions({ identifier: alice, status: 'closed', chains: ['hyperliquid'] });
  expect([card?.metadata.positionAmount, card?.metadata.perpPositionType]).toEqual([1.5, 'short']);
  await expect(startSandbox({ wire: 'clack' as never })).rejects.toMatchObject({ code: 'usage' });
});
