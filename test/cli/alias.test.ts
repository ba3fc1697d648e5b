import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

async function withAlias(): Promise<Record<string, string>> {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  expect((await run(`alias set @whale ${wallet}`, { env })).code).toBe(0);
  return env;
}

test('an alias stands wherever an identifier does: argument, list, token address', async () => {
  const service = await answering({});
  const env = { ...(await withAlias()), ...service.env };
  await run('profile get @whale', { env });
  await run('leaderboard rank @whale', { env });
  await run('leaderboard list --viewer-addresses @whale,0x0000000000000000000000000000000000000001', { env });
  await run('leaderboard list --viewer-addresses ext:a --viewer-addresses @whale', { env });
  expect(service.requests.map(({ url }) => url)).toEqual([
    `/v1/addresses/${wallet}/profile`,
    `/v2/leaderboard/ranking?address=${wallet}`,
    `/v2/leaderboard?viewerAddresses=${wallet}&viewerAddresses=0x0000000000000000000000000000000000000001`,
    `/v2/leaderboard?viewerAddresses=ext%3Aa&viewerAddresses=${wallet}`,
  ]);
});

test('text that begins with an @ but is no identifier is left alone', async () => {
  const service = await answering({ traders: [] });
  const env = { ...(await withAlias()), ...service.env };
  await run('leaderboard sections --sections @whale', { env });
  expect(service.requests[0]?.url).toBe('/v1/leaderboard?sections=%40whale');
});

test('an alias that is not saved is refused with the one that was meant', async () => {
  const service = await answering({});
  const env = { ...(await withAlias()), ...service.env };
  const near = await run('profile get @wahle', { env });
  expect(near).toMatchObject({ code: 2, out: '' });
  expect(near.err).toContain('<identifier> @wahle: no such alias');
  expect(near.err).toContain('hint: Did you mean @whale?');
  expect((await run('profile get @proto', { env })).err).toContain('sotra alias set @proto <identifier>');
  expect((await run('profile get @constructor', { env })).code).toBe(2);
  expect(service.requests).toEqual([]);
});

test('aliases are listed, replaced with a word about it, and removed', async () => {
  const env = await withAlias();
  expect((await run('alias set me ext:42', { env })).code).toBe(0);
  const listed = await run('alias list --json', { env });
  expect(JSON.parse(listed.out)).toEqual({
    aliases: [
      { alias: '@me', identifier: 'ext:42' },
      { alias: '@whale', identifier: wallet },
    ],
  });
  expect((await run('alias set @me ext:43', { env })).err).toContain('@me stood for ext:42 before.');
  expect((await run('alias remove @me', { env })).code).toBe(0);
  expect((await run('alias list', { env })).out).toBe(`@whale\t${wallet}\n`);
  const gone = await run('alias remove @wale', { env });
  expect(gone.code).toBe(2);
  expect(gone.err).toContain('Did you mean @whale?');
});

test.each([
  ['alias set whale nobody', '<identifier> nobody: must be a profile UUID'],
  ['alias set @a/b ext:1', '<name> @a/b: must be a name such as @whale'],
  [`alias set @ ${wallet}`, '<name> @: must be a name such as @whale'],
  ['alias set @me', '<identifier> is required'],
])('refused: %s', async (argv, message) => {
  const { code, err } = await run(argv);
  expect(code).toBe(2);
  expect(err).toContain(message);
});

test('whois shows PnL and follow counts, and with --viewer whether that wallet follows it', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const trader = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  const factsOf = async (more: string) => {
    const { facts } = JSON.parse((await run(`--sandbox whois ${trader} --json ${more}`, { env })).out);
    return Object.fromEntries(facts.map(({ fact, value }: Record<string, string>) => [fact, value]));
  };
  const before = await factsOf('--viewer ext:me');
  expect(before).toMatchObject({ 'PnL 30 days': expect.stringMatching(/^[+-]\$/), 'followed by ext:me': 'no' });
  await run(`--sandbox follow add ext:me ${trader}`, { env });
  const after = await factsOf('--viewer ext:me');
  expect([after['followed by ext:me'], Number(after.followers)]).toEqual(['yes', Number(before.followers) + 1]);
});

test('whois says what an address is, who is behind it, and where each part comes from', async () => {
  const env = await withAlias();
  const { code, out } = await run('--sandbox whois @whale --json', { env });
  expect(code).toBe(0);
  const { typed, identifier, facts } = JSON.parse(out);
  expect({ typed, identifier }).toEqual({ typed: '@whale', identifier: wallet });
  expect(facts).toEqual(
    expect.arrayContaining([
      { fact: 'stands for', value: wallet, from: 'settings' },
      { fact: 'is', value: 'EVM address', from: 'typed' },
      { fact: 'alias', value: '@whale', from: 'settings' },
      { fact: 'wallet', value: wallet, from: 'service' },
    ]),
  );
  const id = facts.find(({ fact }: { fact: string }) => fact === 'profile id').value;
  const byId = JSON.parse((await run(`--sandbox whois ${id} --json`, { env })).out);
  expect(byId.facts).toEqual(expect.arrayContaining([{ fact: 'alias', value: '@whale', from: 'settings' }]));
});

test.each([
  ['whois 0x12', 'an EVM address has 40 digits after 0x, this has 2'],
  ['whois vitalik', 'sotra whois @vitalik'],
  ['whois @nobody', 'no such alias'],
  ['whois 00000000-0000-0000-0000-000000000000', 'does not exist'],
])('%s is answered with the way out', async (argv, message) => {
  const { code, out, err } = await run(`--sandbox ${argv}`);
  expect(code).toBe(argv.includes('-') ? 5 : 2);
  expect(out).toBe('');
  expect(err).toContain(message);
});

test('what may be a private key is not repeated', async () => {
  const digits = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318';
  for (const typed of [digits, `0x${digits}`]) {
    const { code, err } = await run(`--sandbox whois ${typed}`);
    expect(code).toBe(2);
    expect(err).toContain('64 digits are a transaction hash');
    expect(err).not.toContain(digits);
  }
});
