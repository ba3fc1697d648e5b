import { createClient } from 'sotra';
import { type Sandbox, startSandbox } from 'sotra/sandbox';
import { signComment } from 'sotra/signing';
import { privateKeyToAccount } from 'viem/accounts';
import type { World } from './world.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const token = `0x${'ab'.repeat(20)}`;

/** A sandbox in which every call of a client has an answer. */
export async function prepare(): Promise<{ sandbox: Sandbox; world: World }> {
  const sandbox = await startSandbox({ asOf: '2026-11-20T12:00:00Z' });
  const [baseUrl, apiKey, trader] = [sandbox.url, sandbox.keys[0], account.address.toLowerCase()];
  const made = sandbox.trade({
    chain: 'base',
    trader,
    token,
    side: 'buy',
    amount: 1000,
    usd: 2500,
    tx: `0x${'cd'.repeat(32)}`,
  });
  const signed = await signComment({
    chain: 'base',
    tokenAddress: token,
    transactionHash: made.transactionHash,
    commentText: 'gm',
    serviceName: 'Sandbox',
    signer: account,
  });
  // Another one follows, so that lists of followers are not empty.
  await createClient({ baseUrl, apiKey }).follow.add({ addressOrUid: 'ext:fan', targets: [trader] });
  const tradedAtSec = String(made.timestamp);
  const destinationUrl = 'http://127.0.0.1:9/hook';
  const world = { baseUrl, apiKey, trader, token, tradedAtSec, destinationUrl };
  return { sandbox, world: { ...world, signed: { ...signed, chain: 'base' } } };
}
