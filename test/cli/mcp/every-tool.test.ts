import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { bodyOf, listen, secret, send, signed } from '../../support/listening.ts';
import { connect, readAnswer, textOf } from '../../support/mcp-client.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const token = '0x940181a94a35a4569e4529a3cdfb74e38fd98631';
const signer = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
const swap = {
  chain: 'base',
  transactionHash: `0x${'ab'.repeat(32)}`,
  tokenAddress: token,
};

test('every tool does in the sandbox what it is for, and takes what its schema describes', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  writeFileSync(join(folder, 'password'), 'correct horse', { mode: 0o600 });
  writeFileSync(join(folder, 'key'), `0x${'0'.repeat(63)}1`, { mode: 0o600 });
  writeFileSync(join(folder, 'secret'), secret, { mode: 0o600 });
  await run(`key import trader --key-file ${folder}/key --new-password-file ${folder}/password`, { env });
  const trade = `--chain base --trader ${signer} --token ${token} --side buy --amount 5 --usd 20`;
  expect(await run(`--sandbox sandbox trade ${trade} --tx ${swap.transactionHash}`, { env })).toMatchObject({
    code: 0,
  });
  const listener = await listen(folder);
  await send(listener.url, bodyOf('e1'), signed(bodyOf('e1')));
  await listener.stop();
  const argv = `--sandbox mcp --allow-writes --allow-signing --key trader --password-file ${folder}/password --secret-file ${folder}/secret`;
  const asking = { capabilities: { elicitation: {} } };
  const prepare = (made: Client) =>
    made.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { confirm: true } }));
  const { client } = await connect(argv, { env, client: asking, prepare });
  const { tools } = await client.listTools();
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  ajvFormats.default(ajv);
  const called = new Set<string>();
  const call = async (name: string, input: Record<string, unknown>) => {
    const { inputSchema } = tools.find((tool) => tool.name === name) ?? {};
    expect([name, ajv.validate(inputSchema as object, input), ajv.errors]).toEqual([name, true, null]);
    const result = await client.callTool({ name, arguments: input });
    expect([name, result.isError ?? false, textOf(result)]).toEqual([name, false, expect.any(String)]);
    called.add(name);
    return readAnswer(result).rows;
  };
  const cell = (rows: Record<string, string>[], key: string) => rows[0]?.[key];
  await call('leaderboard_list', {});
  await call('leaderboard_rank', { address: trader });
  await call('leaderboard_copytraded', { limit: 2 });
  await call('leaderboard_sections', { sections: ['chain-base'], limit: 2 });
  await call('profile_get', { identifier: trader, fields: ['name', 'followers'] });
  const itemId = cell(await call('profile_positions', { identifier: trader, status: 'closed', limit: 1 }), 'itemId');
  await call('profile_followers', { identifier: trader });
  await call('profile_follows', { identifier: trader });
  await call('profile_set_name', { identifier: wallet, name: 'moon_cat' });
  await call('profile_delete_name', { identifier: wallet });
  await call('follow_add', { addressOrUid: 'ext:1', targets: [trader] });
  await call('feed_actor', { identifier: trader, limit: 1, minTradeUsd: 100 });
  expect(await call('feed_home', { addresses: ['ext:1'], limit: 1 })).toHaveLength(1);
  await call('follow_remove', { addressOrUid: 'ext:1', targets: [trader] });
  await call('follow_bulk', { entries: [{ addressOrUid: 'ext:1', targets: [trader, wallet] }] });
  await call('token_positions', { chain: 'base', contractAddress: token, status: 'open', limit: 1 });
  await call('token_comments', { chain: 'base', contractAddress: token, limit: 1 });
  const position = await call('position_get', { id: itemId });
  const { chain, tokenAddress: contract, lastTradeAt: timestamp } = position[0] ?? {};
  await call('position_find', { address: trader, chain, contract, timestamp });
  expect(cell(await call('comment_sign', { ...swap, commentText: 'gm' }), 'signerAddress')).toBe(signer);
  const uid = cell(await call('comment_post', { ...swap, commentText: 'gm' }), 'uid');
  expect(cell(await call('comment_list', { hashes: [swap.transactionHash], chain: 'base' }), 'text')).toBe('gm');
  await call('comment_copy', { id: uid, tokenAddress: token, chain: 'base', actorAddress: wallet });
  const destinationUrl = 'http://127.0.0.1:9/hook';
  const webhook = cell(await call('webhook_register', { destinationUrl, walletAddresses: [wallet] }), 'uid');
  await call('webhook_add_addresses', { uid: webhook, walletAddresses: [trader] });
  expect(cell(await call('webhook_list', {}), 'uid')).toBe(webhook);
  await call('webhook_validate', { uid: webhook });
  await call('webhook_delete', { uid: webhook });
  expect(cell(await call('webhook_events', { limit: 1 }), 'eventId')).toBe('e1');
  const body = bodyOf('e1');
  const header = signed(body);
  expect(cell(await call('verify_webhook', { header: Object.values(header)[0], body }), 'valid')).toBe('true');
  expect(tools.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([]);
});
