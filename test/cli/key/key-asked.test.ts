import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { newPassword, openKey } from '../../../src/keys/open-key.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { evmTrader } from '../../support/traders.ts';

/** A terminal where these answers are typed, or none; what it was asked and told. */
function terminal(answers: readonly string[] | undefined) {
  const left = [...(answers ?? [])];
  const asked: [question: string, options: unknown][] = [];
  const told: string[] = [];
  const ask = async (question: string, options: unknown) => {
    asked.push([question, options]);
    return left.shift() ?? '';
  };
  const world = { io: { in: { isTTY: answers !== undefined }, ask }, system: { platform: 'linux' } };
  const note = (text: string) => void told.push(text);
  return { context: { world, options: {}, note, warn: note } as unknown as Context, asked, told };
}

/** The password for sealing, where a terminal answers as told; what was asked. */
async function sealedWith(answers: readonly string[] | undefined, file?: string) {
  const { context, asked } = terminal(answers);
  const password = await newPassword(file, context);
  return { password: Buffer.from(password).toString(), asked };
}

test('a password to seal with is the first line of a file, or typed twice without echo', async () => {
  const file = join(temporaryFolder(), 'pw');
  for (const [content, password] of [
    ['pw\r\n', 'pw'],
    ['a longer one\r\n', 'a longer one'],
    ['a longer one\n', 'a longer one'],
    ['pw\rpw\n', 'pw\rpw'],
    ['pw\r', 'pw\r'],
  ] as const) {
    writeFileSync(file, content);
    expect(await sealedWith(undefined, file)).toEqual({ password, asked: [] });
  }
  expect(await sealedWith(['a b', 'a b'])).toEqual({
    password: 'a b',
    asked: [
      ['Password to seal the key with (not shown): ', { hidden: true }],
      ['The same password again: ', { hidden: true }],
    ],
  });
});

test('no password, an empty one and two that differ seal nothing', async () => {
  const file = join(temporaryFolder(), 'pw');
  writeFileSync(file, '\n');
  await expect(sealedWith(undefined, file)).rejects.toMatchObject({
    code: 'usage',
    message: `${file} holds no password`,
  });
  await expect(sealedWith(undefined)).rejects.toMatchObject({
    code: 'usage',
    message: 'a password to seal the key is needed',
    hint: 'Give it with --password-file <file>, or run this on a terminal.',
  });
  await expect(sealedWith([''])).rejects.toMatchObject({ code: 'usage', message: 'the password is empty' });
  await expect(sealedWith(['a', 'b'])).rejects.toMatchObject({
    code: 'signing-key',
    message: 'the two passwords differ: nothing was stored',
  });
});

const hidden = { hidden: true };

test('a key is asked for without echo, by the family that is wanted', async () => {
  const one = terminal([evmTrader.key]);
  const key = await openKey({}, 'evm', one.context);
  expect([key.family, Buffer.from(key.bytes).toString('hex')]).toEqual(['evm', evmTrader.key.slice(2)]);
  const any = terminal([evmTrader.key]);
  expect((await openKey({}, undefined, any.context)).family).toBe('evm');
  expect([one.asked, any.asked]).toEqual([
    [['Private key of an EVM wallet (not shown): ', hidden]],
    [['Private key (not shown): ', hidden]],
  ]);
  await expect(openKey({}, 'evm', terminal(undefined).context)).rejects.toMatchObject({ message: 'no key is given' });
  await expect(openKey({}, 'evm', terminal(['gm']).context)).rejects.toMatchObject({
    message: 'the answer holds no private key in a known form',
  });
});

/** The key of `evmTrader` under the password `pw`, at nearly no cost. */
const keystore = {
  version: 3,
  crypto: {
    cipher: 'aes-128-ctr',
    ciphertext: '4c5919a0dd73fcc2abbe8b87ef44189a8cc11d5c9c18409d9d41d921d806fa14',
    cipherparams: { iv: '09'.repeat(16) },
    kdf: 'pbkdf2',
    kdfparams: { c: 2, prf: 'hmac-sha256', dklen: 32, salt: '07'.repeat(32) },
    mac: '4bb3c01ca96ccc9a9619d362bb2964386a2123956ff81d46b9a7625b5aa7846d',
  },
};

test('a password is asked for without echo three times at most; a wrong one is said while another may be typed', async () => {
  const keyFile = join(temporaryFolder(), 'key.json');
  writeFileSync(keyFile, JSON.stringify(keystore), { mode: 0o600 });
  const question = [`Password of ${keyFile} (not shown): `, hidden];
  const good = terminal(['no', 'pw']);
  expect(Buffer.from((await openKey({ keyFile }, 'evm', good.context)).bytes).toString('hex')).toBe(
    evmTrader.key.slice(2),
  );
  expect([good.asked, good.told]).toEqual([[question, question], ['That password does not open it.']]);
  const never = terminal(['a', 'b', 'c', 'pw']);
  await expect(openKey({ keyFile }, undefined, never.context)).rejects.toMatchObject({
    code: 'signing-key',
    message: `none of the typed passwords opens ${keyFile}`,
  });
  expect([never.asked.length, never.told.length]).toEqual([3, 2]);
});
