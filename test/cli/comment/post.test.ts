import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sendComment } from '../../../src/commands/comment/send-comment.ts';
import { answering, failure, newUser, run, runJson, type Seen, stub, temporaryFolder } from '../../support/harness.ts';
import { bonk, degen, evmTrader, solanaTrader, swaps, tradersWorld, writeKeys } from '../../support/traders.ts';

const fields = ['--chain', 'base', '--token', degen, '--tx', swaps.good, '--text', 'gm'];
const named = ['--service-name', 'Example'];

/** `comment post` with the key of the trader. */
const post = (...more: string[]) => {
  return ['comment', 'post', ...fields, ...named, '--key-file', writeKeys(temporaryFolder()).evm, ...more];
};

function commentOf({ body }: Seen, changes: Record<string, unknown> = {}) {
  const { signature: _, ...sent } = JSON.parse(body);
  return { uid: 'u-1', timestamp: 1, ...sent, signerAddress: sent.signerAddress.toLowerCase(), ...changes };
}

/** Posts a comment that was signed elsewhere to a service that answers it with these changes. */
async function postElsewhere(sent: Record<string, string>, changes: Record<string, unknown>) {
  const service = await stub((seen, response) => response.end(JSON.stringify(commentOf(seen, changes))));
  const flags = { chain: 'base', tx: swaps.good, token: degen, text: 'gm', signer: evmTrader.address, ...sent };
  const words = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
  const outcome = await run(['comment', 'post', ...words, '--signature', '0x12', '--json'], { env: service.env });
  return { ...outcome, requests: service.requests };
}

const onSolana = { chain: 'solana', tx: swaps.solana, token: bonk, signer: `solana:${solanaTrader.address}` };
const onHyperliquid = (token: string) => ({ chain: 'hyperliquid', token });

test.each<[sent: Record<string, string>, answered: Record<string, unknown>]>([
  [{}, { signerAddress: evmTrader.address.toLowerCase() }],
  [{ tx: `0x${'AB'.repeat(32)}` }, { transactionHash: `0x${'ab'.repeat(32)}` }],
  [{}, { tokenAddress: `0x${degen.slice(2).toUpperCase()}` }],
  [onSolana, { signerAddress: solanaTrader.address, tokenAddress: `solana:${bonk}` }],
])('with %j the answered %j is the same comment', async (sent, answered) => {
  const { code, out } = await postElsewhere(sent, answered);
  expect([code, JSON.parse(out).uid]).toEqual([0, 'u-1']);
});

test.each<[sent: Record<string, string>, answered: Record<string, unknown>, signed: string]>([
  [{}, { transactionHash: swaps.second }, swaps.good],
  [{}, { chain: 'ethereum' }, 'base'],
  [{}, { chain: undefined }, 'base'],
  [{}, { tokenAddress: evmTrader.address }, degen],
  [{}, { commentText: undefined }, 'gm'],
  [{ text: '0xAB' }, { commentText: '0xab' }, '0xAB'],
  [{}, { signerAddress: degen }, evmTrader.address],
  [onHyperliquid('K0xAB'), { tokenAddress: 'K0xab' }, 'K0xAB'],
  [onHyperliquid('0xABK'), { tokenAddress: '0xabK' }, '0xABK'],
  [onSolana, { signerAddress: solanaTrader.address.toLowerCase() }, onSolana.signer],
])('with %j the answered %j is another comment: exit 12, and both are shown', async (sent, answered, signed) => {
  const { code, out, err, requests } = await postElsewhere(sent, answered);
  const [[field = '', value] = []] = Object.entries(answered);
  const returned = value === undefined ? 'nothing' : JSON.stringify(value);
  expect([code, out, requests.length]).toEqual([12, '', 1]);
  expect(JSON.parse(err).error).toMatchObject({
    message: `the service returned a different comment than was signed: ${field}: signed ${JSON.stringify(signed)}, returned ${returned}`,
    hint: `See what it stored: sotra comment list ${sent['tx'] ?? swaps.good} --chain ${sent['chain'] ?? 'base'}`,
    details: { signed: { [field]: signed }, answered: { [field]: value ?? null } },
  });
});

/** Posts to a service that loses the answer, and finds these comments when it is asked, one look-up after the other. */
async function postAndLose(...lookUps: readonly Record<string, unknown>[][]) {
  const left = [...lookUps];
  const service = await stub((seen, response) => {
    if (seen.method === 'POST') return response.destroy();
    const comments = left.shift()?.map((changes) => commentOf(service.requests[0] as Seen, changes));
    response.end(JSON.stringify({ [swaps.good]: comments === undefined ? null : { comments, insights: [] } }));
  });
  const words = post('--json');
  const outcome = await run(words, { env: service.env, skipWaits: true });
  return { ...outcome, requests: service.requests };
}

test('a post whose answer is lost is looked up and not repeated: of the comments found, that of its signer on its token was posted', async () => {
  const strangers = [
    { uid: 'u-2', signerAddress: degen },
    { uid: 'u-3', tokenAddress: evmTrader.address },
  ];
  const { code, out, err, requests } = await postAndLose([...strangers, {}]);
  expect([code, JSON.parse(out).uid]).toEqual([0, 'u-1']);
  expect(err).toContain('Checking whether the comment was posted.');
  expect(err).toContain('The answer was lost, but the comment was posted: u-1.');
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  expect(requests[1]?.url).toBe(`/v1/swap-comments?transactionHashes=${swaps.good}&chain=base`);
  const late = await postAndLose(strangers, [], [{ uid: 'u-2', commentText: 'gn' }, {}]);
  expect([late.code, late.requests.length, JSON.parse(late.out).uid]).toEqual([0, 4, 'u-1']);
  const other = await postAndLose([{ commentText: 'gn' }]);
  expect([other.code, other.err]).toEqual([12, expect.stringContaining('signed \\"gm\\", returned \\"gn\\"')]);
});

