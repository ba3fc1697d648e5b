import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeKey } from '../../../src/keys/keystore.ts';
import { type RunOptions, run, temporaryFolder } from '../../support/harness.ts';
import { evmTrader, solanaTrader } from '../../support/traders.ts';

const pair = (bytes: number) => bytes.toString(16).padStart(2, '0');
/** A keystore with a password of nearly no cost, as another wallet wrote it. */
const keystore = (ciphertext: string, mac: string, more: object) => ({
  version: 3,
  ...more,
  crypto: {
    cipher: 'aes-128-ctr',
    ciphertext,
    cipherparams: { iv: pair(9).repeat(16) },
    kdf: 'pbkdf2',
    kdfparams: { c: 2, prf: 'hmac-sha256', dklen: 32, salt: pair(7).repeat(32) },
    mac,
  },
});
/** The keys of `evmTrader` and `solanaTrader`, with the password `pw`; the first also with `pw` and a line end. */
const evmStore = keystore(
  '4c5919a0dd73fcc2abbe8b87ef44189a8cc11d5c9c18409d9d41d921d806fa14',
  '4bb3c01ca96ccc9a9619d362bb2964386a2123956ff81d46b9a7625b5aa7846d',
  { address: '7e5f4552091a69125d5dfcb7b8c2659029395bdf' },
);
const solanaStore = keystore(
  'd138a83d328ea6a2113ac1737da8345ec888d835e72a2984ed7a7522c4a88575',
  '0c4ca1ca91af3a9270a430d35bbbaaab4f172963565ae646b044179effee2449',
  { address: solanaTrader.address, sotra: { family: 'solana' } },
);
const lineEndStore = keystore(
  'ad9aa95188a72b42d552652f86f9374187a191c565b10319c0e3df57811efdd4',
  'b460d678c4ecc2700cc44e1ad17a38cdfe0ad581dcdc3fb7f07fc668597868fc',
  {},
);

/** Not that of its key. */
const other = '7e5f4552091a69125d5dfcb7b8c2659029395bde';

const once = { replace: false, nowMs: Date.UTC(2026, 10, 21) };

const fields = `--token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --tx 0x${'11'.repeat(32)} --text gm --service-name S`;

/** `comment sign` on base with a folder of files: the keystores, and passwords. */
async function sign(flags: string, options: RunOptions = {}) {
  const folder = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const stores = { evm: evmStore, solana: solanaStore, lineEnd: lineEndStore, other: { ...evmStore, address: other } };
  for (const [name, store] of Object.entries(stores)) write(`${name}.json`, JSON.stringify(store));
  const passwords = { pw: 'pw', lf: 'pw\n', crlf: 'pw\r\n', two: 'pw\n\n', bad: 'no' };
  for (const [name, text] of Object.entries(passwords)) write(name, text);
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), ...options.env };
  storeKey(join(folder, 'config', 'keys'), 'kept', evmStore, once);
  storeKey(join(folder, 'config', 'keys'), 'sol', solanaStore, once);
  const words = `comment sign --chain base ${fields} ${flags}`.replaceAll('@', `${folder}/`);
  const outcome = await run(words, { ...options, env });
  const signer = /"signerAddress": "(\w+)"/.exec(outcome.out)?.[1];
  return { code: outcome.code, err: outcome.err.replaceAll(`${folder}/`, '@'), signer };
}

const opens: readonly [flags: string, options?: RunOptions][] = [
  ['--key-file @evm.json --password-file @pw'],
  ['--key-file @evm.json --password-file @lf'],
  ['--key-file @evm.json --password-file @crlf'],
  ['--key-file @lineEnd.json --password-file @lf'],
  ['--key-file @lineEnd.json --password-file @two'],
  ['--key kept --password-file @pw'],
  ['--key-env TRADER', { env: { TRADER: evmTrader.key } }],
  ['--key-stdin', { stdin: evmTrader.key }],
  ['', { answers: [evmTrader.key] }],
  ['--key-file @evm.json', { answers: ['pw'] }],
  ['--key kept', { answers: ['no', 'never', 'pw'] }],
];

test.each(opens)('a key given by %j signs', async (flags, options) => {
  const { code, err, signer } = await sign(`${flags} --json`, options);
  expect([code, signer, err.includes(evmTrader.key)]).toEqual([0, evmTrader.address, false]);
});

test('the question for a password names its key, and the error names the key that did not open', async () => {
  const typed = await sign('--key kept', { answers: ['no', 'pw'] });
  expect(typed.err.split('Password of key kept (not shown): ')).toHaveLength(3);
  expect(typed.err).toContain('That password does not open it.');
  const never = await sign('--key kept', { answers: ['no', 'never', 'nor this'] });
  expect(never.err.split('That password does not open it.')).toHaveLength(3);
  expect(never.err).toContain('none of the typed passwords opens key kept');
});

const safeWays =
  'Give it with --key-file <file>, --key-env <NAME>, --key-stdin or --key <name>, or type it at the question on a terminal. Or sign with a wallet: --browser.';
const refusals: readonly [flags: string, options: RunOptions, code: number, message: string, hint: string][] = [
  ['', {}, 2, 'no key is given', safeWays],
  ['--no-input', { answers: [] }, 2, 'no key is given', safeWays],
  ['--key-file @pw --key-env A', {}, 2, '--key-file and --key-env cannot be used together', 'in one way only.'],
  ['--key-env A --browser', {}, 2, '--key-env and --browser cannot be used together', 'in one way only.'],
  ['--key-env 1A', {}, 2, '--key-env: must be the name of an environment variable', '--key-env TRADER_KEY'],
  ['--key-file - --password-file -', {}, 2, '--key-file - and --password-file - cannot both read stdin', ''],
  [`--key-file ${evmTrader.key}`, {}, 2, '--key-file: that is a private key, which is never an argument', ''],
  [`--key ${evmTrader.key.slice(2)}`, {}, 2, 'name of a key: that is a private key, which is never an argument', ''],
  ['--key-file @none', {}, 3, '--key-file @none: no such file', ''],
  ['--key-file @other.json --password-file @pw', {}, 11, `the keystore names the address ${other}, but its key`, ''],
  ['--key-stdin', { stdin: 'gm' }, 11, 'stdin holds no private key in a known form', 'Known forms: 64 hex digits,'],
  ['--key-env NOBODY', {}, 2, '--key-env NOBODY: that variable is not set', ''],
  ['--key sol', {}, 11, 'key sol holds a Solana key, the chain needs an EVM key', 'Check --chain, or give the key of'],
  ['--key kept', {}, 2, 'key kept needs a password', 'Give it with --password-file <file>, or run this on a terminal.'],
  ['--key kept --password-file @bad', {}, 11, 'the password in @bad does not open key kept', 'Check which password'],
  ['--key kept --password-file @two', {}, 11, 'the password in @two does not open key kept', 'Check which password'],
];

test.each(refusals)('comment sign %s (%j) ends with %i: %s', async (flags, options, code, message, hint) => {
  const outcome = await sign(flags, options);
  expect(outcome.code).toBe(code);
  const lines = outcome.err.split('\n');
  expect(lines.find((line) => line.includes('error: '))).toContain(`error: ${message}`);
  expect(outcome.err).toContain(hint);
  expect(outcome.err).not.toContain(evmTrader.key.slice(2));
});
