import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { bonk, degen, evmTrader, solanaTrader, swaps } from '../../support/traders.ts';

const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen];
const sign = ['comment', 'sign', ...base, '--text', 'gm', '--service-name', 'Example', '--browser'];

test('on a terminal without a key, Enter is the browser; flags of the page need it, and a key is not given with it', async () => {
  const words = sign.slice(0, -1);
  const [failing, opened] = [join(temporaryFolder(), 'browser'), join(temporaryFolder(), 'opened')];
  writeFileSync(failing, `#!/bin/sh\necho "$1" > '${opened}'\nexit 3\n`, { mode: 0o755 });
  const asked = await run([...words, '--timeout', '1ms'], { answers: [''], env: { BROWSER: failing } });
  expect([asked.code, asked.err]).toEqual([
    124,
    expect.stringMatching(
      /^Press Enter to sign with your wallet in the browser, or type the key\.\n.*which works once: http:\/\/127/s,
    ),
  ]);
  await expect.poll(() => existsSync(opened)).toBe(true);
  const named = await run([...sign, '--timeout', '1ms'], { env: { BROWSER: failing } });
  expect([named.code, named.err]).toEqual([124, expect.stringContaining('which works once: http://127')]);
  const refused = async (more: string) => (await run([...words, ...more.split(' ')])).err;
  expect(await refused(`--browser --signer ${solanaTrader.address}`)).toContain(': must be an EVM address');
  const onSolana = ['--chain', 'solana', '--tx', swaps.solana, '--token', bonk];
  const other = await run([
    'comment',
    'sign',
    ...onSolana,
    '--text',
    'gm',
    '--service-name',
    'Example',
    '--browser',
    '--signer',
    evmTrader.address,
  ]);
  expect([other.code, other.err]).toEqual([
    2,
    expect.stringContaining(': must be a Solana address (32 bytes in base58)'),
  ]);
  expect(await refused('--browser --key-env KEY')).toContain('--key-env and --browser contradict each other');
  const dry = await run([...sign, '--dry-run']);
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('  5  Comment: | gm\n')]);
});
