import { expect, test } from 'vitest';
import { makeBody, type SendableComment, sendComment } from '../../../../src/commands/comment/send-comment.ts';
import type { Context } from '../../../../src/context.ts';
import { SotraError } from '../../../../src/errors.ts';
import { bonk, degen, evmTrader, solanaTrader, swaps } from '../../../support/traders.ts';

const comment: SendableComment = {
  chain: 'base',
  transactionHash: swaps.good,
  tokenAddress: degen,
  commentText: 'gm',
  signature: '0x12',
  signerAddress: evmTrader.address,
};
const stored = { uid: 'u-1', timestamp: 1, ...comment };
const byHand = `sotra comment list ${swaps.good} --chain base`;

type Step = { data: unknown; text?: string } | Error;

/** A service whose answer to the POST is scripted, and those to each look-up after it. */
function service(post: Step | (() => Step), lookUps: readonly Step[] = [], stop = new AbortController()) {
  const asked: string[] = [];
  const inputs: unknown[] = [];
  const waits: number[] = [];
  const notes: string[] = [];
  const left = [...lookUps];
  const context = {
    io: { signal: stop.signal, sleep: async (ms: number) => void waits.push(ms) },
    client: {
      call: async ({ method }: { method: string }, input: unknown) => {
        asked.push(method);
        inputs.push(input);
        const step = method === 'POST' ? (typeof post === 'function' ? post() : post) : left.shift();
        if (step === undefined) throw new Error('nobody answers');
        if (step instanceof Error) throw step;
        return step;
      },
    },
    note: (text: string) => notes.push(text),
  } as unknown as Context;
  const sent = (changes: Partial<SendableComment> = {}) =>
    sendComment({ ...comment, ...changes }, context).catch((error: SotraError) => error);
  return { sent, asked, inputs, waits, notes };
}

const lost = new SotraError('network', 'the answer was cut off', { outcome: 'unknown', status: 502, requestId: 'r-1' });
const found = (...comments: readonly object[]) => ({ data: { [swaps.good]: { comments, insights: [] } } });

test('the body of a post has the fields that were signed and no other', () => {
  const more = { message: 'text', layout: 'five-line', tokenAddress: `0x${degen.slice(2).toUpperCase()}` };
  expect(makeBody({ ...comment, ...more })).toEqual({
    transactionHash: swaps.good,
    chain: 'base',
    tokenAddress: degen,
    commentText: 'gm',
    signature: '0x12',
    signerAddress: evmTrader.address,
  });
});

const same: readonly [sent: Partial<SendableComment>, answered: object][] = [
  [{}, { signerAddress: evmTrader.address.toLowerCase() }],
  [{ transactionHash: `0x${'AB'.repeat(32)}` }, { transactionHash: `0x${'ab'.repeat(32)}` }],
  [{}, { tokenAddress: `0x${degen.slice(2).toUpperCase()}` }],
  [{ signerAddress: `solana:${solanaTrader.address}` }, { signerAddress: solanaTrader.address }],
  [
    { chain: 'solana', tokenAddress: bonk },
    { chain: 'solana', tokenAddress: `solana:${bonk}` },
  ],
];

test.each(same)('%j is the same comment as the answered %j', async (sent, answered) => {
  const outcome = await service({ data: { ...stored, ...sent, ...answered } }).sent(sent);
  expect(outcome).toMatchObject({ comment: { uid: 'u-1' } });
});

const others: readonly [sent: Partial<SendableComment>, answered: Record<string, unknown>][] = [
  [{ commentText: '0xAB' }, { commentText: '0xab' }],
  [{ commentText: `solana:${bonk}` }, { commentText: bonk }],
  [{}, { commentText: 5 }],
  [{}, { signerAddress: 5 }],
  [{}, { signerAddress: null }],
  [{ chain: 'hyperliquid', tokenAddress: 'K0xAB' }, { tokenAddress: 'K0xab' }],
  [{ chain: 'hyperliquid', tokenAddress: '0xABz' }, { tokenAddress: '0xabz' }],
  [{ signerAddress: solanaTrader.address }, { signerAddress: solanaTrader.address.toLowerCase() }],
];

