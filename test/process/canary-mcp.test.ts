import { expect, test } from 'vitest';
import { evmKey, namedSecret, phrase, secretsIn } from '../support/canaries.ts';
import { strayIn } from '../support/canary-commands.ts';
import { canaryWorld, echoScripts } from '../support/canary-world.ts';
import { connect } from '../support/mcp-client.ts';
import { some } from '../support/size.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const swap = { chain: 'base', transactionHash: `0x${'ab'.repeat(32)}`, tokenAddress: wallet, commentText: 'gm' };

const calls: readonly [name: string, input: Record<string, unknown>][] = [
  ['leaderboard_list', {}],
  ['profile_get', { identifier: wallet }],
  ['webhook_list', {}],
  ['webhook_register', { url: 'http://127.0.0.1:9/new', walletAddresses: ['ext:user-9'] }],
  ['follow_add', { addressOrUid: 'ext:1', targets: [wallet] }],
  ['comment_sign', swap],
  ['comment_post', swap],
  ['verify_webhook', { header: 't=1,v1=x', body: `{"secret":"${namedSecret}"}` }],
  // Typed where they do not belong.
  ['profile_get', { identifier: evmKey }],
  ['profile_get', { identifier: phrase }],
  ['comment_sign', { ...swap, commentText: evmKey }],
];

test('no answer of a tool holds a secret, nor what is said beside it, whatever the service answers', {
  timeout: 120_000,
}, async () => {
  const world = await canaryWorld();
  let said = '';
  const { client, close } = await connect(
    `mcp --verbose --retries 0 --allow-writes --allow-signing --key evm --password-file ${world.input('password')} --secret-file ${world.input('hook.secret')}`,
    {
      env: world.env,
      skipWaits: true,
      onErr: (text) => {
        said += text;
      },
      client: { capabilities: { elicitation: {} } },
      prepare: (made) =>
        made.setRequestHandler('elicitation/create', async ({ params }) => {
          said += params.message;
          return { action: 'accept', content: { confirm: true } };
        }),
    },
  );
  said += JSON.stringify(await client.listTools());
  for (const script of [world.healthy, ...some(Object.values(echoScripts), 3)]) {
    world.answerAs(script);
    for (const [name, input] of calls) {
      const answer = JSON.stringify(await client.callTool({ name, arguments: input }).catch(({ message }) => message));
      expect([name, input, secretsIn(answer), answer]).toEqual([name, input, [], expect.any(String)]);
    }
  }
  const { out } = await close();
  expect(secretsIn(said)).toEqual([]);
  for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
  expect(strayIn(world)).toEqual([]);
});
