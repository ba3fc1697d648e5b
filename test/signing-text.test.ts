import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from './harness.ts';

const base = '--chain base --tx 0xAB5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad9'.split(' ');
const token = ['--token', '0x4ED4E862860beD51a9570b96d89aF5E1B0Efefed'];

async function message(words: readonly string[]): Promise<string> {
  const { out, err, code } = await run(['comment', 'sign', ...words, '--preview', '--json']);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out).message;
}

test('the five lines of the interface document, the EVM token in lower case and nothing else changed', async () => {
  expect(await message([...base, ...token, '--text', 'gm', '--service-name', 'Example'])).toBe(
    'Example Swap Comment:\nChain: base\nToken Address: 0x4ed4e862860bed51a9570b96d89af5e1b0efefed\nTxn Hash: 0xAB5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad9\nComment: gm',
  );
});

test('the public form has an empty line after the first', async () => {
  const solana = [
    ...'--chain solana --token DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263 --tx'.split(' '),
    '5awYiUvGiDFA33EJjj4TXJG44a5afJc8QjWRpGgQiu6b23jCr7yndW2fmp9ujwqJVe32J456wV3VF78Asb1obnTc',
  ];
  expect(await message([...solana, '--text', 'gm', '--service-name', 'Clicker', '--layout', 'blank-line'])).toBe(
    'Clicker Swap Comment:\n\nChain: solana\nToken Address: DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263\nTxn Hash: 5awYiUvGiDFA33EJjj4TXJG44a5afJc8QjWRpGgQiu6b23jCr7yndW2fmp9ujwqJVe32J456wV3VF78Asb1obnTc\nComment: gm',
  );
});

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

test('unicode, newlines and spaces of a comment go in byte for byte', async () => {
  const text = '  первая\n\nстрока 🌊\u200d e\u0301\r\n\tend \n';
  expect(await message([...base, ...token, '--text', text, '--service-name', 'Example'])).toBe(
    'Example Swap Comment:\nChain: base\nToken Address: 0x4ed4e862860bed51a9570b96d89af5e1b0efefed\nTxn Hash: 0xAB5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad9\nComment:   первая\n\nстрока 🌊\u200d e\u0301\r\n\tend \n',
  );
  const file = join(temporaryFolder(), 'comment.txt');
  writeFileSync(file, text);
  const fromFile = await message([...base, ...token, '--text-file', file, '--service-name', 'Example']);
  expect(fromFile.endsWith(`Comment: ${text}`)).toBe(true);
});

test('9999 characters are taken and 10000 refused, counted in code points, typed or in a file', async () => {
  const words = ['comment', 'sign', ...base, ...token, '--service-name', 'Example', '--preview', '--json'];
  for (const letter of ['a', 'é', '字', '🌊']) {
    const { out, code } = await run([...words, '--text', letter.repeat(9999)]);
    expect([code, JSON.parse(out).characters]).toEqual([0, 9999]);
    const refused = await run([...words, '--text', letter.repeat(10_000)]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('must be 1 to 9999 characters');
    const fromFile = await run([...words, '--text-file', '-'], { stdin: letter.repeat(10_000) });
    expect(fromFile.code).toBe(2);
    expect(fromFile.err).toContain('has 10000 characters, must be 1 to 9999');
  }
  expect((await run([...words, '--text', ''])).code).toBe(2);
  const wide = JSON.parse((await run([...words, '--text', '🌊'.repeat(9999)])).out);
  expect(wide.warnings).toEqual([
    'the comment has 19998 UTF-16 units: a service that counts those instead of characters refuses more than 9999',
  ]);
});

test('the preview numbers the lines, marks empty ones, counts, and warns of what cannot be seen', async () => {
  const words = ['comment', 'sign', ...base, ...token, '--service-name', 'Example', '--layout', 'blank-line'];
  const { out } = await run([...words, '--preview', '--text', 'a\u202eb\r\n\u200bc e\u0301\n']);
  expect(out.split('\n')).toEqual([
    'Text to be signed (blank-line, 8 lines):',
    '  1 | Example Swap Comment:',
    '  2 | (empty line)',
    '  3 | Chain: base',
    '  4 | Token Address: 0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
    '  5 | Txn Hash: 0xAB5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad9',
    '  6 | Comment: a<U+202E>b<U+000D>',
    '  7 | <U+200B>c e\u0301',
    '  8 | (empty line)',
    'Comment: 11 of 9999 characters (Unicode code points, as maxLength of the interface counts), 16 bytes',
    'warning: the comment has Windows line ends (CR LF), which are signed as they are',
    'warning: the comment ends with a newline, which is signed too',
    'warning: the comment is not in Unicode normal form NFC: an app that normalises it breaks the signature',
    'warning: the comment has a zero-width character: U+200B',
    'warning: the comment has a bidirectional control, which can show the text in another order: U+202E',
    '',
  ]);
});

test('an emoji made with joiners is no reason to warn', async () => {
  const words = ['comment', 'sign', ...base, ...token, '--service-name', 'Example', '--preview'];
  const { out } = await run([...words, '--text', 'gm 👩‍🚀']);
  expect(out).toContain('Comment: gm 👩‍🚀');
  expect(out).not.toContain('warning');
});

test('without a service name nothing is signed and nothing invented', async () => {
  const { code, err } = await run(['comment', 'sign', ...base, ...token, '--text', 'gm', '--preview']);
  expect(code).toBe(2);
  expect(err).toBe(
    'error: the service name is not known (no context is in use): it is the first word of the signed text\nhint: Give it with --service-name <name>, or store it: sotra context set <name> --service-name <name>.\n',
  );
});