test.each(others)('%j is another comment than the answered %j: both are shown', async (sent, answered) => {
  const outcome = await service({ data: { ...stored, ...sent, ...answered } }).sent(sent);
  const [field = ''] = Object.keys(answered);
  const was = { ...comment, ...sent }[field as keyof SendableComment];
  const { chain, transactionHash } = { ...comment, ...sent };
  expect(outcome).toMatchObject({
    code: 'verification',
    message: `the service returned a different comment than was signed: ${field}: signed ${JSON.stringify(was)}, returned ${JSON.stringify(answered[field])}`,
    hint: `See what it stored: sotra comment list ${transactionHash} --chain ${chain}`,
    details: { signed: { [field]: was }, answered },
  });
});

test.each([[null], ['gm']])('an answer of %j is another comment in every field', async (data) => {
  const outcome = await service({ data }).sent();
  expect(outcome).toMatchObject({ code: 'verification' });
  expect((outcome as SotraError).message).toMatch(
    /^the service returned .*: signerAddress: signed ".*", returned nothing; transactionHash: /,
  );
  expect((outcome as SotraError).details).toMatchObject({
    answered: { signerAddress: null, transactionHash: null, chain: null, tokenAddress: null, commentText: null },
  });
});

test('what the service refuses, or surely did not get, is not looked up', async () => {
  for (const error of [
    new SotraError('bad-request', 'no such swap', { status: 400 }),
    new SotraError('network', 'no connection', { outcome: 'unsent' }),
    new Error('a fault'),
  ]) {
    const { sent, asked } = service(error);
    expect(await sent()).toBe(error);
    expect(asked).toEqual(['POST']);
  }
});

test('of the comments found, only that of this signer on this token is the lost one', async () => {
  const strangers = [
    { ...stored, uid: 'u-2', signerAddress: degen },
    { ...stored, uid: 'u-3', tokenAddress: evmTrader.address },
    { ...stored, uid: 'u-4', signerAddress: degen, tokenAddress: evmTrader.address },
  ];
  const own = { ...stored, signerAddress: evmTrader.address.toLowerCase() };
  const { sent, asked, inputs, waits, notes } = service(lost, [found(...strangers, own)]);
  expect(await sent()).toEqual({ comment: own, notes: ['The answer was lost, but the comment was posted: u-1.'] });
  expect([asked, waits]).toEqual([['POST', 'GET'], []]);
  expect(inputs[1]).toEqual({ hashes: [swaps.good], chain: 'base' });
  expect(notes).toEqual(['the answer was cut off. Checking whether the comment was posted.']);
});

test('it is looked for three times, 0.7 and 1.4 s apart, and then was not posted', async () => {
  const nothing = [{ data: { [swaps.good]: null } }, { data: { [swaps.good]: {} } }, found()];
  const { sent, asked, waits } = service(lost, nothing);
  expect(await sent()).toMatchObject({
    code: 'network',
    message: 'the answer was cut off; a lookup did not find the comment: it was not posted',
    hint: `Post it again. To make sure that it does not appear late: ${byHand}`,
    status: 502,
    requestId: 'r-1',
    cause: lost,
    outcome: 'unsent',
  });
  expect([asked, waits]).toEqual([
    ['POST', 'GET', 'GET', 'GET'],
    [700, 1400],
  ]);
  const late = service(lost, [found(), found(), found(stored)]);
  expect(await late.sent()).toMatchObject({ comment: { uid: 'u-1' } });
});

test('a comment with another text in its place is reported as different', async () => {
  const { sent, asked } = service(lost, [found({ ...stored, commentText: 'gn' })]);
  expect(await sent()).toMatchObject({
    code: 'verification',
    message: 'the service returned a different comment than was signed: commentText: signed "gm", returned "gn"',
  });
  expect(asked).toEqual(['POST', 'GET']);
});

test('who stops it before it is sent has sent nothing; while it is sent, nothing is known and nothing looked up', async () => {
  const before = new AbortController();
  before.abort();
  const early = service({ data: stored }, [], before);
  expect(await early.sent()).toMatchObject({ code: 'interrupted', message: 'interrupted: nothing was sent' });
  expect(early.asked).toEqual([]);
  const stop = new AbortController();
  const interrupted = new SotraError('interrupted', 'interrupted', { outcome: 'unknown' });
  const cut = () => {
    stop.abort();
    return interrupted;
  };
  const late = service(cut, [found(stored)], stop);
  expect(await late.sent()).toMatchObject({
    code: 'interrupted',
    message: 'interrupted while posting: it is unknown whether the comment was posted',
    hint: `Check: ${byHand}`,
    cause: interrupted,
    outcome: 'unknown',
  });
  expect([late.asked, late.notes]).toEqual([['POST'], []]);
});
