import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { failure, run, runJson, temporaryFolder } from '../../support/harness.ts';
import { long, some } from '../../support/size.ts';
import { degen, evmTrader, solanaTrader, swaps, writeKeys } from '../../support/traders.ts';

const fieldsOf = (chain: string, token: string, tx: string) =>
  `--chain ${chain} --token ${token} --tx ${tx} --text gm --service-name Example`.split(' ');
const evmFields = fieldsOf('base', degen, swaps.good);
const solanaFields = fieldsOf('solana', 'So11111111111111111111111111111111111111112', swaps.solana);

function place() {
  const folder = temporaryFolder();
  return { folder, env: { SOTRA_CONFIG_DIR: join(folder, 'config') }, keys: writeKeys(folder) };
}

const modeOf = (file: string) => statSync(file).mode & 0o777;

test('a key is imported sealed, listed by address, signs by its name, is exported and removed', async () => {
  const { folder, env, keys } = place();
  const words = ['key', 'import', 'trader', '--key-file', keys.evm, '--password-file', keys.password];
  const imported = await runJson(words, { env });
  const file = join(folder, 'config', 'keys', 'trader.json');
  expect(imported).toEqual({ name: 'trader', family: 'evm', address: evmTrader.address, file });
  expect([modeOf(file), modeOf(join(folder, 'config', 'keys'))]).toEqual([0o600, 0o700]);
  expect(readFileSync(file, 'utf8')).not.toContain('0000000000000001');
  expect(await runJson('key list', { env })).toEqual([imported]);
  const sign = ['comment', 'sign', ...evmFields, '--key', 'trader', '--password-file', keys.password];
  expect(await runJson(sign, { env })).toMatchObject({ signerAddress: evmTrader.address });
  const plain = join(folder, 'plain.hex');
  await run(['key', 'export', 'trader', '--unencrypted', '--out', plain, '--password-file', keys.password], { env });
  expect([readFileSync(plain, 'utf8'), modeOf(plain)]).toEqual([`${evmTrader.key}\n`, 0o600]);
  const again = await run(['key', 'export', 'trader', '--out', plain], { env });
  expect(again).toEqual(failure(2, `cannot ask whether to replace ${plain} (--out)`));
  expect(await run('key export trader --out -', { env })).toEqual(failure(2, '--out -: must be a file\n'));
  expect((await run('key remove trader', { env })).code).toBe(2);
  expect((await run('key remove trader', { env, answers: ['no'] })).code).toBe(2);
  expect((await run('key remove trader', { env, answers: ['yes'] })).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test('a Solana keypair is sealed the same way and comes out the same', async () => {
  const { folder, env, keys } = place();
  await run(['key', 'import', 'sol', '--key-file', keys.solana, '--password-file', keys.password], { env });
  const sign = ['comment', 'sign', ...solanaFields, '--key', 'sol', '--password-file', keys.password];
  expect(await runJson(sign, { env })).toMatchObject({ signerAddress: solanaTrader.address });
  const out = join(folder, 'out.json');
  await run(['key', 'export', 'sol', '--unencrypted', '--out', out, '--password-file', keys.password], { env });
  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual(solanaTrader.keypair);
});

test('an existing key is kept, unless --replace, which backs up the old file', async () => {
  const { folder, env, keys } = place();
  const words = (file: string) => ['key', 'import', 'k', '--key-file', file, '--password-file', keys.password];
  await run(words(keys.evm), { env });
  const before = readFileSync(join(folder, 'config', 'keys', 'k.json'), 'utf8');
  expect(await run(words(keys.solana), { env })).toEqual(failure(2, 'key k already exists'));
  const { backup } = await runJson([...words(keys.solana), '--replace'], { env });
  expect([readFileSync(backup, 'utf8'), modeOf(backup)]).toEqual([before, 0o600]);
  expect(await runJson('key list', { env })).toMatchObject([{ name: 'k', family: 'solana' }]);
  const { err } = await run('key remove k --yes', { env });
  expect(err).toMatch(`Removed key k (${solanaTrader.address}).\nA key that it replaced is still in ${backup}.\n`);
});

test.each([
  ['pw\r\n', 'pw'],
  ['pw\rpw\n', 'pw\rpw'],
  ['pw\r', 'pw\r'],
])('a password to encrypt with is the text of the file %j without its line end', async (content, typed) => {
  const { folder, env } = place();
  const file = join(folder, 'pw');
  writeFileSync(file, content, { mode: 0o600 });
  expect((await run(['key', 'generate', 'k', '--password-file', file], { env })).code).toBe(0);
  const out = join(folder, 'out');
  const exported = await run(['key', 'export', 'k', '--unencrypted', '--out', out], { env, answers: [typed] });
  expect([exported.code, readFileSync(out, 'utf8')]).toEqual([0, expect.stringMatching(/^0x[0-9a-f]{64}\n$/)]);
});

test.each([
  [undefined, undefined, 2, 'a password to encrypt the key is needed\nhint: Give it with --password-file <file>,'],
  [undefined, [''], 2, 'the password is empty'],
  [undefined, ['a', 'b'], 11, 'the two passwords differ: nothing was stored'],
  ['\n', undefined, 2, 'holds no password'],
])('a key is not sealed with the file %j or the answers %j', async (content, answers, exit, message) => {
  const { folder, env } = place();
  const file = join(folder, 'pw');
  writeFileSync(file, content ?? '', { mode: 0o600 });
  const flags = content === undefined ? [] : ['--password-file', file];
  const refused = await run(['key', 'generate', 'k', ...flags], { env, ...(answers && { answers }) });
  expect(refused).toEqual(failure(exit, message));
  expect(existsSync(join(folder, 'config', 'keys', 'k.json'))).toBe(false);
});

test('a file with a password or a secret that others may read is used with a warning, once', async () => {
  const { env, keys } = place();
  const warning = (file: string) => `warning: ${file} can be read by other users on this machine: chmod 600 ${file}\n`;
  chmodSync(keys.password, 0o644);
  const words = ['key', 'import', 'trader', '--key-file', keys.evm, '--password-file', keys.password];
  const imported = await run(words, { env });
  expect([imported.code, imported.err.split(warning(keys.password)).length - 1]).toEqual([0, 1]);
  const signed = ['comment', 'sign', ...evmFields, '--key', 'trader', '--password-file', keys.password];
  expect((await run(signed, { env })).err).toBe(warning(keys.password));
  const secret = join(temporaryFolder(), 'secret');
  writeFileSync(secret, 'whsec_abc\n', { mode: 0o644 });
  const verified = await run(`webhook verify --secret-file ${secret} --header t=1,v1=AA`, { env, stdin: '{}' });
  expect(verified.err).toBe(warning(secret));
});

type Keystore = Record<'id' | 'password' | 'address' | 'expect', string> & { json: object };

const vectorFile = 'test/data/keystores/web3_secret_storage_v3.json.gz';

describe('keystores of other wallets', () => {
  const all: Keystore[] = JSON.parse(gunzipSync(readFileSync(vectorFile)).toString());
  for (const { id, json, password, address, expect: expected } of some(all, 1))
    test(`${id}: ${expected.slice(0, 40)}`, async () => {
      const { folder, env } = place();
      const file = join(folder, 'keystore.json');
      writeFileSync(file, JSON.stringify(json), { mode: 0o600 });
      const sign = ['comment', 'sign', ...evmFields, '--key-file', file, '--json'];
      for (const end of some(['', '\n', '\r\n'], 1)) {
        writeFileSync(join(folder, 'pw'), password + end, { mode: 0o600 });
        const { code, out, err } = await run([...sign, '--password-file', join(folder, 'pw')], { env });
        if (expected.startsWith('reject')) {
          expect(code).toBe(11);
          expect(err).toContain('does not open');
        } else {
          expect([code, err]).toEqual([0, '']);
          expect(JSON.parse(out).signerAddress).toBe(address);
        }
        // Opening takes about a second each: one line end is enough for all but the first.
        if (id !== 'foundry-4db566c2') break;
      }
    });

  long('a keystore is imported under its own password, and under another', async () => {
    const vector = all.find(({ id }) => id === 'foundry-4db566c2');
    const { folder, env, keys } = place();
    const file = join(folder, 'keystore.json');
    writeFileSync(file, JSON.stringify(vector?.json), { mode: 0o600 });
    writeFileSync(join(folder, 'pw'), `${vector?.password}\n`, { mode: 0o600 });
    const words = ['key', 'import', 'k', '--key-file', file, '--password-file', join(folder, 'pw')];
    expect((await run([...words, '--new-password-file', keys.password], { env })).code).toBe(0);
    const sign = ['comment', 'sign', ...evmFields, '--key', 'k', '--json', '--password-file'];
    expect((await run([...sign, join(folder, 'pw')], { env })).code).toBe(11);
    expect(JSON.parse((await run([...sign, keys.password], { env })).out).signerAddress).toBe(vector?.address);
    expect(readdirSync(join(folder, 'config', 'keys'))).toEqual(['k.json']);
  });
});

test('a chain that does not exist makes no key, and the one that was meant is named', async () => {
  const { folder, env, keys } = place();
  const refused = await run(`key generate k --chain sol --password-file ${keys.password}`, { env });
  expect(refused).toEqual(failure(2, 'hint: Did you mean solana?'));
  expect(existsSync(join(folder, 'config', 'keys', 'k.json'))).toBe(false);
});
