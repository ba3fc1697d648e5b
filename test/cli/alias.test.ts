import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

async function withAlias(): Promise<Record<string, string>> {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  expect((await run(`alias set @whale ${wallet}`, { env })).code).toBe(0);
  return env;
}

test('an alias works wherever an identifier does: argument, list, token address', async () => {
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

test('aliases are listed, replaced and removed', async () => {
  const env = await withAlias();
  expect((await run('alias set me ext:42', { env })).code).toBe(0);
  const listed = await run('alias list --json', { env });
  expect(JSON.parse(listed.out)).toEqual({
    aliases: [
      { alias: '@me', identifier: 'ext:42' },
      { alias: '@whale', identifier: wallet },
    ],
  });
  expect((await run('alias set @me ext:43 --yes --json', { env })).out).toContain('"identifier": "ext:43"');
  expect((await run('alias remove @me --yes', { env })).code).toBe(0);
  expect((await run('alias list', { env })).out).toBe(`@whale\t${wallet}\n`);
  const gone = await run('alias remove @wale', { env });
  expect(gone.code).toBe(2);
  expect(gone.err).toContain('Did you mean @whale?');
});

test.each([
  ['alias set whale nobody', '<identifier> nobody: must be a profile UUID'],
  ['alias set @a/b ext:1', '<name> @a/b: must be a name such as @whale'],
  [`alias set @ ${wallet}`, '<name> @: must be a name such as @whale'],
])('refused: %s', async (argv, message) => {
  const { code, err } = await run(argv);
  expect(code).toBe(2);
  expect(err).toContain(message);
});

test('profile get says who is behind an alias, and whether a viewer follows it', async () => {
  const env = await withAlias();
  const get = async (more = '') => JSON.parse((await run(`--sandbox profile get @whale --json ${more}`, { env })).out);
  expect((await get()).addresses).toContain(wallet);
  const before = await get('--viewer-addresses ext:me');
  await run('--sandbox follow add ext:me @whale', { env });
  const after = await get('--viewer-addresses ext:me');
  expect([before.isFollowedByUser, after.isFollowedByUser]).toEqual([false, true]);
});
