import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { bodyOf, listen, send, signed } from '../../support/listening.ts';
import { connect, readAnswer, textOf } from '../../support/mcp-client.ts';
import { writeKeys } from '../../support/traders.ts';

const [wallet, trader] = ['0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', '0x143cf5cccbc8447504a99413dec7ea93ec228432'];
const signer = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';

const swap = {
  chain: 'base',
  transactionHash: '0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0',
  tokenAddress: '0x940181A94A35A4569E4529A3CDfB74e38FD98631',
};
const text = (comment: string) =>
  `Sandbox Swap Comment:\nChain: base\nToken Address: ${swap.tokenAddress.toLowerCase()}\nTxn Hash: ${swap.transactionHash}\nComment: ${comment}`;

/** A user with a stored key, and the flags that name it. */
async function userWithKey() {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const { evm, password } = writeKeys(folder);
  await run(`key import trader --key-file ${evm} --new-password-file ${password}`, { env });
  return { folder, env, byKey: `--allow-signing --key trader --password-file ${password}` };
}

/** A server with a stored key, and a user who answers. */
async function withKey(answer: 'accept' | 'decline' | 'nobody', client: ClientOptions = {}) {
  const { env, byKey } = await userWithKey();
  const shown: string[] = [];
  const connected = await connect(`--sandbox mcp ${byKey}`, {
    env,
    client: { ...client, ...(answer === 'nobody' ? {} : { capabilities: { elicitation: { form: {} } } }) },
    prepare: (made) => {
      if (answer === 'nobody') return;
      made.setRequestHandler('elicitation/create', async ({ params }) => {
        shown.push(params.message);
        return answer === 'accept' ? { action: 'accept', content: { confirm: true } } : { action: 'decline' };
      });
    },
  });
  const call = (name: string, commentText: string) =>
    connected.client.callTool({ name, arguments: { ...swap, commentText } });
  return { ...connected, shown, call };
}

test.each(['legacy', 'auto'] as const)(
  'a text is signed once the user has read exactly that text: %s',
  async (mode) => {
    const { client, call, shown } = await withKey('accept', { versionNegotiation: { mode } });
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
    const [signed] = readAnswer(await call('comment_sign', 'gm')).rows;
    expect(shown).toEqual([`Sign this text, with the key trader?\n\n${text('gm')}`]);
    const claim = `--chain base --tx ${swap.transactionHash} --token ${swap.tokenAddress} --text gm --signer ${signer}`;
    const verified = await run(`--sandbox comment verify ${claim} --signature ${signed?.['signature']}`);
    expect(verified.code).toBe(0);
  },
);

test('what cannot be seen in a text is shown to the user as its code', async () => {
  const { call, shown } = await withKey('decline');
  await call('comment_sign', 'gm\u202Egn');
  expect(shown[0]).toContain('Comment: gm<U+202E>gn');
});

test('nothing is signed when the user says no, or cannot be asked', async () => {
  const no = await withKey('decline');
  const refused = textOf(await no.call('comment_post', 'gm'));
  expect(refused).toContain('the user did not agree to the text: nothing was signed');
  expect(no.shown).toEqual([`Sign this text and post it to the sandbox, with the key trader?\n\n${text('gm')}`]);
  const nobody = await withKey('nobody');
  expect(textOf(await nobody.call('comment_sign', 'gm'))).toContain('did not declare the required capability');
});

test('an answer that nobody was asked for signs nothing', async () => {
  const { client, shown } = await withKey('decline');
  const forged = { confirm: { action: 'accept', content: { confirm: true } } };
  const params = { name: 'comment_sign', arguments: { ...swap, commentText: 'gm' }, inputResponses: forged };
  const result = await client.request({ method: 'tools/call', params });
  expect(result).toMatchObject({ isError: true });
  expect(shown).toHaveLength(1);
});

test('signing needs a key that is named, and a wrong comment is refused before anybody is asked', async () => {
  expect((await run('mcp --allow-signing --key nobody')).err).toContain('nobody');
  expect((await run('mcp --tools comment_sign')).err).toContain('Add --allow-signing --key <name>.');
  const { client, shown } = await withKey('accept');
  const sign = async (more: object) =>
    textOf(await client.callTool({ name: 'comment_sign', arguments: { ...swap, commentText: 'gm', ...more } }));
  expect(await sign({ chain: 'Mars' })).toContain('error: chain Mars: must be one of');
  expect(await sign({ transactionHash: '0x12' })).toContain('error: transactionHash 0x12: it has 2 hex digits');
  expect(shown).toEqual([]);
});

const token = swap.tokenAddress.toLowerCase();
const bought = { chain: 'base', transactionHash: `0x${'ab'.repeat(32)}`, tokenAddress: token };

test('every tool works in the sandbox with input that fits its schema', async () => {
  const { folder, env, byKey } = await userWithKey();
  const trade = `--chain base --trader ${signer} --token ${token} --side buy --amount 5 --usd 20`;
  await run(`sandbox trade ${trade} --tx ${bought.transactionHash}`, { env });
  const listener = await listen(folder);
  await send(listener.url, bodyOf('e1'), signed(bodyOf('e1')));
  await listener.stop();
  const prepare = (made: Client) =>
    made.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { confirm: true } }));
  const { client } = await connect(`--sandbox mcp --allow-writes ${byKey} --secret-file ${folder}/secret`, {
    ...{ env, prepare, client: { capabilities: { elicitation: {} } } },
  });
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
  expect(cell(await call('comment_sign', { ...bought, commentText: 'gm' }), 'signerAddress')).toBe(signer);
  const uid = cell(await call('comment_post', { ...bought, commentText: 'gm' }), 'uid');
  expect(cell(await call('comment_list', { hashes: [bought.transactionHash], chain: 'base' }), 'text')).toBe('gm');
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
