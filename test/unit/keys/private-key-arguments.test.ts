import nacl from 'tweetnacl';
import { expect, test } from 'vitest';
import { findSecret, hideTyped, refuseSecretArguments } from '../../../src/keys/typed-secrets.ts';
import { encodeBase58 } from '../../../src/model/address.ts';
import { solanaTrader } from '../../support/traders.ts';

const hex = '0123456789abcdef'.repeat(4);
const pair = Uint8Array.from(solanaTrader.keypair);
const pairHex = Buffer.from(pair).toString('hex');
const base58 = encodeBase58(pair);
/** A pair that begins with a zero may have 86 letters in base58, and one of zeros and a one has fewer. */
const shortest = encodeBase58(pairOf((text) => text.length === 86));
const leading = encodeBase58(nacl.sign.keyPair.fromSeed(Uint8Array.from([...new Array(31).fill(0), 1])).secretKey);
const spoilt = Uint8Array.from([...pair.slice(0, 63), 27]);
/** A signature of 64 zero bytes in base58, and 64 hex digits. */
const zeros = '1'.repeat(64);
const list = (count: number, space = '') => `[${new Array(count).fill(`${space}17${space}`).join(',')}]`;
const twelve = 'test test test test test test test test test test test junk';
const words = (count: number) => new Array(count).fill('zoo').join(' ');

/** The first of many keypairs whose base58 is as wanted. */
function pairOf(wanted: (text: string) => boolean): Uint8Array {
  for (let first = 0; first < 256; first += 1)
    for (let second = 0; second < 256; second += 1) {
      const seed = Uint8Array.from({ length: 32 }, (_, index) => [0, first, second][index] ?? 7);
      const { secretKey } = nacl.sign.keyPair.fromSeed(seed);
      if (wanted(encodeBase58(secretKey))) return secretKey;
    }
  throw new Error('there is no such keypair');
}

const looks: readonly [text: string, what: string | undefined][] = [
  [hex, 'a private key'],
  [`0x${hex}`, 'a private key'],
  [`0X${hex.toUpperCase()}`, 'a private key'],
  [` ${hex}\n`, 'a private key'],
  [hex.slice(1), undefined],
  [`${hex}0`, undefined],
  [`g${hex}`, undefined],
  [`1x${hex}`, undefined],
  [`${hex.slice(1)}g`, undefined],
  [pairHex, 'a Solana keypair'],
  [`0x${pairHex}`, 'a Solana keypair'],
  [`0X${pairHex.toUpperCase()}`, 'a Solana keypair'],
  [Buffer.from(spoilt).toString('hex'), undefined],
  [`${pairHex}00`, undefined],
  [`a ${pairHex}`, undefined],
  [pairHex.slice(2), undefined],
  [`${pairHex.slice(0, -1)}g`, undefined],
  [leading, 'a Solana keypair'],
  [`1${leading}`, undefined],
  [base58, 'a Solana keypair'],
  [shortest, 'a Solana keypair'],
  [encodeBase58(spoilt), undefined],
  [`${base58} ${base58}`, undefined],
  ['l'.repeat(88), undefined],
  ['z'.repeat(90), undefined],
  [solanaTrader.address, undefined],
  [list(64), 'a Solana keypair'],
  [list(32), 'a Solana keypair'],
  [list(64, ' \n'), 'a Solana keypair'],
  [` ${list(64)} `, 'a Solana keypair'],
  [list(31), undefined],
  [list(65), undefined],
  [`a${list(64)}`, undefined],
  [`${list(64)}a`, undefined],
  [list(64).replace('17', '1'), 'a Solana keypair'],
  [list(64).replace('17', '255'), 'a Solana keypair'],
  [list(64).replace('17]', '255]'), 'a Solana keypair'],
  [list(64).replace('17', '1000'), undefined],
  [list(64).replace('17]', '1000]'), undefined],
  [list(64).replace('17', 'a'), undefined],
  [list(64).replace('17]', 'a]'), undefined],
  [list(64).replace('17', 'x17'), undefined],
  [list(64).replace(',', 'x,'), undefined],
  [list(64).replace(',', ',x'), undefined],
  [list(64).replace(']', 'x]'), undefined],
  [twelve, 'a recovery phrase'],
  [twelve.replaceAll(' ', ' \n '), 'a recovery phrase'],
  [words(15), 'a recovery phrase'],
  [words(18), 'a recovery phrase'],
  [words(21), 'a recovery phrase'],
  [words(24), 'a recovery phrase'],
  [words(11), undefined],
  [words(13), undefined],
  [words(25), undefined],
  [twelve.replace('junk', 'sotra'), undefined],
  [twelve.replace('junk', 'Junk'), undefined],
  [twelve.replace('junk', '1junk'), undefined],
  [twelve.replace('junk', 'junk1'), undefined],
  ['gm', undefined],
  ['', undefined],
];

test.each(looks)('%j is told as %s', async (text, what) => {
  expect(await findSecret(text)).toBe(what);
});

