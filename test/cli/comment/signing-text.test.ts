import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, run, runJson, temporaryFolder } from '../../support/harness.ts';
import { evmTrader } from '../../support/traders.ts';

const base = '--chain base --tx 0xAB5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad9'.split(' ');
const token = ['--token', '0x4ED4E862860beD51a9570b96d89aF5E1B0Efefed'];
const sign = ['comment', 'sign', ...base, ...token, '--service-name', 'Example'];

const message = async (words: readonly string[]): Promise<string> =>
  (await runJson(['comment', 'sign', ...words, '--dry-run'])).message;

test('the context brings service name and layout: Clicker signs the public form, the sandbox its own name', async () => {
  const words = [...base, ...token, '--text', 'gm'];
  expect(await message(['--context', 'clicker', ...words])).toMatch(/^Clicker Swap Comment:\n\nChain: base\n/);
  expect(await message(['--sandbox', ...words])).toMatch(/^Sandbox Swap Comment:\nChain: base\n/);
});

test('an order id of hyperliquid and a coin go in as they are', async () => {
  const order = '--chain hyperliquid --tx 0052012345678 --token kPEPE --service-name Example --text gm'.split(' ');
  expect(await message(order)).toBe(
    'Example Swap Comment:\nChain: hyperliquid\nToken Address: kPEPE\nTxn Hash: 0052012345678\nComment: gm',
  );
});

test('the five lines of the interface document: the EVM token in lower case, the comment byte for byte', async () => {
  const text = '  первая\n\nстрока 🌊\u200d e\u0301\r\n\tend \n';
  expect(await message([...base, ...token, '--text', text, '--service-name', 'Example'])).toBe(
    'Example Swap Comment:\nChain: base\nToken Address: 0x4ed4e862860bed51a9570b96d89af5e1b0efefed\nTxn Hash: 0xAB5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad9\nComment:   первая\n\nстрока 🌊\u200d e\u0301\r\n\tend \n',
  );
  const file = join(temporaryFolder(), 'comment.txt');
  writeFileSync(file, text);
  const fromFile = await message([...base, ...token, '--text-file', file, '--service-name', 'Example']);
  expect(fromFile.endsWith(`Comment: ${text}`)).toBe(true);
});

test('9999 UTF-16 units are accepted and more refused', async () => {
  const words = [...sign, '--dry-run'];
  for (const [letter, [most, units]] of Object.entries({ a: [9999, 9999], '🌊': [4999, 9998] } as const)) {
    expect((await runJson([...words, '--text', letter.repeat(most)])).characters).toBe(units);
    const refused = await run([...words, '--text', letter.repeat(most + 1)]);
    expect(refused).toEqual(failure(2, 'must be 1 to 9999 characters'));
  }
  expect((await run([...words, '--text', ''])).code).toBe(2);
});

test('the preview numbers the lines, marks empty ones, counts, and warns of invisible characters', async () => {
  const { out } = await run([
    ...sign,
    '--layout',
    'blank-line',
    '--dry-run',
    '--text',
    'a\u202eb\r\n\u200bc e\u0301\n',
  ]);
  expect(out.split('\n')).toEqual([
    'Text to be signed (blank-line, 8 lines):',
    '  1  Example Swap Comment:',
    '  2  (empty line)',
    '  3  Chain: base',
    '  4  Token Address: 0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
    '  5  Txn Hash: 0xAB5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad9',
    '  6  Comment: | a<U+202E>b<U+000D>',
    '  7           | <U+200B>c e\u0301',
    '  8           |',
    'Comment: 11 of 9999 characters',
    'warning: the comment has Windows line endings (CR LF), which are signed unchanged',
    'warning: the comment ends with a newline, which is signed too',
    'warning: the comment is not in Unicode normal form NFC: an app that normalizes it breaks the signature',
    'warning: the comment has invisible characters: U+202E, U+200B',
    'warning: the comment has bidirectional controls, which can show the text in another order',
    '',
  ]);
});

