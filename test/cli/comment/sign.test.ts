import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withSigner } from '../../../src/commands/comment/sign.ts';
import { failure, type RunOptions, run, runJson, temporaryFolder } from '../../support/harness.ts';
import { bonk, degen, evmTrader, solanaTrader, swaps } from '../../support/traders.ts';

const name = ['--service-name', 'Example'];
const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', 'gm', ...name];
const solana = ['--chain', 'solana', '--tx', swaps.solana, '--token', bonk, '--text', 'gm', ...name];
const env = { EVM: evmTrader.key, SOL: JSON.stringify(solanaTrader.keypair) };
const byEvm = ['--key-env', 'EVM'];
const bySolana = ['--key-env', 'SOL'];
const onBase = { chain: 'base', transactionHash: swaps.good, tokenAddress: degen, commentText: 'gm' };

const sign = (words: readonly string[], options: RunOptions = {}) =>
  run(['comment', 'sign', ...words], { ...options, env: { ...env, ...options.env } });
const verify = (words: readonly string[]) => run(['comment', 'verify', ...words]);

function linesOf(...comments: readonly object[]): string {
  const file = join(temporaryFolder(), 'comments.ndjson');
  writeFileSync(file, comments.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return file;
}

test('a dry run prints text, or the object if JSON or a part of it is asked for, and needs no key', async () => {
  const message = `Example Swap Comment:\nChain: base\nToken Address: ${degen}\nTxn Hash: ${swaps.good}\nComment: gm`;
  const asText = await sign([...base, '--dry-run']);
  expect([asText.code, asText.err]).toEqual([0, '']);
  expect(asText.out.startsWith('Text to be signed (five-line, 5 lines):\n  1  Example Swap Comment:\n')).toBe(true);
  expect((await sign([...base, '--dry-run', '--format', 'table'])).out).toBe(asText.out);
  expect((await sign([...base, '--dry-run', ...byEvm])).out).toBe(asText.out);
  expect(await runJson(['comment', 'sign', ...base, '--dry-run'])).toEqual({
    message,
    layout: 'five-line',
    serviceName: 'Example',
    chain: 'base',
    tokenAddress: degen,
    transactionHash: swaps.good,
    commentText: 'gm',
    characters: 2,
    warnings: [],
  });
  expect((await sign([...base, '--dry-run', '--jq', '.characters'])).out).toBe('2\n');
});

test('a dry run of many comments shows each and signs none', async () => {
  const comments = [onBase, { ...onBase, transactionHash: swaps.second, commentText: 'gn' }];
  const [file, out] = [linesOf(...comments), join(temporaryFolder(), 'signed.ndjson')];
  const dry = ['--file', file, '--out', out, ...name, '--layout', 'five-line', '--dry-run', ...byEvm];
  const shown = await sign(dry);
  expect(shown).toMatchObject({ code: 0, err: `Would sign and write to ${out}.\n` });
  expect(shown.out.split('\n\n').map((part) => part.split(' (')[0])).toEqual(Array(2).fill('Text to be signed'));
  expect(shown.out.match(/^ {2}5 {2}Comment: \| g[mn]$/gm)).toEqual(['  5  Comment: | gm', '  5  Comment: | gn']);
  const lines = (await sign([...dry, '--format', 'ndjson'])).out.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).commentText)).toEqual(['gm', 'gn']);
  expect(shown.out + lines.join('')).not.toContain('signature');
  expect(existsSync(out)).toBe(false);
});

test('signing warns of odd comments, with the line if there are several', async () => {
  const one = await sign([...base.map((word) => (word === 'gm' ? ' gm' : word)), ...byEvm, '--json']);
  expect([one.code, one.err]).toEqual([0, 'warning: the comment begins or ends with a space\n']);
  const file = linesOf(onBase, { ...onBase, transactionHash: swaps.second, commentText: 'gm ' });
  const many = await sign(['--file', file, ...name, ...byEvm]);
  expect([many.code, many.err]).toEqual([0, 'warning: line 2: the comment begins or ends with a space\n']);
});

test('stdin holds the comment or the key, not both', async () => {
  const words = base.flatMap((word) => (word === '--text' ? ['--text-file'] : word === 'gm' ? ['-'] : [word]));
  const lines = `${JSON.stringify(onBase)}\n`;
  const both = (use: string) =>
    `error: --key-stdin and ${use} cannot both read stdin\nhint: Give one of them another way.\n`;
  expect((await sign([...words, '--key-stdin'], { stdin: 'gm' })).err).toBe(both('--text-file -'));
  expect((await sign(['--file', '-', ...name, '--key-stdin'], { stdin: lines })).err).toBe(both('--file -'));
  const one = await sign([...words, ...byEvm, '--json'], { stdin: 'gm' });
  const other = await sign([...base, '--key-stdin', '--json'], { stdin: evmTrader.key });
  expect([one.code, other.code, one.out]).toEqual([0, 0, other.out]);
  const many = ['--file', linesOf(onBase), ...name, '--key-stdin', '--format', 'ndjson'];
  expect(JSON.parse((await sign(many, { stdin: evmTrader.key })).out)).toEqual(JSON.parse(one.out));
  const piped = await sign(['--file', '-', ...name, ...byEvm, '--format', 'ndjson'], { stdin: lines });
  expect(JSON.parse(piped.out)).toEqual(JSON.parse(one.out));
});

