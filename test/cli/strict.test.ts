import { expect, test } from 'vitest';
import { answering, run } from '../support/harness.ts';

const uid = '6527ff56-9ac0-5c42-812c-d84aa9a0cf53';

/** An answer of the sandbox with one text in it replaced. */
async function served(argv: string, from: string, to: string) {
  const { out } = await run(`--sandbox ${argv} --json`);
  expect(out).toContain(from);
  return answering(JSON.parse(out.replaceAll(from, to)));
}

test('--strict refuses a value that the document does not list where it lists them; without it the value is shown', async () => {
  const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
  for (const [argv, from, to, place] of [
    [
      `profile get ${trader}`,
      '"status": "active"',
      '"status": "dormant"',
      'status: "dormant" is none of unnamed, backfilling, active',
    ],
    [
      `position get ${uid}`,
      '"tokenChain": "base"',
      '"tokenChain": "mars"',
      'metadata.tokenChain: "mars" is none of ethereum, ',
    ],
    [
      `profile positions ${trader} open --limit 1`,
      '"tokenChain": "base"',
      '"tokenChain": "mars"',
      '0.metadata.tokenChain: "mars" is none of',
    ],
  ] as const) {
    const { env } = await served(argv, from, to);
    const strict = await run(`${argv} --strict --json`, { env });
    expect([argv, strict.code, JSON.parse(strict.err).error.message]).toEqual([
      argv,
      13,
      expect.stringContaining(place),
    ]);
    expect([argv, (await run(argv, { env })).code]).toEqual([argv, 0]);
  }
  const good = await run(`--sandbox profile get ${trader} --strict`);
  expect([good.code, good.err]).toEqual([0, '']);
});
