import { expect, test } from 'vitest';
import { run } from '../../support/harness.ts';
import { serveSandbox } from '../../support/served.ts';

// In the built-in world this trader has two wallets, one of each family.
const evm = '0xb129d76820940a14c764df8b223d8e39cf94a122';
const solana = 'J9j4Jz9rmCoZkLdvkrLD3LVsqycByN8953WDqxFBW8Sp';

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