test('signed comments go into a file of mode 0600 that is replaced, and the command that posts it is printed', async () => {
  const out = join(temporaryFolder(), 'signed.json');
  writeFileSync(out, 'before');
  const one = await sign([...base, ...byEvm, '--out', out, '--yes']);
  expect(one.err).toBe(`Wrote the signed comment to ${out}. To post: sotra comment post --signed ${out}\n`);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(readFileSync(out, 'utf8')).toBe(`${JSON.stringify(JSON.parse(readFileSync(out, 'utf8')), null, 2)}\n`);
  const single = await sign(['--file', linesOf(onBase), ...name, ...byEvm, '--out', out, '--yes']);
  expect(single.err).toBe(one.err);
  const file = linesOf(onBase, { ...onBase, transactionHash: swaps.second });
  const many = await sign(['--file', file, ...name, ...byEvm, '--out', out, '--yes']);
  expect(many.err).toBe(`Wrote 2 signed comments to ${out}. To post: sotra comment post --file ${out}\n`);
  const lines = readFileSync(out, 'utf8').split('\n');
  expect(lines.slice(0, -1).map((line) => JSON.parse(line).transactionHash)).toEqual([swaps.good, swaps.second]);
  expect(lines.at(-1)).toBe('');
});

test('a signature given as a flag is verified over the text that the flags make: who signed it, or why it is wrong', async () => {
  const { signature } = await runJson(['comment', 'sign', ...base, ...byEvm], { env });
  const given = ['--signature', signature, '--signer', evmTrader.address];
  const yes = { valid: true, recoveredAddress: evmTrader.address, signerAddress: evmTrader.address };
  expect(await runJson(['comment', 'verify', ...base, ...given])).toEqual(yes);
  for (const words of Object.entries({ '--layout': 'blank-line', '--service-name': 'Other' })) {
    const no = await verify([...base.slice(0, -2), ...(words[0] === '--layout' ? name : []), ...words, ...given]);
    expect([words, no.code]).toEqual([words, 12]);
    expect(no.out).toContain('over this text it is the signature of 0x');
  }
  const unsigned = await verify([...base, '--signer', degen]);
  expect(unsigned).toEqual(failure(2, '--signature is required: the signature, or --signed <file>'));
  const nameless = await verify([...base, '--signature', signature]);
  expect(nameless).toEqual(failure(2, '--signer is required: the address that signed'));
});

test('a signed file is verified by its own service name and layout, or by those that are given', async () => {
  const file = join(temporaryFolder(), 'signed.json');
  await sign([...base, ...byEvm, '--layout', 'blank-line', '--out', file]);
  for (const words of [[], ['--layout', 'blank-line'], name])
    expect([words, (await verify(['--signed', file, ...words])).code]).toEqual([words, 0]);
  for (const words of Object.entries({ '--layout': 'five-line', '--service-name': 'Other' })) {
    const { code, out } = await verify(['--signed', file, ...words, '--json']);
    const reason = 'the message does not match the fields';
    expect([code, JSON.parse(out)]).toEqual([12, { valid: false, signerAddress: evmTrader.address, reason }]);
  }
});

test('--signer is compared without regard to case on EVM chains, and exactly on Solana', async () => {
  for (const signer of [evmTrader.address, evmTrader.address.toLowerCase()])
    expect((await sign([...base, ...byEvm, '--signer', signer])).code).toBe(0);
  for (const signer of [solanaTrader.address, `solana:${solanaTrader.address}`])
    expect((await sign([...solana, ...bySolana, '--signer', signer])).code).toBe(0);
  const other = solanaTrader.address.replace('FVen', 'fVen');
  const message = `error: the key belongs to ${solanaTrader.address}, not to ${other}\nhint: Give the key of that address`;
  expect(await sign([...solana, ...bySolana, '--signer', other])).toEqual(failure(11, message));
});

test('a key is wiped once it was used, even after a failure: nothing can be signed with it then', async () => {
  const io = { env, signal: new AbortController().signal, system: { platform: 'linux' }, in: {} };
  const fields = { chain: 'solana', transactionHash: swaps.solana, tokenAddress: bonk, commentText: 'gm' } as const;
  const form = { serviceName: 'Example', layout: 'five-line' } as const;
  const way = { keyEnv: 'SOL' };
  const signing = { lines: [{ line: 1, fields }], form, family: 'solana', purpose: 'sign', way } as const;
  for (const fails of [false, true]) {
    let later = async (): Promise<unknown> => '';
    const used = withSigner(signing, { io, options: {} } as never, async (signer) => {
      later = () => signer.sign(fields);
      expect((await signer.sign(fields)).signerAddress).toBe(solanaTrader.address);
      if (fails) throw new Error('the use failed');
    });
    await used.catch((error: Error) => expect(error.message).toBe('the use failed'));
    await expect(later()).rejects.toThrow('the signature just made does not verify');
  }
});
