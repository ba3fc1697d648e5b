import { expect, test } from 'vitest';
import { keychainTools } from '../../../../src/lib/config/keychain.ts';

const entry = { service: 'sotra', account: 'own "1"@https://own.example.com' };

test('on macOS the secret goes to security on stdin, and is in no argument', () => {
  const security = keychainTools({ platform: 'darwin', execPath: 'node' }).at(-1);
  expect(security?.write(entry, 'secret-key-abcd')).toEqual({
    argv: ['-i'],
    input:
      'add-generic-password -U -s sotra -a "own \\"1\\"@https://own.example.com" -X 7365637265742d6b65792d61626364\n',
  });
  expect(security?.read(entry)).toEqual(['find-generic-password', '-s', 'sotra', '-a', entry.account, '-w']);
  expect(security?.remove(entry)).toEqual(['delete-generic-password', '-s', 'sotra', '-a', entry.account]);
  expect([security?.isAbsent(44, 'not found'), security?.isAbsent(1, '')]).toEqual([true, false]);
  expect(() => security?.write(entry, 'x'.repeat(2000))).toThrow('too long');
});

test('the package is tried first, then the tool of the system', () => {
  const names = (platform: string) => keychainTools({ platform, execPath: 'node' }).map(({ name }) => name);
  expect([names('linux'), names('darwin'), names('win32')]).toEqual([
    ['@napi-rs/keyring', 'secret-tool'],
    ['@napi-rs/keyring', 'security'],
    ['@napi-rs/keyring'],
  ]);
});
