import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';

/** A position of the built-in world: four trades, one of them commented, three replies. */
const known = '6527ff56-9ac0-5c42-812c-d84aa9a0cf53';

test('one position shows its trades newest first, then each comment with its replies', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const { out } = await run(`--sandbox position get ${known}`, { env, tty: 100 });
  const order = ['Trader ', 'Realized ', 'Trades', ' sell ', ' buy ', 'Comment on the buy of ', 'Replies', 'ondine'];
  const places = order.map((text) => out.indexOf(text));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(out).toContain('Comment  Topped up DEGEN: same thesis, lower price.');
  expect(out).toContain('Reply  Good luck. Honestly.');
});

test('replies come with a single position and with nothing else', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const comments = async (argv: string) => {
    const answer = [JSON.parse((await run(`--sandbox ${argv} --json`, { env })).out)].flat();
    const cards = answer.filter((card) => card.itemId === known);
    return cards.flatMap((card) => card.metadata.trades.flatMap((trade: { comments: object[] }) => trade.comments));
  };
  const [single] = await comments(`position get ${known}`);
  expect(single.replies).toHaveLength(3);
  expect(single.replies[0]).toMatchObject({ text: 'Been in since last week, welcome.', author: { type: 'user' } });
  const [listed] = await comments('token positions base 0x4ed4e862860bed51a9570b96d89af5e1b0efefed open');
  expect(listed).toMatchObject({ uid: single.uid, commentText: single.commentText });
  expect(listed).not.toHaveProperty('replies');
});

test('token positions list the commented trades of a card, profile positions all of them, newest first', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const times = async (argv: string) => {
    const answer: { itemId: string; metadata: { trades: { timestamp: number }[] } }[] = JSON.parse(
      (await run(`--sandbox ${argv} --limit 100 --json`, { env })).out,
    );
    const card = answer.find(({ itemId }) => itemId === known);
    return card?.metadata.trades.map(({ timestamp }) => timestamp) ?? [];
  };
  expect(await times('token positions base 0x4ed4e862860bed51a9570b96d89af5e1b0efefed open')).toHaveLength(1);
  const all = await times('profile positions 0x465bdc4499e12488c05fd6b60f545ff5d781e755 open');
  expect(all).toHaveLength(4);
  expect(all).toEqual([...all].sort((a, b) => b - a));
});

test('viewer addresses say what they like, on comments and replies', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const liked = async (more: string) => {
    const { out } = await run(`--sandbox position get ${known} ${more} --json`, { env });
    const [comment] = JSON.parse(out).metadata.trades.flatMap((trade: { comments: object[] }) => trade.comments);
    return [comment, ...comment.replies].filter((one) => one.isLikedByUser ?? one.metrics.isLikedByUser).length;
  };
  expect(await liked('')).toBe(0);
  const followers = await run('--sandbox profile followers 0x465bdc4499e12488c05fd6b60f545ff5d781e755 --json', { env });
  const fans = JSON.parse(followers.out).items.map((fan: { addresses: string[] }) => fan.addresses[0]);
  const counts = await Promise.all(fans.map((fan: string) => liked(`--viewer-addresses ${fan}`)));
  expect(Math.max(...counts)).toBeGreaterThan(0);
});

test('a list is one line a card, with side and leverage on perps and the sign of the PnL', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const argv = '--sandbox profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 closed --chains hyperliquid';
  const { out } = await run(`${argv} --limit 1`, { env, tty: 140, now: Date.parse('2026-11-20T12:00:00Z') });
  expect(out.split('\n')[0]?.trim().split(/ {2,}/)).toEqual([
    ...['Trader', 'Token', 'Chain', 'Side', 'Realized', 'Holding', 'Cost', 'Comments', 'Last trade', 'Position'],
  ]);
  expect(out.split('\n')[2]?.trim().split(/ {2,}/)).toEqual([
    ...['0xb7b6…17b2', 'SUI', 'hyperliquid', 'short ×1', '+$10.60', '0', '$0.00', '0'],
    '2026-11-20 09:04Z',
    'b953f4c4-6fe9-5d81-8dbf-d4cb850a3920',
  ]);
  const narrow = await run(`${argv} --limit 1`, { env, tty: 60 });
  expect(narrow.out.split('\n')[0]?.trim().split(/ {2,}/)).toEqual([
    'Trader',
    'Token',
    'Side',
    'Realized',
    'Holding',
    'Cost',
  ]);
});
