import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, type Seen, stub, temporaryFolder } from '../../support/harness.ts';
import { bonk, degen, evmTrader, swaps, tradersWorld, writeKeys } from '../../support/traders.ts';

const fields = ['--chain', 'base', '--token', degen, '--tx', swaps.good, '--text', 'gm'];
const named = ['--service-name', 'Example'];

function commentOf({ body }: Seen, changes: Record<string, unknown> = {}) {
  const { signature: _, ...sent } = JSON.parse(body);
  return { uid: 'u-1', timestamp: 1, ...sent, signerAddress: sent.signerAddress.toLowerCase(), ...changes };
}

test('a dry run shows text, signer and request, and sends nothing', async () => {
  const { keys } = await tradersWorld();
  const service = await answering({});
  const words = ['comment', 'post', ...fields, ...named, '--key-file', keys.evm, '--dry-run'];
  const { out, code } = await run(words, { env: service.env, tty: 100 });
  expect(code).toBe(0);
  expect(out).toContain('  1  Example Swap Comment:\n  2  Chain: base\n');
  expect(out).toContain(`Signer: ${evmTrader.address}\n`);
  expect(out).toContain(`POST ${service.url}/v1/swap-comments\n`);
  expect(out).toContain('authorization: Bearer ***\n');
  const json = JSON.parse((await run([...words, '--json'], { env: service.env })).out);
  expect(json).toMatchObject({
    layout: 'five-line',
    signerAddress: evmTrader.address,
    request: { method: 'POST', body: { commentText: 'gm', signerAddress: evmTrader.address } },
  });
  expect(service.requests).toEqual([]);
});

test('the answer is compared with the signed comment: a difference ends with 12 and shows both', async () => {
  const { keys } = await tradersWorld();
  for (const changes of [
    { commentText: 'gn' },
    { signerAddress: degen },
    { transactionHash: swaps.second },
    { chain: 'ethereum' },
    { tokenAddress: evmTrader.address },
    { commentText: undefined },
  ]) {
    const service = await stub((seen, response) => response.end(JSON.stringify(commentOf(seen, changes))));
    const words = ['comment', 'post', ...fields, ...named, '--key-file', keys.evm, '--json'];
    const { code, out, err } = await run(words, { env: service.env });
    expect([code, out]).toEqual([12, '']);
    const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '');
    const [field = ''] = Object.keys(changes);
    expect(error.message).toContain(`a different comment than was signed: ${field}: signed `);
    expect(Object.keys(error.details.signed)).toEqual([field]);
    expect(Object.keys(error.details.answered)).toEqual([field]);
    expect(service.requests).toHaveLength(1);
  }
});

test('a post whose answer is lost is looked up and not repeated: it was posted', async () => {
  const { keys } = await tradersWorld();
  const service = await stub((seen, response) => {
    if (seen.method === 'POST') return response.destroy();
    const posted = commentOf(service.requests[0] as Seen);
    response.end(JSON.stringify({ [swaps.good]: { comments: [posted], insights: [] } }));
  });
  const words = ['comment', 'post', ...fields, ...named, '--key-file', keys.evm, '--json'];
  const { code, out, err } = await run(words, { env: service.env });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ uid: 'u-1', commentText: 'gm' });
  expect(err).toContain('The answer was lost, but the comment was posted: u-1.');
  expect(service.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  expect(service.requests[1]?.url).toBe(`/v1/swap-comments?transactionHashes=${swaps.good}&chain=base`);
});

test('a post without an answer that is not found was not posted, and says so; nothing is sent twice', async () => {
  const { keys } = await tradersWorld();
  for (const status of [502, 0]) {
    const service = await stub((seen, response) => {
      if (seen.method === 'GET') response.end(JSON.stringify({ [swaps.good]: { comments: [], insights: [] } }));
      else if (status > 0) response.writeHead(status).end('{"error":"bad gateway"}');
      // Otherwise no answer at all: the client gives up.
    });
    const words = ['comment', 'post', ...fields, ...named, '--key-file', keys.evm, '--timeout', '300ms'];
    const { code, err } = await run(words, { env: service.env, skipWaits: true });
    expect(code).toBe(status > 0 ? 8 : 9);
    expect(err).toContain('a lookup did not find the comment: it was not posted');
    expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  }
});

test('if the look-up fails too, the outcome is unknown, and the command to check it is named', async () => {
  const { keys } = await tradersWorld();
  const service = await stub((seen, response) => {
    if (seen.method === 'POST') response.destroy();
    else response.writeHead(404).end('{"error":"no such endpoint"}');
  });
  const words = ['comment', 'post', ...fields, ...named, '--key-file', keys.evm];
  const { code, err } = await run(words, { env: service.env });
  expect(code).toBe(9);
  expect(err).toContain('it is unknown whether the comment was posted, and the lookup failed: no such endpoint');
  expect(err).toContain(`Check before you post again: sotra comment list ${swaps.good} --chain base`);
});

test('a comment is signed on one machine and posted from another that has no wallet key', async () => {
  const { env, folder, keys } = await tradersWorld();
  const file = join(folder, 'signed.json');
  const signing = ['comment', 'sign', ...fields, '--service-name', 'Sandbox', '--key-file', keys.evm, '--out', file];
  const signed = await run(signing);
  expect([signed.code, signed.out]).toEqual([0, '']);
  expect((await run(['comment', 'verify', '--signed', file, '--json'])).out).toContain('"valid": true');
  const posted = await run(['--sandbox', 'comment', 'post', '--signed', file, '--json'], { env });
  expect([posted.code, posted.err]).toEqual([0, '']);
  expect(JSON.parse(posted.out).commentText).toBe('gm');
});

