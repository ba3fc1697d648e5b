import { expect, test } from 'vitest';
import { answering, run } from '../support/harness.ts';

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';

const nsfw = { nsfwImage: false, nsfwText: true };
const images = { raw: null, xs: null, sm: null };
const flagged = {
  id: '2f991d88-4e6a-54f7-b130-a9788a9a06ab',
  name: 'rude words',
  images,
  addresses: [trader],
  metadata: { twitterHandle: 'rude_handle', pnl30d: 12 },
  isNSFW: nsfw,
};

test('names that the service flags as NSFW are hidden from people, and shown with --show-nsfw and to machines', async () => {
  const clean = { ...flagged, id: '3f991d88-4e6a-54f7-b130-a9788a9a06ab', name: 'kind words', isNSFW: false };
  const onlyImage = { ...clean, name: 'plain words', isNSFW: { nsfwImage: true, nsfwText: false } };
  const traders = [flagged, clean, onlyImage].map((profile) => ({ profile, pnl: { total: 1 } }));
  const { env } = await answering({ traders });
  const table = await run('leaderboard list', { env, tty: 120 });
  expect(table.out).toContain('(hidden: NSFW)');
  expect(table.out).toContain('kind words');
  expect(table.out).toContain('plain words');
  const piped = await run('leaderboard list --format table', { env });
  expect(piped.out).toContain('(hidden: NSFW)');
  expect(piped.out).not.toContain('rude');
  expect(table.out).not.toContain('rude');
  expect((await run('leaderboard list --show-nsfw', { env, tty: 120 })).out).toContain('rude words');
  for (const format of ['json', 'csv', 'ndjson'])
    expect((await run(`leaderboard list --format ${format}`, { env })).out).toContain('rude words');
});

test('a flagged trader is hidden on cards and in comments, handles included', async () => {
  const profile = await answering(flagged);
  const argv = `profile get ${trader}`;
  const got = await run(argv, { env: profile.env, tty: 120 });
  expect(got.out).toContain('(hidden: NSFW)');
  expect(got.out).not.toContain('rude');
  expect((await run(`${argv} --show-nsfw`, { env: profile.env, tty: 120 })).out).toContain('rude');
  const card = JSON.parse((await run(`--sandbox feed actor ${trader} --limit 1 --json`)).out);
  const [item] = card.items;
  const actor = { ...item.actor, name: 'rude words', profile: { ...flagged } };
  const feed = await answering({ ...card, items: [{ ...item, itemTitle: 'rude words', actor }] });
  const shown = await run(`feed actor ${trader}`, { env: feed.env, tty: 120 });
  expect(shown.out).toContain('(hidden: NSFW)');
  expect(shown.out).not.toContain('rude');
});
