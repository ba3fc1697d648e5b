import { expect, test } from 'vitest';
import { run, stub } from '../support/harness.ts';
import { ask, serveSandbox } from '../support/served.ts';

const wallet = '0xb129d76820940a14c764df8b223d8e39cf94a122';
const swap =
  '--chain base --tx 0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911 --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';

const typed: readonly [argv: string, stdin: string, says: string][] = [
  [
    `comment post ${swap} --text-file - --signature 0xab --signer ${wallet} --service-name x --yes`,
    'a\0b',
    '--text-file -: holds a NUL character',
  ],
  [`comment sign ${swap} --text-file - --service-name x --dry-run`, 'a\0b', '--text-file -: holds a NUL character'],
  ['follow bulk --file -', `{"addressOrUid":"ext:a\\u0000b","targets":["${wallet}"]}`, 'addressOrUid "ext:a\\u0000b"'],
  ['follow bulk --file -', '{"addressOrUid":"ext:a","targets":["ext:\\ud800"]}', 'targets "ext:\\ud800"'],
  [`webhook add-addresses ${uid} --file -`, '"ext:a\\u0000b"\n', 'ext: id with a control character'],
  [`webhook add-addresses ${uid} --file -`, '"ext:\\ud800"\n', 'ext: id that holds half of a character'],
];

test.each(typed)('%s with %j is refused before anything is sent', async (argv, stdin, says) => {
  const service = await stub((_, response) => void response.end('{}'));
  const { code, out, err } = await run(argv, { env: service.env, stdin });
  expect([code, out, service.requests]).toEqual([2, '', []]);
  expect(err).toContain(says);
});

const posted: readonly [method: string, path: string, body: string | undefined, says: string][] = [
  ['POST', '/v1/swap-comments', '{"commentText":"a\\u0000b"}', 'holds a NUL character'],
  ['POST', '/v1/swap-comments', '{"commentText":"a\\ud800b"}', 'holds half of a character'],
  ['PUT', '/v1/addresses/ext:a%00b/follow', `{"targets":["${wallet}"]}`, 'holds a NUL character'],
  ['PUT', '/v1/addresses/ext:a/follow', '{"targets":["ext:b\\u0000c"]}', 'holds a NUL character'],
  ['DELETE', '/v1/addresses/ext:a/follow?targets=ext:b%00c', undefined, 'holds a NUL character'],
  ['PUT', '/v1/profiles/ext:a%00b/name', '{"name":"ab"}', 'holds a NUL character'],
  ['PUT', '/v1/profiles/ext:a/name', '{"name":"abc","avatarUrl":"https://a.example/\\u0000"}', 'holds a NUL character'],
  ['POST', '/v1/addresses/follow/bulk', '[{"addressOrUid":"ext:a\\u0000b","targets":["ext:c"]}]', 'addressOrUid'],
  ['GET', '/v1/feed/actor?address=ext:a%00b', undefined, 'holds a NUL character'],
  [
    'POST',
    '/v1/webhooks/feed',
    '{"destinationUrl":"https://a.example/hook","walletAddresses":["ext:a\\u0000b"]}',
    'holds a NUL character',
  ],
];

test('the sandbox answers 400 to a text that holds NUL or half of a character', async () => {
  const service = await serveSandbox();
  const rest = {
    transactionHash: '0x1',
    chain: 'base',
    tokenAddress: '0x1',
    signature: '0x1',
    signerAddress: wallet,
  };
  for (const [method, path, text, says] of posted) {
    const body = path === '/v1/swap-comments' && text !== undefined ? { ...rest, ...JSON.parse(text) } : undefined;
    const sent = body === undefined ? text : JSON.stringify(body);
    const answer = await ask(service, method, path, sent === undefined ? {} : { body: sent });
    expect([method, path, answer.status, JSON.stringify(answer.body)]).toEqual([
      method,
      path,
      400,
      expect.stringContaining(says),
    ]);
  }
});
