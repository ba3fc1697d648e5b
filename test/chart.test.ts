import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from './harness.ts';

const metadata = {};
const images = { raw: null, xs: null, sm: null };

function trader(id: string, name: string, total: number, perChain: Record<string, number | null>) {
  return { profile: { id, name, images, addresses: [`0x${id}`], metadata }, pnl: { total, perChain } };
}

const board = {
  traders: [
    trader('a', 'Ada', 4000, { base: 2000, solana: 1000, ethereum: 500, hyperliquid: 500 }),
    trader('b', 'Grace', 500, { base: 1500, solana: -1000, ethereum: null, hyperliquid: null }),
    trader('c', 'Linus', -2000, { base: null, solana: -2000, ethereum: null, hyperliquid: null }),
    trader('d', 'Nobody', 0, { base: 0, solana: null, ethereum: null, hyperliquid: null }),
  ],
};

const lines = (text: string) => text.split('\n');

test('a leaderboard is drawn by trader and chain, losses to the left, fillings told apart without colour', async () => {
  const { env } = await answering(board);
  const { out, code } = await run('leaderboard list --chart', { env, tty: 52 });
  expect(code).toBe(0);
  expect(lines(out)).toEqual([
    'Realized PnL by trader and chain',
    '',
    '1 Ada     +$4K            │█████████▓▓▓▓▓▒▒░░',
    '2 Grace  +$500       ▓▓▓▓▓│███████',
    '3 Linus   -$2K  ▓▓▓▓▓▓▓▓▓▓│',
    '4 Nobody $0.00            │',
    '                -$2.11K   0             +$4K',
    '',
    '█ Base   ▓ Solana   ▒ Ethereum   ░ Hyperliquid',
    '',
  ]);
});
