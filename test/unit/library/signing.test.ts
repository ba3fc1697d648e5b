import { createClient } from 'sotra';
import { startSandbox } from 'sotra/sandbox';
import { buildCommentText, signComment, verifyComment } from 'sotra/signing';
import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, onTestFinished, test } from 'vitest';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const onBase = {
  chain: 'base',
  tokenAddress: '0x4ED4E862860beD51a9570b96d89aF5E1B0Efefed',
  transactionHash: `0x${'ab'.repeat(32)}`,
  commentText: 'gm \u{1F680}',
  serviceName: 'Example',
} as const;
const onSolana = {
  ...onBase,
  chain: 'solana',
  tokenAddress: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
  transactionHash: '3Z7cj4v76xSs59irxxNCE5hTm8MW56xxxjQr58ekxjo8yDUMNV16d9iLhHDx84LUErLUiEfm9cHSEYxmtsZ2ShQ',
} as const;
const solanaAddress = 'GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB';
const text =
  'Example Swap Comment:\nChain: base\nToken Address: 0x4ed4e862860bed51a9570b96d89af5e1b0efefed\n' +
  `Txn Hash: 0x${'ab'.repeat(32)}\nComment: gm \u{1F680}`;

test('the text is the one in the interface document, in both layouts', () => {
  expect(buildCommentText(onBase)).toBe(text);
  expect(buildCommentText({ ...onBase, layout: 'blank-line' })).toBe(text.replace('\n', '\n\n'));
});

test('an account of viem, and whatever signs bytes, give one signature', async () => {
  const signed = await signComment({ ...onBase, signer: account });
  expect(signed).toEqual({
    chain: 'base',
    tokenAddress: '0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
    transactionHash: onBase.transactionHash,
    commentText: onBase.commentText,
    signature: await account.signMessage({ message: text }),
    signerAddress: account.address,
  });
  const { address } = account;
  const raw = (bytes: Uint8Array) => account.signMessage({ message: { raw: bytes } });
  const wallet = await signComment({ ...onBase, signer: { address, sign: raw } });
  // As a Ledger ends it: with the recovery bit itself.
  const bare = async (bytes: Uint8Array) => (await raw(bytes)).replace(/1b$/, '00').replace(/1c$/, '01');
  const ledger = await signComment({ ...onBase, signer: { address, sign: bare } });
  expect([wallet, ledger]).toEqual([signed, signed]);
  expect(await verifyComment({ ...onBase, ...signed })).toMatchObject({ valid: true, recoveredAddress: address });
  expect(await verifyComment({ ...onBase, ...signed, commentText: 'GM' })).toMatchObject({ valid: false });
});

test('a seed of tweetnacl, and whatever signs bytes, sign for solana', async () => {
  const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7));
  const bySeed = await signComment({ ...onSolana, signer: { seed: new Uint8Array(32).fill(7) } });
  const byPair = await signComment({ ...onSolana, signer: { seed: pair.secretKey } });
  const sign = (bytes: Uint8Array) => nacl.sign.detached(bytes, pair.secretKey);
  const byBytes = await signComment({ ...onSolana, signer: { address: bySeed.signerAddress, sign } });
  const base64 = async (bytes: Uint8Array) => Buffer.from(sign(bytes)).toString('base64');
  const byText = await signComment({ ...onSolana, signer: { address: bySeed.signerAddress, sign: base64 } });
  expect([byPair, byBytes, byText]).toEqual([bySeed, bySeed, bySeed]);
  expect(bySeed.signerAddress).toBe(solanaAddress);
  expect(await verifyComment({ ...onSolana, ...bySeed })).toMatchObject({ valid: true });
  expect(await verifyComment(onSolana as never)).toMatchObject({ valid: false });
});

test('a signed comment is posted and read by the service', async () => {
  const sandbox = await startSandbox({ seed: 'empty' });
  onTestFinished(sandbox.close);
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.keys[0] });
  const [token, trader] = [onBase.tokenAddress, account.address];
  const { transactionHash } = sandbox.trade({ chain: 'base', trader, token, side: 'buy', amount: 1, usd: 90 });
  const signed = await signComment({ ...onBase, transactionHash, serviceName: 'Sandbox', signer: account });
  expect(await client.comment.post(signed)).toMatchObject({ commentText: onBase.commentText, transactionHash });
});

test.each<[string, object, string, string]>([
  ['no service name', { serviceName: '' }, 'usage', 'serviceName "": must be one line'],
  ['an unknown layout', { layout: 'x' }, 'usage', 'layout "x": must be one of five-line, blank-line'],
  ['a transaction of another chain', { chain: 'solana' }, 'usage', 'transactionHash 0xabab'],
  ['a field that is missing', { tokenAddress: undefined }, 'usage', 'tokenAddress undefined: must be non-empty text'],
  ['a seed for base', { signer: { seed: new Uint8Array(32) } }, 'usage', 'signs for solana, not for base'],
  ['a short seed', { ...onSolana, signer: { seed: new Uint8Array(31) } }, 'usage', 'seed must be 32 bytes'],
  ['an account for solana', { ...onSolana }, 'usage', 'signMessage signs by EIP-191'],
  ['no bytes', { ...onSolana, signer: { address: solanaAddress, sign: () => '' } }, 'signing-key', 'text of 64 bytes'],
  ['a chain of two lines', { chain: 'base\nComment: gm' }, 'usage', 'chain "base\\nComment: gm": must be the name'],
  ['no signer', { signer: undefined }, 'usage', 'signer: must be an account of viem, {seed}, or {address, sign}'],
  [
    'the signature of another key',
    { signer: { address: `0x${'1'.repeat(40)}`, signMessage: account.signMessage } },
    'signing-key',
    'the signature just made does not verify',
  ],
])('%s is refused', async (_, change, code, message) => {
  const error = await signComment({ ...onBase, signer: account, ...change }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
  expect(error).not.toHaveProperty('hint');
});
