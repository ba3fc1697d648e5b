import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nameKeyFile, storeKey } from '../../../src/keys/keystore.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { evmTrader } from '../../support/traders.ts';

const crypto = {
  cipher: 'aes-128-ctr',
  ciphertext: '00'.repeat(32),
  cipherparams: { iv: '00'.repeat(16) },
  mac: '00'.repeat(32),
  kdf: 'pbkdf2',
  kdfparams: { c: 1, prf: 'hmac-sha256', dklen: 32, salt: '00' },
};
const sealed = { version: 3, address: evmTrader.address.slice(2).toLowerCase(), crypto };
const once = { replace: false, nowMs: Date.UTC(2026, 10, 23) };
const permissions = (path: string) => statSync(path).mode & 0o777;

test('a key is named by letters, digits, dots, dashes and underscores', () => {
  const good = ['a', 'A.b-c_9', 'Z9', '0', '0._-', 'x'.repeat(64), 'json.a', 'a.jsonx', 'a.json.b'];
  expect(good.map((name) => nameKeyFile('/keys', name))).toEqual(good.map((name) => `/keys/${name}.json`));
  for (const name of ['', '.a', '-a', '_a', 'a/b', '../a', 'a b', 'a\n', 'ä', 'ü', 'x'.repeat(65), 'a.json', '.json'])
    expect(() => nameKeyFile('/keys', name)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `${name}: a key's name is 1 to 64 letters, digits, dots, dashes or underscores`,
      }),
    );
});

test('a key is stored in a folder and a file of its owner alone, whatever the folder was', () => {
  const folder = join(temporaryFolder(), 'deep', 'keys');
  const { file, backup } = storeKey(folder, 'main', sealed, once);
  expect([file, backup]).toEqual([join(folder, 'main.json'), undefined]);
  expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(sealed, null, 2)}\n`);
  expect([permissions(folder), permissions(file)]).toEqual([0o700, 0o600]);
  chmodSync(folder, 0o755);
  storeKey(folder, 'other', sealed, once);
  expect(permissions(folder)).toBe(0o700);
  // What its owner denies himself stays so.
  chmodSync(folder, 0o501);
  if (process.getuid?.() === 0) storeKey(folder, 'third', sealed, once);
  else chmodSync(folder, 0o500);
  expect(permissions(folder)).toBe(0o500);
  chmodSync(folder, 0o700);
});
