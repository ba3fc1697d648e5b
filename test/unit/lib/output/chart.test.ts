import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../../support/harness.ts';

const images = { raw: null, xs: null, sm: null };
const trader = (name: string, perChain: Record<string, number>) => ({
  profile: { id: name, name, images, addresses: [`0x${'1'.repeat(40)}`], metadata: {} },
  pnl: { total: Object.values(perChain).reduce((sum, usd) => sum + usd, 0), perChain },
  hasComments: false,
});
const board = { traders: [trader('ann', { base: 300, solana: 100 }), trader('bob', { base: -200 })] };

test('--chart draws bars by trader, losses to the left of zero, and no line is too wide', async () => {
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
    expect(ann.slice(axis)).toMatch(/^│█+$/);
    expect(bob.slice(0, axis)).toMatch(/█+$/);
    expect(bob.slice(axis + 1).trim()).toBe('');
  }
});

test('the scale is linear, also if one bar is much longer than the others, and a bar has one color', async () => {
  const sizes: [name: string, perChain: Record<string, number>][] = [
    ['ann', { base: 300_000, solana: 100_000 }],
    ['bob', { base: 4000 }],
    ['cid', { base: 2000, hyperliquid: -102_000 }],
    ['dan', { base: 0 }],
  ];
  const service = await answering({ traders: sizes.map(([name, perChain]) => trader(name, perChain)) });
  const chart = await run('leaderboard list --chart', { env: service.env, tty: 80 });
  expect(chart.out).toBe(`Realized PnL by trader

1 ann  +$400K               │███████████████████████████████████████████████████
2 bob    +$4K               │█
3 cid  -$100K  █████████████│
4 dan   $0.00               │
`);
  const colored = await run('leaderboard list --chart', { env: service.env, tty: 80, colors: true });
  expect(colored.out).toContain(`\u001b[32m+$400K\u001b[39m               │\u001b[32m${'█'.repeat(51)}\u001b[39m\n`);
  expect(colored.out).toContain(`  \u001b[31m${'█'.repeat(13)}\u001b[39m│\n`);
});

test.each([
  ['--json', 'json output'],
  ['--format csv', 'csv output'],
  ['--jq .', "option '--jq <filter>'"],
])('--chart cannot be used with %s', async (format, rival) => {
  const service = await answering(board);
  const { code, err, out } = await run(`leaderboard list --chart ${format}`, { env: service.env });
  expect({ code, out, requests: service.requests }).toEqual({ code: 2, out: '', requests: [] });
  expect(err).toContain(`option '--chart' cannot be used with ${rival}`);
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