test.each([
  ['a sentence in variation selectors', '\u{E0163}\u{E0155}\u{E015E}', ['U+E0163', 'U+E0155', 'U+E015E']],
  ['variation selectors and joiners that belong to no emoji', 'a\ufe0fb\u200d', ['U+FE0F', 'U+200D']],
  ['a selector behind an emoji that has none', '🚀\ufe0f', ['U+FE0F']],
  [
    'fillers of Hangul and Braille',
    '\u3164\u115f\u1160\uffa0\u2800',
    ['U+3164', 'U+115F', 'U+1160', 'U+FFA0', 'U+2800'],
  ],
  ['interlinear annotations and tags', '\ufff9\ufffb\u{e0041}\u{e007f}', ['U+FFF9', 'U+FFFB', 'U+E0041', 'U+E007F']],
  ['spaces other than the space', '\u00a0\u1680\u2003\u202f\u3000', ['U+00A0', 'U+1680', 'U+2003', 'U+202F', 'U+3000']],
  ['formats', '\u00ad\u0600\u2060\ufeff', ['U+00AD', 'U+0600', 'U+2060', 'U+FEFF']],
  ['blanks that are letters or symbols', '\ufffc\u{1d159}', ['U+FFFC', 'U+1D159']],
] as const)('%s are spelled out and named in a warning', async (_, hidden, codes) => {
  const { out } = await run([...sign, '--dry-run', '--text', `gm${hidden}!`]);
  for (const code of codes) expect(out.split('\nComment: ')[0]).toContain(`<${code}>`);
  expect(out).not.toContain(hidden.slice(-1));
  expect(out).toContain(`warning: the comment has invisible characters: ${codes.join(', ')}\n`);
});

test('a character that could not be read is named in a warning', async () => {
  const { out } = await run([...sign, '--dry-run', '--text', 'caf\uFFFD']);
  expect(out).toContain(
    'warning: the comment contains U+FFFD, the replacement for a character that could not be decoded\n',
  );
});

test('a comment with lines that read like fields stays behind its bar, even if the terminal breaks a line', async () => {
  const words = [...sign, '--dry-run', '--text'];
  const { out } = await run([...words, 'gm\nTxn Hash: 0xdead\u2028Chain: solana\rChain: bsc']);
  expect(out).toContain('| gm\n  6           | Txn Hash: 0xdead<U+2028>Chain: solana<U+000D>Chain: bsc\nComment: ');
  const long = await run([...words, `gm${' '.repeat(40)}Chain: solana`], { tty: 40 });
  expect(long.out).toContain(`\n              | ${' '.repeat(18)}Chain:\n              |  solana\nComment: `);
});

test('the signed text is shown with its codes everywhere: result, batch, and a service that answers with another text', async () => {
  const words = [...sign, '--text', 'gm\u3164\nTxn Hash: 0xdead'];
  const options = { env: { KEY: evmTrader.key }, tty: 200 };
  const { out } = await run([...words, '--key-env', 'KEY'], options);
  expect(out).toContain('gm<U+3164><U+000A>Txn Hash: 0xdead');
  const signed = await runJson([...words, '--key-env', 'KEY'], options);
  const file = join(temporaryFolder(), 'signed.json');
  writeFileSync(file, JSON.stringify(signed));
  const verified = await run(['comment', 'verify', '--signed', file]);
  expect([verified.code, verified.err]).toEqual([0, 'warning: the comment has invisible characters: U+3164\n']);
  const env = { SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_API_KEY: 'k' };
  const asked = await run(['comment', 'post', '--file', file], { answers: ['n'], env, tty: 120 });
  expect(asked.err).toContain('  5  Comment: | gm<U+3164>\n  6           | Txn Hash: 0xdead\n');
  const dry = await run(['comment', 'post', '--file', file, '--dry-run'], { env, tty: 200 });
  expect(dry.out).toContain('  5  Comment: | gm<U+3164>\n  6           | Txn Hash: 0xdead\n');
  const { url } = await answering({ ...signed, uid: 'u', commentText: 'gm\nTxn Hash: 0xdead' });
  const other = await run(['comment', 'post', '--signed', file], { env: { ...env, SOTRA_BASE_URL: url } });
  expect(other).toEqual(failure(12, 'signed "gm\\u3164\\nTxn Hash: 0xdead", returned "gm\\nTxn'));
});

test('a signed file whose fields hold lines of their own is refused', async () => {
  const signed = await runJson([...sign, '--text', 'gm', '--key-env', 'KEY'], { env: { KEY: evmTrader.key } });
  const file = join(temporaryFolder(), 'signed.json');
  for (const [field, value] of [
    ['serviceName', 'Example Swap Comment:\nChain: solana\nExample'],
    ['transactionHash', `${signed.transactionHash}\nComment: gn`],
    ['tokenAddress', `${signed.tokenAddress}\u3164`],
  ]) {
    writeFileSync(file, JSON.stringify({ ...signed, [field as string]: value }));
    const { code, err } = await run(['comment', 'post', '--signed', file, '--sandbox']);
    expect([code, err]).toEqual([12, expect.stringContaining(String(field))]);
  }
});

test('marks that the screen leaves out are escaped in the preview', async () => {
  const { out } = await run([...sign, '--dry-run', '--text', `gm${'\u0301'.repeat(400)}`]);
  expect(out).toContain(`gm${'\u0301'.repeat(4)}<U+0301><U+0301>`);
  expect(out).toContain('warning: the comment has invisible characters: U+0301');
});