const tail = '(not shown here): other processes see arguments, and the shell keeps them';
const refused: readonly [argv: string[], where: string][] = [
  [['sign', hex], 'an argument holds what looks like a private key'],
  [[hex], 'an argument holds what looks like a private key'],
  [['-x', hex], 'an argument holds what looks like a private key'],
  [['--text', hex], '--text holds what looks like a private key'],
  [['--service-name', twelve], '--service-name holds what looks like a recovery phrase'],
  [[`--text=${hex}`], '--text holds what looks like a private key'],
  [[`--service-name=${twelve.replaceAll(' ', '\n')}`], '--service-name holds what looks like a recovery phrase'],
  [['--text=a', hex], 'an argument holds what looks like a private key'],
  [['--tx', base58], '--tx holds what looks like a Solana keypair'],
  [['--tx', list(64)], '--tx holds what looks like a Solana keypair'],
  [['--tx', pairHex], '--tx holds what looks like a Solana keypair'],
  [['--tx', hex, hex], 'an argument holds what looks like a private key'],
  [['--signer-command', `wallet --key ${hex}`], '--signer-command holds what looks like a private key'],
  [['--signer-command', `wallet "${hex}"`], '--signer-command holds what looks like a private key'],
  [[`--signer-command=wallet '${base58}'`], '--signer-command holds what looks like a Solana keypair'],
  [['--signer-command', twelve], '--signer-command holds what looks like a recovery phrase'],
  [['--text', zeros], '--text holds what looks like a private key'],
  [['--signature', base58], '--signature holds what looks like a Solana keypair'],
];

test.each(refused)('the command line %j is refused by its place, without what it holds', async (argv, where) => {
  await expect(refuseSecretArguments(argv)).rejects.toMatchObject({
    code: 'usage',
    message: `${where} ${tail}`,
    hint: 'Give it with --key-file <file>, --key-env <NAME>, --key-stdin or --key <name>, or type it at the question on a terminal. Treat the one you typed as compromised.',
  });
});

test.each([
  [['--tx', hex]],
  [['--tx', `0x${hex}`]],
  [[`--tx=0X${hex}`]],
  [['--text', `a ${hex}`]],
  [[`a --text=${hex}`]],
  [['--signature', zeros]],
  [[`--signature=${zeros}`]],
  [['--text', 'gm', '--signature', Buffer.from(spoilt).toString('hex')]],
  [[]],
])('the command line %j is taken', async (argv) => {
  await expect(refuseSecretArguments(argv)).resolves.toBeUndefined();
});

const threeLetters = 'act add age aim air all any arm art ask bar box';
const [phraseMark, pairMark] = [
  '(looks like a recovery phrase, not shown)',
  '(looks like a Solana keypair, not shown)',
];
const hexMark = `${hex.slice(0, 6)}…${hex.slice(-4)}`;
const nothingSent = { outcome: undefined, status: undefined };

test.each<[typed: string, told: string, shown: string]>([
  [twelve, `no such profile: ${twelve}.`, `no such profile: ${phraseMark}.`],
  [threeLetters, `${threeLetters}, ${threeLetters}!`, `${phraseMark}, ${phraseMark}!`],
  [`--text=${twelve}`, `--text=${twelve}: no`, `--text=${phraseMark}: no`],
  [`--x=a=${base58}`, `a=${base58}`, `a=${pairMark}`],
  [`--${base58}`, `unknown option --${base58}`, `unknown option --${pairMark}`],
  [`say "${base58}" now`, `say "${base58}" now`, `say "${pairMark}" now`],
  [`/v1/${base58}/x?a=1`, `404 at /v1/${base58}/x?a=1`, `404 at /v1/${pairMark}/x?a=1`],
  [`/v1?q=${twelve.replaceAll(' ', '+')}#x`, `?q=${twelve.replaceAll(' ', '%20')}#x`, `?q=${phraseMark}#x`],
  [`/v1?q=${twelve.replaceAll(' ', '%20')}`, `q=${twelve.replaceAll(' ', '+')}`, `q=${phraseMark}`],
  [`note=${twelve.replaceAll(' ', '+')}`, twelve.replaceAll(' ', '%2B'), phraseMark],
  [`note=${twelve.replaceAll(' ', '%20')}`, twelve.replaceAll(' ', '%2520'), phraseMark],
  [` ${twelve}\t`, `at ${twelve}`, `at ${phraseMark}`],
  [list(64), encodeURIComponent(list(64)), pairMark],
  // Messages cut what they quote, and change its case.
  [twelve, `${twelve.slice(0, 20)}...`, `${phraseMark}...`],
  [twelve, `before ${twelve.toUpperCase()} after`, `before ${phraseMark} after`],
  [twelve, `${twelve}, ${twelve.slice(0, 20)}...`, `${phraseMark}, ${phraseMark}...`],
  [twelve, `before ${twelve}st after`, `before ${phraseMark}st after`],
  [twelve, twelve.slice(0, 15), twelve.slice(0, 15)],
  [`0x${hex}`, `0x${hex} and ${twelve}`, `0x${hex.slice(0, 4)}…${hex.slice(-4)} and ${twelve}`],
  [hex, `no ${hex}`, `no ${hexMark}`],
  ['gm gm', 'gm gm', 'gm gm'],
  [threeLetters.slice(1), threeLetters.slice(1), threeLetters.slice(1)],
])('typed %j, the message %j is shown as %j', async (typed, told, shown) => {
  expect((await hideTyped(['profile', typed], nothingSent))(told)).toBe(shown);
});

test('what was sent as a hash stays whole, since the hint has to be typed with it; a phrase never does', async () => {
  for (const sent of [
    { outcome: 'unknown', status: undefined },
    { outcome: undefined, status: 404 },
  ] as const)
    expect((await hideTyped([hex, twelve], sent))(`${hex} ${twelve}`)).toBe(`${hex} ${phraseMark}`);
});
