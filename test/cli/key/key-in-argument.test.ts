import { expect, test } from 'vitest';
import { encodeBase58 } from '../../../src/model/address.ts';
import { run, temporaryFolder } from '../../support/harness.ts';
import { evmKey, pair, secretsIn } from '../../support/hostile/canaries.ts';
import { degen, swaps } from '../../support/traders.ts';

test('a private key in any argument is refused and not repeated', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', 'gm', '--service-name', 'Example'];
  const tried = [
    ['comment', 'sign', ...base, '--key', evmKey],
    ['comment', 'sign', ...base, `--key-file=0x${evmKey}`],
    ['comment', 'sign', ...base, '--private-key', evmKey],
    ['comment', 'sign', ...base, `--private-key=${evmKey}`],
    ['comment', 'sign', ...base, evmKey],
    ['comment', 'sign', ...base, '--key-env', encodeBase58(pair)],
    ['comment', 'sign', ...base, '--key', JSON.stringify([...pair])],
    ['comment', 'sign', ...base, '--key', pair.toString('hex')],
    ['comment', 'post', ...base, '--signature', `0x${evmKey}`, '--signer', degen],
    ['comment', 'post', '--text', evmKey],
    ['comment', 'verify', '--signer', evmKey],
    ['key', 'import', evmKey],
    ['key', 'import', 'k', '--key-file', evmKey, '--json'],
  ];
  for (const argv of tried) {
    const { code, out, err } = await run([...argv, '--verbose'], { env });
    expect([argv, code]).toEqual([argv, 2]);
    expect(err).toContain('looks like a ');
    expect(err).toContain('--key-file <file>');
    expect(secretsIn(out + err)).toEqual([]);
  }
  const hash = await run(['comment', 'sign', ...base, '--preview'], { env });
  expect(hash.code).toBe(0);
});
