import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { startPage } from '../support/served.ts';

const wallet = '0x465bdc4499e12488c05fd6b60f545ff5d781e755';
const trade = 'sandbox trade --side buy --amount 1 --usd 1';
const copy = 'comment copy 2f991d88-4e6a-54f7-b130-a9788a9a06ab';

const refused: readonly [argv: string, message: string | undefined, hint?: string][] = [
  ['leaderboard list --limit 251', '--limit 251: must be a whole number from 1 to 250'],
  [
    'leaderboard list --chains BASE',
    '--chains BASE: must be one of base, solana, ethereum, hyperliquid, or another name of a chain',
    'Did you mean base?',
  ],
  ['leaderboard list --chains base,,solana', '--chains base,,solana: has an empty item'],
  ['sandbox advance -1d', "unknown option '-1d'", 'The clock moves forward only: a duration is positive.'],
  ['webhook lint', "unknown command 'lint'", 'Did you mean sotra webhook list?'],
  ['leaderboard list --chains=', '--chains: is empty'],
  ['leaderboard list --columns rank,,name', '--columns rank,,name: has an empty item'],
  ['follow add ext:a ext:b,,ext:c', '<target...> ext:b,,ext:c: has an empty item'],
  ['follow bulk --file a --file b', '--file is given twice: a and b', 'It takes one value: omit the other.'],
  ['request GET /v1/x -d {} -d []', '--data is given twice: {} and []'],
  ['--context sandbox leaderboard list --context clicker', '--context is given twice: sandbox and clicker'],
  [
    'webhook list --base-url https://me:pass@a.test --base-url https://b.test',
    '--base-url is given twice: https://***@a.test and https://b.test',
  ],
  [
    'comment list 0x12 --chain base',
    '<hash...> 0x12: it has 2 hex digits; a transaction on base is 0x and 64 hex digits',
  ],
  [
    'comment list https://basescan.org/tx/0x12 --chain base',
    '<hash...> https://basescan.org/tx/0x12: that is a URL, not a transaction hash; a transaction on base is 0x and 64 hex digits',
  ],
  [
    'comment list --tx 52012345678 --chain base',
    '--tx 52012345678: that is an order id, which only hyperliquid has; a transaction on base is 0x and 64 hex digits',
  ],
  ['token comments base 0x12', '<contract> 0x12: a token on base is 0x and 40 hex digits'],
  ['token positions zora 0x12 open', '<contract> 0x12: a token on zora is 0x and 40 hex digits'],
  [
    `${copy} --token 0x12 --chain base --actor-address ${wallet}`,
    '--token 0x12: a token on base is 0x and 40 hex digits',
  ],
  [`${trade} --chain base --trader ${wallet} --token 0x12`, '--token 0x12: a token on base is 0x and 40 hex digits'],
  ['request HEAD /v2/leaderboard', '<method> HEAD: must be one of GET, POST, PUT, PATCH, DELETE'],
  ['leaderboard list --timeframe 1y', '--timeframe 1y: must be one of 7d, 30d'],
  ['leaderboard rank 0x123', '<address> 0x123: has 3 hex digits, 40 are needed'],
  [
    'profile get nobody',
    '<identifier> nobody: must be a profile UUID, a wallet address (0x... or Solana base58) or ext:<your user id>',
  ],
  [`follow add ${wallet}`, "missing required argument 'target'"],
  [`follow add ${wallet} ext:a 0x12`, '<target...> 0x12: has 2 hex digits, 40 are needed'],
  [`follow add ${wallet} ext:a ${wallet.toUpperCase().replace('X', 'x')}`, undefined, 'Omit this target.'],
  ['profile follows ext:a --limit 101', '--limit 101: must be a whole number from 1 to 100'],
  ['feed actor ext:a --min-trade-usd 50', '--min-trade-usd 50: must be one of 10, 100, 500, 1000'],
  ['feed actor ext:a --min-trade-usd 1k', undefined, 'Did you mean 1000?'],
  ['feed actor ext:a --min-market-cap 1M', undefined, 'Did you mean 1000000?'],
  ['leaderboard list --limt 5', "unknown option '--limt'", 'Did you mean --limit?'],
  ['leaderbord list', "unknown command 'leaderbord'", 'Did you mean sotra leaderboard list?'],
  ['help fomatting', undefined, 'Did you mean sotra help formatting?'],
  ['help leaderbord list', undefined, 'Did you mean sotra help leaderboard?'],
  ['leaderboard list --chain base', "unknown option '--chain'", 'Did you mean --chains?'],
  ['leaderboard list extra', "unexpected argument 'extra'", 'See sotra leaderboard list --help.'],
  ['leaderboard list --format jsn', '--format jsn: must be one of table, json, ndjson, csv, tsv', 'Did you mean json?'],
  ['leaderboard list --timeout soon', '--timeout soon: must be a time from 1ms to 1d, such as 500ms, 30s or 2m'],
  ['leaderboard list --rate 5/d', '--rate 5/d: must be a rate such as 5/s, 300/m or 1000/h, at most 5000/s'],
  ['leaderboard list --retries many', '--retries many: must be a whole number from 0 to 20'],
];

