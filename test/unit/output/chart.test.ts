import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';

const images = { raw: null, xs: null, sm: null };
const trader = (name: string, perChain: Record<string, number>) => ({
  profile: { id: name, name, images, addresses: [`0x${'1'.repeat(40)}`], metadata: {} },
  pnl: { total: Object.values(perChain).reduce((sum, usd) => sum + usd, 0), perChain },
  hasComments: false,
});
const board = { traders: [trader('ann', { base: 300, solana: 100 }), trader('bob', { base: -200 })] };

test('--chart draws bars by trader, split by chain, losses to the left of zero, and no line is too wide', async () => {
  const service = await answering(board);
  for (const width of [40, 60, 80, 140]) {
    const { code, out } = await run('leaderboard list --chart', { env: service.env, tty: width });
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines.filter((line) => [...line].length > width)).toEqual([]);
    const [ann = '', bob = ''] = [
      lines.find((line) => line.includes('ann')),
      lines.find((line) => line.includes('bob')),
    ];
    const axis = ann.indexOf('│');
    expect(bob.indexOf('│')).toBe(axis);
    expect(ann.slice(axis)).toMatch(/^│█+▓+$/);
    expect(bob.slice(0, axis)).toMatch(/█+$/);
    expect(bob.slice(axis + 1).trim()).toBe('');
    expect(out).toContain('█ Base');
  }
});

test('where one bar would leave no room for the others, the scale is logarithmic and says so', async () => {
  const sizes: [name: string, perChain: Record<string, number>][] = [
    ['ann', { base: 300_000, solana: 100_000 }],
    ['bob', { base: 4000 }],
    ['cid', { base: 2000, hyperliquid: -50_000 }],
  ];
  const service = await answering({ traders: sizes.map(([name, perChain]) => trader(name, perChain)) });
  const { out } = await run('leaderboard list --chart', { env: service.env, tty: 80 });
  expect(out).toBe(`Realized PnL by trader and chain (logarithmic scale)

1 ann  +$400K                           │█████████████████████████████▓▓▓▓▓▓▓▓▓
2 bob    +$4K                           │██████████
3 cid   -$48K  ░░░░░░░░░░░░░░░░░░░░░░░░░│███████
               -$50K                    0                                 +$460K

█ Base   ▓ Solana   ░ Hyperliquid
`);
  const small = await run('leaderboard list --chart --limit 2', { env: (await answering(board)).env, tty: 80 });
  expect(small.out).toContain('Realized PnL by trader and chain\n');
});

test.each(['--json', '--format csv'])('--chart and %s contradict each other', async (format) => {
  const service = await answering(board);
  const { code, err, out } = await run(`leaderboard list --chart ${format}`, { env: service.env });
  expect({ code, out, requests: service.requests }).toEqual({ code: 2, out: '', requests: [] });
  expect(err).toContain('--chart');
});

test.each([
  'profile get 0xcc950dee665699720371331c167644428c5bde06 --chart',
  'profile positions 0xcc950dee665699720371331c167644428c5bde06 closed --chart --limit 5',
])('%s draws a picture that fits the terminal', async (argv) => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const { code, out } = await run(`--sandbox ${argv}`, { env, tty: 72 });
  expect(code).toBe(0);
  expect(out).toContain('█');
  expect(out.split('\n').filter((line) => [...line].length > 72)).toEqual([]);
});
