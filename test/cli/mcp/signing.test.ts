import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { connect, readAnswer, textOf } from '../../support/mcp-client.ts';

const swap = {
  chain: 'base',
  transactionHash: '0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0',
  tokenAddress: '0x940181A94A35A4569E4529A3CDfB74e38FD98631',
};
const text = (comment: string) =>
  `Sandbox Swap Comment:\nChain: base\nToken Address: ${swap.tokenAddress.toLowerCase()}\nTxn Hash: ${swap.transactionHash}\nComment: ${comment}`;

/** A server with a stored key, and a user who answers. */
async function withKey(answer: 'accept' | 'decline' | 'nobody', client: ClientOptions = {}) {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  writeFileSync(join(folder, 'password'), 'correct horse', { mode: 0o600 });
  writeFileSync(join(folder, 'key'), `0x${'0'.repeat(63)}1`, { mode: 0o600 });
  const password = `${folder}/password`;
  await run(`key import trader --key-file ${folder}/key --new-password-file ${password}`, { env });
  const shown: string[] = [];
  const connected = await connect(`--sandbox mcp --allow-signing --key trader --password-file ${password}`, {
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
    const signer = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
    const { code } = await run(
      `--sandbox comment verify --chain base --tx ${swap.transactionHash} --token ${swap.tokenAddress} --text gm --signature ${signed?.['signature']} --signer ${signer}`,
    );
    expect(code).toBe(0);
  },
);

test('what cannot be seen in a text is shown to the user as its code', async () => {
  const { call, shown } = await withKey('decline');
  await call('comment_sign', 'gm\u202Egn');
  expect(shown[0]).toContain('Comment: gm<U+202E>gn');
});

test('nothing is signed when the user says no, or cannot be asked', async () => {
  const no = await withKey('decline');
  expect(textOf(await no.call('comment_post', 'gm'))).toContain(
    'the user did not agree to the text: nothing was signed',
  );
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
  expect(await run('mcp --allow-signing --key nobody')).toMatchObject({ err: expect.stringContaining('nobody') });
  expect((await run('mcp --tools comment_sign')).err).toContain('Add --allow-signing --key <name>.');
  const { client, shown } = await withKey('accept');
  const wrong = await client.callTool({
    name: 'comment_sign',
    arguments: { ...swap, chain: 'Mars', commentText: 'gm' },
  });
  expect(textOf(wrong)).toContain('error: chain Mars: must be one of');
  const short = await client.callTool({
    name: 'comment_sign',
    arguments: { ...swap, transactionHash: '0x12', commentText: 'gm' },
  });
  expect(textOf(short)).toContain('error: transactionHash 0x12: it has 2 hex digits');
  expect(shown).toEqual([]);
});