test('Ctrl-C while a comment is sent: it is unknown whether it was posted, and nothing is looked up', async () => {
  const stop = new AbortController();
  const service = await stub(() => stop.abort());
  const message = `error: interrupted while posting: it is unknown whether the comment was posted\nhint: Check: sotra comment list ${swaps.good} --chain base\n`;
  expect(await run(post(), { env: service.env, signal: stop.signal })).toEqual(failure(130, message));
  expect(service.requests.map(({ method }) => method)).toEqual(['POST']);
});

test('a post without an answer that is not found was not posted, and says so; nothing is sent twice', async () => {
  for (const status of [502, 0]) {
    const service = await stub((seen, response) => {
      const found = status > 0 ? null : { comments: [], insights: [] };
      if (seen.method === 'GET') response.end(JSON.stringify({ [swaps.good]: found }));
      else if (status > 0) response.writeHead(status).end('{"error":"bad gateway"}');
      // Otherwise no answer at all: the client gives up.
    });
    const env = { ...service.env, ...newUser().env };
    const { code, err } = await run(post('--timeout', '300ms'), { env, skipWaits: true, now: 1_000_000 });
    expect(code).toBe(status > 0 ? 8 : 9);
    expect(err).toContain('a lookup did not find the comment: it was not posted');
    expect(service.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET']);
    const calls: { atMs: number }[] = await runJson('history', { env });
    expect(calls.map(({ atMs }) => atMs - 1_000_000)).toEqual([2100, 700, 0, 0]);
  }
});

test('if the look-up fails too, the outcome is unknown, and the command to check it is named', async () => {
  const service = await stub((seen, response) => {
    if (seen.method === 'POST') response.destroy();
    else response.writeHead(404).end('{"error":"no such endpoint"}');
  });
  const outcome = await run(post(), { env: service.env });
  expect(outcome).toEqual(
    failure(9, 'unknown whether the comment was posted, and the lookup failed: no such endpoint'),
  );
  expect(outcome.err).toContain(`Check before you post again: sotra comment list ${swaps.good} --chain base`);
});

test('--yes posts without a question, but a key that is not given is asked for', async () => {
  const { env } = await tradersWorld();
  const words = ['--sandbox', 'comment', 'post', ...fields, '--yes'];
  const { code, err } = await run(words, { env, tty: 100, answers: [evmTrader.key] });
  expect([code, err]).toEqual([0, expect.stringMatching(/Private key of an EVM wallet \(not shown\): $/)]);
});

test('Ctrl-C before the comment is sent leaves 130 and sends nothing', async () => {
  const service = await answering({});
  const outcome = await run(post(), { env: service.env, signal: AbortSignal.abort() });
  expect(outcome).toEqual(failure(130, 'error: interrupted: nothing was signed\n'));
  expect(service.requests).toEqual([]);
  const stopped = { io: { signal: AbortSignal.abort() } };
  const unsent = { code: 'interrupted', message: 'interrupted: nothing was sent' };
  await expect(sendComment({} as never, stopped as never)).rejects.toMatchObject(unsent);
});

test('a missing API key is reported before a private key or a confirmation is asked for', async () => {
  const env = { SOTRA_BASE_URL: 'http://127.0.0.1:9' };
  const asked = await run(['comment', 'post', ...fields, ...named], { env, tty: 100, answers: [] });
  expect(asked).toEqual(failure(4, 'no API key for http://127.0.0.1:9'));
  const last = await run(['comment', 'post', 'gm', '--last', ...named], { env, tty: 100, answers: [] });
  expect(last).toEqual(failure(4, 'no API key for http://127.0.0.1:9'));
  const given = ['--signature', `0x${'11'.repeat(65)}`, '--signer', evmTrader.address];
  const signed = await run(['comment', 'post', ...fields, ...named, ...given], { env, tty: 100, answers: [] });
  expect(signed.code).toBe(4);
});

test('from no key to a posted comment: generate a key, make a trade for it, sign, post and show', async () => {
  const { env } = newUser();
  const { password } = writeKeys(temporaryFolder());
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
    const { transactionHash } = await runJson(`sandbox trade ${trade}`, { env });
    const swap = `--chain ${chain} --tx ${transactionHash} --token @token-${chain} --text gm`;
    const signing = `--key ${chain} --password-file ${password} --signer @${chain}`;
    expect(await run(`--sandbox comment post ${swap} ${signing}`, { env })).toMatchObject({ code: 0 });
    const shown = await runJson(`--sandbox comment list --tx ${transactionHash} --chain ${chain}`, { env });
    expect(shown[transactionHash].comments).toMatchObject([{ commentText: 'gm' }]);
  }
});

test('an @ and digits are a coin of hyperliquid in a token option, and a saved name elsewhere', async () => {
  const { env } = newUser();
  await run(`alias set @107 ${evmTrader.address}`, { env });
  const sign =
    'comment sign --chain hyperliquid --tx 52012345678 --token @107 --text gm --service-name Example --dry-run';
  expect((await run(sign, { env })).out).toContain('Token Address: @107\n');
  const unknown = await run(sign.replace('@107', '@nobody'), { env });
  expect(unknown).toEqual(failure(2, '--token @nobody: no such alias'));
});
