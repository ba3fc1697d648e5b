import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chains } from '../../../src/api/chain.ts';
import { newUser, type RunOptions, run, runJson, temporaryFolder } from '../../support/harness.ts';
import { bonk, degen, evmTrader, swaps } from '../../support/traders.ts';

const chain = ['--chain', 'base'];
const tx = ['--tx', swaps.good];
const token = ['--token', degen];
const text = ['--text', 'gm'];
const name = ['--service-name', 'Example'];
const help = 'sotra comment post --last finds the swap; sotra help signing explains what is signed.';

async function said(argv: readonly string[], options: RunOptions = {}) {
  const { out, err, code } = await run(argv, options);
  const [error = '', hint] = err.trimEnd().split('\nhint: ');
  return { out, code, error: error.replace(/^error: /, ''), hint };
}

const preview = (words: readonly string[], options?: RunOptions) =>
  said(['comment', 'sign', '--dry-run', ...words], options);

function fileOf(content: string | Uint8Array): string {
  const file = join(temporaryFolder(), 'comment');
  writeFileSync(file, content);
  return file;
}

test.each([
  [[...tx, ...token, ...text], '--chain is required: chain of the swap'],
  [[...chain, ...token, ...text], '--tx is required: transaction hash of the swap, or an order id on hyperliquid'],
  [[...chain, ...tx, ...text], '--token is required: token that was swapped'],
  [[...chain, ...tx, ...token], '--text (or --text-file) is required: the comment'],
])('comment sign with %j alone is refused: %s', async (words, error) => {
  expect(await preview([...words, ...name])).toEqual({ out: '', code: 2, error, hint: help });
});

test('the name of a service is one line', async () => {
  const { error } = await preview([...chain, ...tx, ...token, ...text, '--service-name', 'Exam\tple']);
  expect(error).toBe('--service-name Exam<U+0009>ple: must be one line without spaces around it');
});

const asJson = async (words: readonly string[], options?: RunOptions) =>
  JSON.parse((await preview([...chain, ...tx, ...token, ...name, '--json', ...words], options)).out).commentText;

test('a comment in a file is read unchanged, without a byte order mark', async () => {
  expect(await asJson(['--text-file', fileOf('a')])).toBe('a');
  expect(await asJson(['--text-file', fileOf('\uFEFFgm\n')])).toBe('gm\n');
  expect(await asJson(['--text-file', '-'], { stdin: 'from stdin' })).toBe('from stdin');
});

test('a file that holds no comment says what it holds', async () => {
  const of = (file: string, stdin?: string | Uint8Array) =>
    preview([...chain, ...tx, ...token, ...name, '--text-file', file], stdin === undefined ? {} : { stdin });
  const [empty, long, bytes] = [fileOf(''), fileOf('c'.repeat(10_000)), fileOf(Uint8Array.of(0x61, 0xff))];
  expect((await of(empty)).error).toBe(`--text-file ${empty}: has 0 characters, must be 1 to 9999`);
  expect((await of(long)).error).toBe(`--text-file ${long}: has 10000 characters, must be 1 to 9999`);
  expect((await of(bytes)).error).toBe(`${bytes} is not UTF-8 text: see byte 2`);
  expect((await of('-', Uint8Array.of(0x61, 0xff))).error).toBe('stdin is not UTF-8 text: see byte 2');
});

const comment = [...chain, ...tx, ...token, ...text];
const way = 'Give it with --service-name <name>, or store it: sotra context set <name> --service-name <name>.';

test('a service without a name is described as a context, or as none', async () => {
  const { env } = newUser();
  await run('context set partner --base-url https://a.example.com', { env });
  const ofPartner = (...words: string[]) => preview([...comment, '--context', 'partner', ...words], { env });
  const none = (why: string) => `the service name is not known (${why}): it is the first word of the signed text`;
  expect(await ofPartner()).toMatchObject({ code: 2, error: none('context partner has none'), hint: way });
  const unnamed = await preview(comment, { env: { SOTRA_BASE_URL: 'https://a.example.com' } });
  expect(unnamed).toMatchObject({ code: 2, error: none('no context is in use'), hint: way });
  const given = await ofPartner('--service-name', 'Example');
  expect(given.out).toContain('  1  Example Swap Comment:\n  2  Chain: base\n');
  await run('context set partner --service-name Stored --layout blank-line', { env });
  expect((await ofPartner()).out).toContain('  1  Stored Swap Comment:\n  2  (empty line)\n');
  const five = await ofPartner('--layout', 'five-line');
  expect(five.out).toContain('  1  Stored Swap Comment:\n  2  Chain: base\n');
});

