import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'sotra';
import { expect, test } from 'vitest';
import { itemOf } from '../../src/api/kind.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { connect } from '../support/mcp-client.ts';
import { outlines } from '../support/outlines.ts';
import { startPage } from '../support/page.ts';

const token = `0x${'4'.repeat(40)}`;
const wallet = `0x${'a'.repeat(40)}`;

test('each input that names chains takes another, and says which are known; key generate chooses a form of key', async () => {
  const naming = outlines.flatMap(({ words, fields }) =>
    fields.flatMap(({ key, kind }) => {
      const item = itemOf(kind);
      return item.type === 'choice' && item.choices.includes('solana')
        ? [[words.join(' '), key, item.open !== undefined]]
        : [];
    }),
  );
  expect(naming.length).toBeGreaterThan(15);
  expect(naming.filter(([, , open]) => open !== true)).toEqual([['key generate', 'chain', false]]);
});

test('a chain that the document does not name is passed through unchanged, with a warning that names the known ones', async () => {
  const service = await stub((_, response) => response.end('{"traders":[],"items":[]}'));
  const argv = [
    'leaderboard list --chains bsc,base',
    `feed actor ${wallet} --chains robinhood`,
    `token positions bsc ${token} open`,
  ];
  for (const line of argv) {
    const { err } = await run(line, { env: service.env });
    expect([line, err]).toEqual([
      line,
      expect.stringMatching(
        /^warning: (--chains|<chain>) (bsc|robinhood) is passed through unchanged; known: .*base, /,
      ),
    ]);
  }
  expect(service.requests.map(({ url }) => url)).toEqual([
    '/v2/leaderboard?chains=bsc&chains=base',
    expect.stringContaining('chains=robinhood'),
    expect.stringContaining(`/bsc/${token}/`),
  ]);
  for (const [typed, meant] of [
    ['solan', 'solana'],
    ['eth', 'ethereum'],
  ])
    expect((await run(`leaderboard list --chains ${typed}`, { env: service.env })).err).toContain(
      `Did you mean ${meant}?`,
    );
  expect((await run('leaderboard list --chains base', { env: service.env })).err).not.toContain('as typed');
});

test('agents and code may name another chain, too', async () => {
  const service = await stub((_, response) => response.end('{"traders":[]}'));
  const { client } = await connect('mcp', { env: service.env });
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === 'leaderboard_list');
  const chains = tool?.inputSchema.properties?.['chains'] as { items?: object } | undefined;
  expect(chains?.items).toEqual({ type: 'string', examples: ['base', 'solana', 'ethereum', 'hyperliquid'] });
  await client.callTool({ name: 'leaderboard_list', arguments: { chains: ['bsc'] } });
  const own = createClient({ baseUrl: service.url, apiKey: 'k' });
  await own.leaderboard.list({ chains: ['robinhood'] });
  expect(service.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('chains'))).toEqual([
    'bsc',
    'robinhood',
  ]);
});

test('the sandbox accepts the chains of --chains, and refuses others as the service may', async () => {
  const refused = await run('--sandbox leaderboard list --chains bsc');
  expect([refused.code, refused.err]).toEqual([
    6,
    expect.stringContaining('chains "bsc": must be one of base, solana'),
  ]);
  const { url, env } = await startPage('sandbox start --port 0 --empty --chains bsc,robinhood');
  const own = { ...env, SOTRA_BASE_URL: url };
  const trade = `sandbox trade --trader ${wallet} --token ${token} --side buy --amount 5 --usd 20`;
  expect((await run(`${trade} --chain bsc`, { env: own })).code).toBe(0);
  const ask = async (line: string) => JSON.parse((await run(`${line} --json`, { env: own })).out);
  const positions = await ask(`profile positions ${wallet} open --chains bsc`);
  expect(positions).toMatchObject([{ metadata: { tokenChain: 'bsc' } }]);
  await run(`${trade.replace('buy', 'sell').replace('--usd 20', '--usd 50')} --chain bsc`, { env: own });
  expect(await ask('leaderboard list --chains bsc')).toMatchObject({ traders: [{ pnl: { total: 30 } }] });
  expect(await ask('leaderboard list')).toEqual({ traders: [] });
  const file = join(temporaryFolder(), 'trades.csv');
  writeFileSync(file, `time,chain,trader,token,side,amount,usd\n2026-11-20T09:00:00Z,BSC,${wallet},${token},buy,1,9\n`);
  expect(await ask(`sandbox import ${file}`)).toMatchObject({ imported: 1, rejected: 0 });
  const unknown = await run(`${trade} --chain mars`, { env: own });
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('chain mars: must be one of')]);
  expect((await run('leaderboard list --chains mars', { env: own })).code).toBe(6);
  const wrong = await run('sandbox start --chains BSC', { env: { SOTRA_DATA_DIR: temporaryFolder() } });
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--chains BSC')]);
});