test('on a terminal the text is shown and a yes asked for; a no posts nothing', async () => {
  const { env, keys } = await tradersWorld();
  const words = ['--sandbox', 'comment', 'post', ...fields, '--key-file', keys.evm];
  const no = await run(words, { env, tty: 100, answers: [''] });
  expect(no.code).toBe(2);
  expect(no.err).toContain('  5  Comment: | gm\n');
  expect(no.err).toContain(`Signer: ${evmTrader.address}\nPost this comment to the sandbox? [y/N] `);
  expect(no.err).toContain('error: did not post this comment to the sandbox: the answer was not yes');
  expect((await run([...words, '--no-input'], { env, answers: [] })).err).toContain(
    'Add --yes to do it without a question.',
  );
  const yes = await run(words, { env, tty: 100, answers: ['y'] });
  expect([yes.code, yes.out.includes('gm')]).toEqual([0, true]);
});

test('--yes does not ask, and a key typed at the question is never shown', async () => {
  const { env } = await tradersWorld();
  const words = ['--sandbox', 'comment', 'post', ...fields, '--yes'];
  const { code, out, err } = await run(words, { env, tty: 100, answers: [evmTrader.key] });
  expect(code).toBe(0);
  expect(err).toBe(
    'Press Enter to sign with your wallet in the browser, or type the key.\nPrivate key of an EVM wallet (not shown): ',
  );
  expect(out).not.toContain('0000000000000001');
});

test('wrong pairings stop before any key is asked for or read', async () => {
  const refused = async (words: string, said: string) => {
    const argv = ['comment', 'sign', ...words.split(' '), '--text', 'gm', '--service-name', 'Example'];
    const { code, err } = await run([...argv, '--key-file', '/nowhere/key'], { answers: [] });
    expect([words, code]).toEqual([words, 2]);
    expect(err).toContain(said);
  };
  const mint = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
  await refused(`--chain base --tx 52012345678 --token ${degen}`, 'an order id, which only hyperliquid has');
  await refused(`--chain base --tx ${swaps.good} --token ${mint}`, 'that is a mint of solana');
});

test('Ctrl-C before the comment is sent leaves 130 and sends nothing', async () => {
  const { keys } = await tradersWorld();
  const service = await answering({});
  const words = ['comment', 'post', ...fields, ...named, '--key-file', keys.evm];
  const { code, err } = await run(words, { env: service.env, signal: AbortSignal.abort() });
  expect([code, err]).toEqual([130, 'error: interrupted: nothing was signed\n']);
  expect(service.requests).toEqual([]);
});

test('a missing API key is reported before a private key or a confirmation is asked for', async () => {
  await tradersWorld();
  const env = { SOTRA_BASE_URL: 'http://127.0.0.1:9' };
  const asked = await run(['comment', 'post', ...fields, ...named], { env, tty: 100, answers: [] });
  expect([asked.code, asked.out]).toEqual([4, '']);
  expect(asked.err).toContain('no API key for http://127.0.0.1:9');
  const given = ['--signature', `0x${'11'.repeat(65)}`, '--signer', evmTrader.address];
  const signed = await run(['comment', 'post', ...fields, ...named, ...given], { env, tty: 100, answers: [] });
  expect(signed.code).toBe(4);
});

test('from no key to a posted comment: generate a key, make a trade for it, sign, post and show', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const password = writeKeys(folder).password;
  const dry = await run('key generate trader --dry-run --json', { env });
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('a new evm key trader')]);
  expect(existsSync(join(folder, 'keys'))).toBe(false);
  for (const [chain, token] of [
    ['base', degen],
    ['solana', bonk],
  ] as const) {
    const made = await run(`key generate ${chain} --chain ${chain} --password-file ${password} --json`, { env });
    expect([made.code, made.err]).toEqual([0, expect.stringContaining(`sotra key export ${chain} --out <file>`)]);
    const { address, file } = JSON.parse(made.out);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await run(`alias set @${chain} ${address}`, { env });
    await run(`alias set @token-${chain} ${token}`, { env });
    const trade = `--chain ${chain} --trader @${chain} --token @token-${chain} --side buy --amount 10 --usd 50`;
    const { transactionHash } = JSON.parse((await run(`sandbox trade ${trade} --json`, { env })).out);
    const swap = `--chain ${chain} --tx ${transactionHash} --token @token-${chain} --text gm`;
    const signing = `--key ${chain} --password-file ${password} --signer @${chain}`;
    expect(await run(`--sandbox comment post ${swap} ${signing}`, { env })).toMatchObject({ code: 0 });
    const shown = await run(`--sandbox comment list --tx ${transactionHash} --chain ${chain} --json`, { env });
    expect(JSON.parse(shown.out)[transactionHash].comments).toMatchObject([{ commentText: 'gm' }]);
  }
  const again = await run(`key generate base --password-file ${password}`, { env });
  expect([again.code, again.err]).toEqual([2, 'error: key base exists already\nhint: Choose another name.\n']);
  const asked = await run('key generate asked', { env, answers: ['pw', 'pw'] });
  expect([asked.code, asked.err]).toEqual([
    0,
    expect.stringContaining('Password to encrypt the key with (not shown): '),
  ]);
});

test('an @ and digits are a coin of hyperliquid in a token option, and a saved name elsewhere', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder() };
  await run(`alias set @107 ${evmTrader.address}`, { env });
  const sign =
    'comment sign --chain hyperliquid --tx 52012345678 --token @107 --text gm --service-name Example --dry-run';
  expect((await run(sign, { env })).out).toContain('Token Address: @107\n');
  const unknown = await run(`${sign.replace('@107', '@nobody')}`, { env });
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('--token @nobody: no such alias')]);
});