test('wrong input is refused before any request, with a suggestion', async () => {
  const service = await answering({ traders: [] });
  for (const [argv, message, hint] of refused) {
    const { code, out, err } = await run(argv, { env: service.env });
    expect([argv, code, out]).toEqual([argv, 2, '']);
    if (message !== undefined) expect(err.split('\n')[0]).toBe(`error: ${message}`);
    if (hint !== undefined) expect(err).toContain(`hint: ${hint}`);
  }
  expect(service.requests).toEqual([]);
});

test('coins of hyperliquid and tokens of a chain that the document does not name are passed through unchanged', async () => {
  const service = await answering([]);
  for (const token of ['hyperliquid 0x12', 'hyperliquid @107', 'sui 0x2::sui::SUI'])
    expect((await run(`token comments ${token}`, { env: service.env })).code).toBe(0);
  expect(service.requests.map(({ url }) => decodeURIComponent(url).split('?')[0])).toEqual([
    '/v1/tokens/hyperliquid/0x12/comments',
    '/v1/tokens/hyperliquid/@107/comments',
    '/v1/tokens/sui/0x2::sui::SUI/comments',
  ]);
});

test('a variable that is set but empty counts as not set, so that a missing CI secret fails', async () => {
  const none = await run('leaderboard list', { env: { SOTRA_BASE_URL: '', SOTRA_API_KEY: '' } });
  expect(none).toMatchObject({ code: 2, out: '' });
  const noKey = await run('leaderboard list', {
    env: { SOTRA_BASE_URL: 'https://api.example.com', SOTRA_API_KEY: '' },
  });
  expect(noKey).toMatchObject({ code: 4, out: '' });
  expect(noKey.err).toContain('no API key for https://api.example.com');
});

test.each([
  ['http://api.example.com', 'plain http would send the API key in the clear'],
  ['http://127.0.0.1.example.com', 'plain http would send the API key in the clear'],
  ['ftp://api.example.com', 'must be an address such as https://api.example.com'],
  ['api.example.com', 'must be an address such as https://api.example.com'],
  ['https://user:secret@api.example.com', 'must not carry a user, a query or a fragment'],
])('the base URL %s is refused', async (url, message) => {
  const { code, out, err } = await run(`leaderboard list --base-url ${url}`, { env: { SOTRA_API_KEY: 'k' } });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(message);
  expect(err).not.toContain('secret');
});

test('a chain that the document does not name is passed through unchanged, with a warning that names the known ones', async () => {
  const service = await stub((_, response) => response.end('{"traders":[],"items":[]}'));
  const argv = [
    'leaderboard list --chains bsc,base',
    `feed actor ${wallet} --chains robinhood`,
    `token positions bsc ${wallet} open`,
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
    expect.stringContaining(`/bsc/${wallet}/`),
  ]);
  expect((await run('leaderboard list --chains solan', { env: service.env })).err).toContain('Did you mean solana?');
  expect((await run('leaderboard list --chains bsae', { env: service.env })).err).toContain('Did you mean base?');
});

test('the sandbox accepts the chains of --chains, and refuses others as the service may', async () => {
  const other = await run('--sandbox leaderboard list --chains bsc');
  expect([other.code, other.err]).toEqual([6, expect.stringContaining('chains "bsc": must be one of base, solana')]);
  const { url, env } = await startPage('sandbox start --port 0 --empty --chains bsc,robinhood');
  const own = { ...env, SOTRA_BASE_URL: url };
  const buy = `sandbox trade --trader ${wallet} --token ${wallet} --side buy --amount 5 --usd 20`;
  expect((await run(`${buy} --chain bsc`, { env: own })).code).toBe(0);
  const ask = async (line: string) => JSON.parse((await run(`${line} --json`, { env: own })).out);
  const onBsc = [{ metadata: { tokenChain: 'bsc' } }];
  for (const chains of ['bsc', 'all'])
    expect(await ask(`profile positions ${wallet} open --chains ${chains}`)).toMatchObject(onBsc);
  expect(await ask(`feed actor ${wallet} --chains all`)).toMatchObject({ items: onBsc });
  await run(`${buy.replace('buy', 'sell').replace('--usd 20', '--usd 50')} --chain bsc`, { env: own });
  expect(await ask('leaderboard list --chains bsc')).toMatchObject({ traders: [{ pnl: { total: 30 } }] });
  expect(await ask('leaderboard list')).toEqual({ traders: [] });
  const file = join(temporaryFolder(), 'trades.csv');
  const row = `2026-11-20T09:00:00Z,BSC,${wallet},${wallet},buy,1,9`;
  writeFileSync(file, `time,chain,trader,token,side,amount,usd\n${row}\n`);
  expect(await ask(`sandbox import ${file}`)).toMatchObject({ imported: 1, rejected: 0 });
  const unknown = await run(`${buy} --chain mars`, { env: own });
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('chain mars: must be one of')]);
});
