import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listKeys, nameKeyFile, readStoredKey, storeKey, writeSecretFile } from '../../../src/keys/keystore.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { evmTrader, solanaTrader } from '../../support/traders.ts';

const crypto = {
  cipher: 'aes-128-ctr',
  ciphertext: '00'.repeat(32),
  cipherparams: { iv: '00'.repeat(16) },
  mac: '00'.repeat(32),
  kdf: 'pbkdf2',
  kdfparams: { c: 1, prf: 'hmac-sha256', dklen: 32, salt: '00' },
};
const sealed = { version: 3, address: evmTrader.address.slice(2).toLowerCase(), crypto };
const ofSolana = { version: 3, address: solanaTrader.address, sotra: { family: 'solana' }, crypto };
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

test('a stored key is replaced where that is said, and kept beside the new one', () => {
  const folder = temporaryFolder();
  const { file } = storeKey(folder, 'main', sealed, once);
  expect(() => storeKey(folder, 'main', ofSolana, once)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'key main exists already',
      hint: 'Replace it with --replace (the old one is kept as a backup), or choose another name.',
    }),
  );
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(sealed);
  const { backup = '' } = storeKey(folder, 'main', ofSolana, { ...once, replace: true });
  expect(backup).toBe(`${file}.2026-11-23T00-00-00.000Z.bak`);
  expect([JSON.parse(readFileSync(backup, 'utf8')), permissions(backup)]).toEqual([sealed, 0o600]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ofSolana);
  // A backup is not replaced in its turn.
  expect(() => storeKey(folder, 'main', sealed, { ...once, replace: true })).toThrow(
    expect.objectContaining({ code: 'local-file', message: `cannot write ${backup}: it exists already` }),
  );
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ofSolana);
  expect(storeKey(folder, 'new', sealed, { ...once, replace: true }).backup).toBeUndefined();
  expect(readdirSync(folder).sort()).toEqual(['main.json', 'main.json.2026-11-23T00-00-00.000Z.bak', 'new.json']);
});

test('a secret is written to its owner alone, over a file only where that is meant', () => {
  const file = join(temporaryFolder(), 'secret');
  writeSecretFile(file, 'one', { exclusive: true });
  expect([readFileSync(file, 'utf8'), permissions(file)]).toEqual(['one', 0o600]);
  expect(() => writeSecretFile(file, 'two', { exclusive: true })).toThrow(
    expect.objectContaining({
      code: 'local-file',
      message: `cannot write ${file}: it exists already`,
      hint: 'Free some disk space, or correct the permissions of its folder.',
      cause: expect.any(Error),
    }),
  );
  expect(readFileSync(file, 'utf8')).toBe('one');
  writeSecretFile(file, 'two', { exclusive: false });
  expect(readFileSync(file, 'utf8')).toBe('two');
});

test('stored keys are listed by name; what is no keystore is told and left out', () => {
  const folder = temporaryFolder();
  const warnings: string[] = [];
  const list = (of = folder) => listKeys(of, (problem) => warnings.push(problem));
  expect(list(join(folder, 'none'))).toEqual([]);
  for (const name of ['b', 'c', 'a']) storeKey(folder, name, name === 'c' ? ofSolana : sealed, once);
  for (const file of ['a.json.bak', 'json', 'notes.txt']) writeFileSync(join(folder, file), '{}');
  expect(list()).toEqual([
    { name: 'a', family: 'evm', address: evmTrader.address, file: join(folder, 'a.json') },
    { name: 'b', family: 'evm', address: evmTrader.address, file: join(folder, 'b.json') },
    { name: 'c', family: 'solana', address: solanaTrader.address, file: join(folder, 'c.json') },
  ]);
  expect(warnings).toEqual([]);
  writeFileSync(join(folder, 'b.json'), '{');
  expect(list().map(({ name }) => name)).toEqual(['a', 'c']);
  expect(warnings).toEqual([`cannot read the key in ${join(folder, 'b.json')}: it is not JSON`]);
});

test('a keystore need not name its address', () => {
  const folder = temporaryFolder();
  const { file } = storeKey(folder, 'main', { version: 3, crypto }, once);
  const { stored } = readStoredKey(folder, 'main');
  expect(stored).toEqual({ name: 'main', family: 'evm', address: '', file });
});

test('a stored key is read by its name, and one that is not there is told with those that are', () => {
  const folder = temporaryFolder();
  expect(() => readStoredKey(folder, 'main')).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'key main does not exist',
      hint: 'No stored keys. Generate one: sotra key generate main, or sotra key import main --key-file <file>.',
    }),
  );
  const prefixed = { ...sealed, address: `0x${sealed.address}` };
  const { file } = storeKey(folder, 'main', prefixed, once);
  storeKey(folder, 'b', sealed, once);
  expect(readStoredKey(folder, 'main')).toEqual({
    stored: { name: 'main', family: 'evm', address: evmTrader.address, file },
    json: prefixed,
  });
  expect(() => readStoredKey(folder, 'x')).toThrow(
    expect.objectContaining({ message: 'key x does not exist', hint: 'Known keys: b, main.' }),
  );
});

test.each([
  ['{"version":3', 'it is not JSON'],
  ['whsec_secret', 'it is not JSON'],
  ['null', 'it is not an object'],
  ['7', 'it is not an object'],
  ['"x"', 'it is not an object'],
])('a stored key that holds %s is not read: %s', (text, why) => {
  const folder = temporaryFolder();
  const file = join(folder, 'main.json');
  writeFileSync(file, text);
  expect(() => readStoredKey(folder, 'main')).toThrow(
    expect.objectContaining({
      code: 'local-file',
      message: `cannot read the key in ${file}: ${why}`,
      hint: 'Restore a backup of it (replaced keys end in .bak), or import the key again with --replace.',
      cause: expect.any(Error),
    }),
  );
});

test('a folder in the place of a stored key is told as one', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'main.json');
  mkdirSync(file);
  expect(() => readStoredKey(folder, 'main')).toThrow(
    `cannot read the key in ${file}: ${file} is a folder, not a regular file`,
  );
});