test.each([
  ['', 'is not a JSON object'],
  ['{}', 'message is missing'],
])('a signed file that holds %j is refused: it %s', async (content, problem) => {
  const file = fileOf(content);
  const hint = `Write it with sotra comment sign --out <file>. To post many: sotra comment post --file ${file}.`;
  const verified = await said(['comment', 'verify', '--signed', file]);
  expect(verified).toEqual({ out: '', code: 2, error: `${file}: ${problem}`, hint });
  const inStdin = await said(['comment', 'verify', '--signed', '-'], { stdin: content });
  expect(inStdin).toMatchObject({ code: 2, error: `stdin: ${problem}` });
});

test('a signed file is read even if an editor put a byte order mark in front', async () => {
  const marked = fileOf(`\uFEFF${JSON.stringify(await signedLine())}`);
  expect(await runJson(['comment', 'verify', '--signed', marked])).toMatchObject({ valid: true });
});

const line = { chain: 'base', transactionHash: swaps.good, tokenAddress: degen, commentText: 'gm' };
const second = { ...line, transactionHash: swaps.second };
const onSolana = { chain: 'solana', transactionHash: swaps.solana, tokenAddress: bonk, commentText: 'gm' };
const linesOf = (lines: readonly unknown[]) =>
  lines.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join('');
const previews = (lines: readonly unknown[], words: readonly string[] = []) =>
  said(['comment', 'sign', '--file', '-', ...name, '--dry-run', ...words], { stdin: linesOf(lines) });
const signedLine = async (words: readonly string[] = []) => {
  const signing = ['comment', 'sign', ...comment, ...name, '--key-env', 'TRADER', ...words];
  return runJson(signing, { env: { TRADER: evmTrader.key } });
};

test('the comments of a file are read in its order, signed ones too', async () => {
  const { out } = await previews([second, await signedLine(), ''], ['--format', 'ndjson']);
  const read = out.trimEnd().split('\n');
  expect(read.map((each) => JSON.parse(each).transactionHash)).toEqual([swaps.second, swaps.good]);
});

const lineHint = 'Nothing was signed or sent. Each line is {"chain","transactionHash","tokenAddress","commentText"}.';
const badLines: readonly [lines: readonly unknown[], problem: string][] = [
  [['null'], 'line 1: is not a JSON object'],
  [['{}'], 'line 1: chain is missing'],
  [[{ ...line, chain: 'B E' }], `line 1: chain "B E": must be one of ${chains.join(', ')}, or another name of a chain`],
  [[{ ...line, transactionHash: '' }], 'line 1: transactionHash "": must be non-empty text'],
  [[{ ...line, commentText: 7 }], 'line 1: commentText 7: must be non-empty text'],
  [[{ ...line, tokenAddress: '0x12' }], 'line 1: tokenAddress 0x12: a token on base is 0x and 40 hex digits'],
  [[{ ...line, signature: '0x' }], 'line 1: message is missing'],
  [[{ ...line, commentText: evmTrader.key }], 'line 1: commentText holds a private key, and a comment is public'],
  [
    ['1', '2', '3', '4', '5', '6', '7'],
    `${[1, 2, 3, 4, 5].map((number) => `line ${number}: is not a JSON object`).join('; ')} (and 2 more)`,
  ],
];

test.each(badLines)('a file of comments that holds %j is refused: %s', async (lines, problem) => {
  expect(await previews(lines)).toEqual({ out: '', code: 2, error: `stdin: ${problem}`, hint: lineHint });
});

test('the error of a file of comments lists every bad line, before a key is read', async () => {
  const stdin = linesOf([line, 'not json', { ...second, commentText: undefined }]);
  const { err } = await run('comment post --file - --key-file /nowhere --sandbox --json'.split(' '), { stdin });
  expect(JSON.parse(err).error.details.lines).toEqual([
    { line: 2, problem: 'is not a JSON object' },
    { line: 3, problem: 'commentText is missing' },
  ]);
});

test('a signed line of a file must match its fields', async () => {
  const signed = await signedLine();
  const changed = { ...signed, commentText: 'gn' };
  expect((await previews([changed])).error).toBe('stdin: line 1: its message does not match its fields');
  expect((await previews([{ ...signed, tokenAddress: '0x12' }])).error).toBe(
    'stdin: line 1: tokenAddress 0x12: a token on base is 0x and 40 hex digits',
  );
});

test('a file without comments, and one that no single key can sign, are refused', async () => {
  expect(await previews(['', ''])).toMatchObject({ code: 2, error: 'stdin holds no comments' });
  for (const [file, problem] of [
    [fileOf('\n'), ' holds no comments'],
    [fileOf('x'), ': line 1: is not a JSON object'],
  ])
    expect((await preview(['--file', String(file), ...name])).error).toBe(`${file}${problem}`);
  expect(await previews([line, second, onSolana])).toEqual({
    out: '',
    code: 2,
    error: 'line 3 is on solana and line 1 on base: one key cannot sign both',
    hint: 'Split the file by kind of chain.',
  });
});
