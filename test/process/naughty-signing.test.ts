import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { naughty, steers } from '../support/hostile/corpus.ts';
import { isSignedBy } from '../support/openssl-curve.ts';
import { some } from '../support/size.ts';
import { bonk, degen, evmTrader, solanaTrader, swaps, writeKeys } from '../support/traders.ts';

interface SignedText {
  message: string;
  commentText: string;
  signature: string;
  signerAddress: string;
}

/** Whether `evmTrader` signed a text: Keccak by @noble, the curve by Node's OpenSSL; what signs is viem. */
function isEvmSignature({ message, signature }: SignedText): boolean {
  const text = Buffer.from(message, 'utf8');
  const digest = keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${text.length}`), text]));
  return isSignedBy(Buffer.from(evmTrader.key.slice(2), 'hex'), digest, Buffer.from(signature.slice(2), 'hex'));
}

function isSolanaSignature({ message, signature }: SignedText): boolean {
  const key = base58.decode(solanaTrader.address);
  return ed25519.verify(base58.decode(signature), Buffer.from(message, 'utf8'), key);
}

/** A transaction of its own for each line: there is one comment per trade. */
function hashOf(chain: string, index: number): string {
  const bytes = Buffer.alloc(chain === 'solana' ? 64 : 32, 0x11);
  bytes.writeUInt32BE(index);
  return chain === 'solana' ? base58.encode(bytes) : `0x${bytes.toString('hex')}`;
}

const long = ['🌊'.repeat(4999), 'é'.repeat(9999), '\ud7ff\ue000\uffff', '\u{10ffff}', '\u200b', '\u202e'];

describe('naughty strings as comments', () => {
  const texts = [...some(naughty, 6).filter((text) => !text.includes('\0')), ...long];
  const evm = { chain: 'base', transactionHash: swaps.good, tokenAddress: degen };
  const solana = { chain: 'solana', transactionHash: swaps.solana, tokenAddress: bonk };
  const headOf = {
    base: `Example Swap Comment:\nChain: base\nToken Address: 0x4ed4e862860bed51a9570b96d89af5e1b0efefed\nTxn Hash: ${swaps.good}\nComment: `,
    solana: `Example Swap Comment:\nChain: solana\nToken Address: DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263\nTxn Hash: ${swaps.solana}\nComment: `,
  };

  test('of a file: each is signed to the last byte, as independent libraries see it', async () => {
    const folder = temporaryFolder();
    const keys = writeKeys(folder);
    for (const [fields, key] of [
      [evm, keys.evm],
      [solana, keys.solana],
    ] as const) {
      const [file, out] = [join(folder, 'comments.ndjson'), join(folder, `${fields.chain}.ndjson`)];
      const lines = texts.map((commentText, index) => ({
        ...fields,
        transactionHash: hashOf(fields.chain, index),
        commentText,
      }));
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const argv = `comment sign --file ${file} --key-file ${key} --service-name Example --out ${out}`;
      const { code, err } = await run(argv);
      expect([code, steers.exec(err)?.[0]]).toEqual([0, undefined]);
      const signed: SignedText[] = readFileSync(out, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(signed.map(({ commentText }) => commentText)).toEqual(texts);
      const head = headOf[fields.chain as 'base'];
      for (const [index, text] of texts.entries()) {
        const one = signed[index] as SignedText;
        expect(one.message).toBe(head.replace(fields.transactionHash, hashOf(fields.chain, index)) + text);
        if (fields.chain === 'base') expect(isEvmSignature(one)).toBe(true);
        else expect(isSolanaSignature(one)).toBe(true);
      }
    }
  });

  test('typed, in a file or piped: the same bytes are signed and sent, and verified by their own command', async () => {
    const folder = temporaryFolder();
    const keys = writeKeys(folder);
    const fields = `--chain base --tx ${swaps.good} --token ${degen} --service-name Example`.split(' ');
    for (const [index, text] of texts.entries()) {
      const file = join(folder, 'text');
      writeFileSync(file, text);
      const ways = [[`--text=${text}`], ['--text-file', file], ['--text-file', '-']];
      const way = ways[index % 3] ?? [];
      // A byte order mark is of the file, and not of the comment in it.
      const comment = index % 3 === 0 ? text : text.replace(/^\uFEFF/, '');
      const given = { stdin: Buffer.from(text) };
      const { out, code } = await run(['comment', 'sign', ...fields, ...way, '--key-file', keys.evm, '--json'], given);
      expect([text.slice(0, 40), code]).toEqual([text.slice(0, 40), 0]);
      const signed: SignedText = JSON.parse(out);
      expect(signed.message).toBe(headOf.base + comment);
      expect([signed.signerAddress, isEvmSignature(signed)]).toEqual([evmTrader.address, true]);
      const claim = ['--signature', signed.signature, '--signer', evmTrader.address];
      const sent = await run(
        ['comment', 'post', ...fields, ...way, ...claim, '--base-url', 'http://127.0.0.1:1', '--dry-run', '--json'],
        given,
      );
      expect([sent.code, steers.exec(sent.err)?.[0]]).toEqual([0, undefined]);
      expect(JSON.parse(sent.out).request.body.commentText).toBe(comment);
      const verified = await run(['comment', 'verify', ...fields, ...way, ...claim, '--json'], given);
      expect([verified.code, JSON.parse(verified.out).valid]).toEqual([0, true]);
    }
  });

  test('what is no comment is refused with its reason: nothing, too much, bytes that are no text', async () => {
    const folder = temporaryFolder();
    const keys = writeKeys(folder);
    const fields = `--chain base --tx ${swaps.good} --token ${degen} --service-name Example --key-file ${keys.evm}`;
    const file = join(folder, 'text');
    for (const [content, why] of [
      ['', 'has 0 characters, must be 1 to 9999'],
      ['x'.repeat(10_000), 'has 10000 characters, must be 1 to 9999'],
      [Buffer.from([0xff, 0x67]), 'UTF-8'],
      [Buffer.from([0xed, 0xa0, 0x80]), 'UTF-8'],
      [Buffer.from([0x67, 0xc3]), 'UTF-8'],
    ] as const) {
      writeFileSync(file, content);
      const { code, out, err } = await run(`comment sign ${fields} --text-file ${file}`);
      expect([code, out, err]).toEqual([2, '', expect.stringContaining(why)]);
    }
    for (const commentText of ['', '\ud800', 'a\udc00b', '\0', 'a\0b', 5, null]) {
      writeFileSync(file, `${JSON.stringify({ ...evm, commentText })}\n`);
      const { code, out, err } = await run(`comment sign --file ${file} --service-name Example --key-file ${keys.evm}`);
      expect([commentText, code, out]).toEqual([commentText, 2, '']);
      expect(err).toContain('line 1');
    }
  });

  test('as the name of the service: one line is signed as it is, more are refused', async () => {
    const { evm: key } = writeKeys(temporaryFolder());
    for (const text of texts) {
      const fields = `--chain base --tx ${swaps.good} --token ${degen} --key-file ${key} --text gm --json`.split(' ');
      const { out, err, code } = await run(['comment', 'sign', ...fields, `--service-name=${text}`]);
      if (/[\r\n]/.test(text)) expect([code, out, /service-name/.test(err)]).toEqual([2, '', true]);
      else if (code === 0) expect(JSON.parse(out).message.split('\n')[0]).toBe(`${text} Swap Comment:`);
      else expect([text, code, err]).toEqual([text, 2, expect.stringContaining('--service-name')]);
    }
  });
});
