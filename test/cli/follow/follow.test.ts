import { expect, test } from 'vitest';
import { failure, run, runJson } from '../../support/harness.ts';
import { ask, type SandboxServer, serveSandbox } from '../../support/served.ts';

const follower = '0x00000000000000000000000000000000000000f1';
const wallet = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const mint = 'So11111111111111111111111111111111111111112';
const unknown = '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11';
// In the built-in world this trader has two wallets, one of each family.
const evm = '0xb129d76820940a14c764df8b223d8e39cf94a122';
const solana = 'J9j4Jz9rmCoZkLdvkrLD3LVsqycByN8953WDqxFBW8Sp';
const json = (value: unknown) => ({ body: JSON.stringify(value) });
const follows = async (service: SandboxServer, identifier: string, key = service.keyA) => {
  const { body } = await ask(service, 'GET', `/v1/addresses/${identifier}/follows`, { key });
  return (body as { items: { addresses: string[]; externalId?: string }[] }).items
    .map(({ addresses, externalId }) => addresses[0] ?? externalId)
    .sort();
};

test('several targets are followed at once, repeating changes nothing, and removing takes back', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const env = service.envA;
  for (const _ of ['once', 'again']) {
    const { targetProfiles } = await runJson(`follow add ${follower} ${wallet} ${mint} ${wallet}`, { env });
    expect(targetProfiles).toMatchObject([{ addresses: [wallet.toLowerCase()] }, { addresses: [mint] }]);
    expect(await follows(service, follower)).toEqual([wallet.toLowerCase(), mint].sort());
  }
  for (const _ of ['once', 'again']) {
    await runJson(`follow remove ${follower} ${wallet.toUpperCase().replace('0X', '0x')}`, { env });
    expect(await follows(service, follower)).toEqual([mint]);
  }
  expect((await run(`follow remove ${follower} ${mint} ${unknown}`, { env })).code).toBe(5);
  expect(await follows(service, follower)).toEqual([mint]);
});

test('external ids of any characters follow and are followed', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const odd = 'ext:a/b c?d#e%ü';
  expect(await run(['follow', 'add', odd, 'ext:target', wallet], { env: service.envA })).toMatchObject({ code: 0 });
  expect(await follows(service, encodeURIComponent(odd))).toEqual([wallet.toLowerCase(), 'target']);
  const { body } = await ask(service, 'GET', '/v1/addresses/ext%3Atarget/profile');
  expect(body).toMatchObject({ externalId: 'target', metrics: { thisPartner: { followerCount: 1 } } });
});

test('profiles in a list or after a change are without metrics and status', async () => {
  const service = await serveSandbox();
  const changed = async (method: string) =>
    (await ask(service, method, `/v1/addresses/${follower}/follow`, json({ targets: [evm] }))).body;
  const { targetProfiles: followed } = (await changed('PUT')) as { targetProfiles: object[] };
  const { items: listed } = (await ask(service, 'GET', `/v1/addresses/${follower}/follows`)).body as {
    items: object[];
  };
  const { targetProfiles: left } = (await changed('DELETE')) as { targetProfiles: object[] };
  const named = (await ask(service, 'PUT', `/v1/profiles/${evm}/name`, json({ name: 'dunebuggy' }))).body;
  for (const profile of [followed[0], listed[0], left[0], named]) {
    expect(profile).toMatchObject({ name: 'dunebuggy.alpha.test' });
    expect(profile).not.toHaveProperty('metrics');
    expect(profile).not.toHaveProperty('status');
  }
});

test('a profile that follows itself through another of its addresses is refused', async () => {
  expect(await run(`--sandbox follow add ${evm} ${solana}`)).toEqual(failure(6, 'a profile cannot follow itself'));
});

test('two partners: own names, own graphs, a whole profile followed by one address and left by another', async () => {
  const service = await serveSandbox();
  const asPartner = (key: 'a' | 'b') => async (argv: string) => {
    const { code, out, err } = await run(`${argv} --json --strict`, { env: key === 'a' ? service.envA : service.envB });
    expect([argv, code, err]).toEqual([argv, 0, expect.any(String)]);
    return JSON.parse(out);
  };
  const [a, b] = [asPartner('a'), asPartner('b')];
  const counts = async () => ({
    a: (await a(`profile get ${solana}`)).metrics,
    b: (await b(`profile get ${evm}`)).metrics,
  });

  expect((await a(`profile set-name ${solana} --name storm_7`)).name).toBe('storm_7.alpha.test');
  expect((await b(`profile set-name ${evm} --name Rain_7`)).name).toBe('Rain_7.beta.test');
  expect((await a(`profile get ${evm}`)).name).toBe('storm_7.alpha.test');
  expect((await b(`profile get ${solana}`)).name).toBe('Rain_7.beta.test');

  const before = await counts();
  expect(before.a.allPartners).toEqual(before.b.allPartners);
  const { targetProfiles } = await a(`follow add ext:story_user ${solana}`);
  expect(targetProfiles).toMatchObject([{ name: 'storm_7.alpha.test', addresses: [evm, solana] }]);
  const after = await counts();
  expect(after.a.thisPartner.followerCount - before.a.thisPartner.followerCount).toBe(1);
  expect(after.a.allPartners.followerCount - before.a.allPartners.followerCount).toBe(1);
  expect(after.b.thisPartner).toEqual(before.b.thisPartner);
  expect(after.b.allPartners).toEqual(after.a.allPartners);

  const followers = (await a(`profile followers ${evm}`)).items;
  expect(followers[0]).toMatchObject({ externalId: 'story_user', name: 'story_user' });
  expect((await a('profile follows ext:story_user')).items).toMatchObject([{ addresses: [evm, solana] }]);
  expect((await b('profile follows ext:story_user')).items).toEqual([]);
  expect((await a(`profile get ${evm} --viewer-addresses ext:story_user`)).isFollowedByUser).toBe(true);
  expect((await b(`profile get ${evm} --viewer-addresses ext:story_user`)).isFollowedByUser).toBe(false);
  expect(await a('profile get ext:story_user')).toMatchObject({
    metrics: { thisPartner: { followingCount: 1 }, allPartners: { followingCount: 1 } },
  });

  await b(`follow add ext:story_user ${evm}`);
  const both = await counts();
  expect(both.b.allPartners.followerCount - before.b.allPartners.followerCount).toBe(2);

  await a(`follow remove ext:story_user ${evm}`);
  const left = await counts();
  expect(left.a.thisPartner).toEqual(before.a.thisPartner);
  expect(left.b.thisPartner.followerCount - before.b.thisPartner.followerCount).toBe(1);
  expect((await a('profile follows ext:story_user')).items).toEqual([]);
  expect((await b('profile follows ext:story_user')).items).toHaveLength(1);
  expect((await a(`profile delete-name ${evm} --yes`)).name).not.toContain('storm_7');
  expect((await b(`profile get ${evm}`)).name).toBe('Rain_7.beta.test');
});

test.each([
  ['follow add ext:a ext:b,ext:c', '{"targets":["ext:b","ext:c"]}'],
  [`follow add ext:a ext:b ext:c,${follower}`, `{"targets":["ext:b","ext:c","${follower}"]}`],
  [
    `webhook register --url https://x.test/h --wallet-addresses ext:u,${follower}`,
    `{"walletAddresses":["ext:u","${follower}"],"destinationUrl":"https://x.test/h"}`,
  ],
])('a list is split at commas, whatever its first item is: %s', async (argv, body) => {
  expect((await run(`--sandbox ${argv} --dry-run`)).out).toContain(body);
});
