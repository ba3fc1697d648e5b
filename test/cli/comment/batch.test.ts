import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failure, run, type Seen, stub, temporaryFolder } from '../../support/harness.ts';
import { degen, evmTrader, swaps, tradersWorld, writeKeys } from '../../support/traders.ts';

const lineOf = (transactionHash: string, commentText: string) => {
  return { chain: 'base', transactionHash, tokenAddress: degen, commentText };
};

function writeLines(folder: string, lines: readonly (object | undefined)[]): string {
  const file = join(folder, 'comments.ndjson');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const rows = (out: string) => JSON.parse(`[${out.trim().replaceAll('\n', ',')}]`) as Record<string, string>[];

test('many comments are signed in order, and their file is posted from elsewhere', async () => {
  const { env, folder, keys } = await tradersWorld();
  const file = writeLines(folder, [lineOf(swaps.good, 'one'), lineOf(swaps.second, 'two\nlines')]);
  const sign = ['--sandbox', 'comment', 'sign', '--file', file, '--key-file', keys.evm];
  const signed = rows((await run([...sign, '--format', 'ndjson'], { env })).out);
  expect(signed.map(({ commentText, signerAddress }) => [commentText, signerAddress])).toEqual([
    ['one', evmTrader.address],
    ['two\nlines', evmTrader.address],
  ]);
  const out = join(folder, 'signed.ndjson');
  expect((await run([...sign, '--out', out], { env })).err).toContain(`Wrote 2 signed comments to ${out}.`);
  expect(await run(['--sandbox', 'comment', 'post', '--file', out, '--key-file', keys.evm], { env })).toMatchObject({
    code: 2,
    err: 'error: --key-file is not needed: every line is already signed\nhint: Omit it.\n',
  });
  const signer = ['--signer', `0x${'1'.repeat(40)}`];
  const refused = await run(['--sandbox', 'comment', 'post', '--file', out, ...signer], { env });
  expect(refused).toEqual(failure(2, '--signer is not needed: every line is already signed'));
  const posted = await run(['--sandbox', 'comment', 'post', '--file', out, '--format', 'ndjson'], { env });
  expect([posted.code, rows(posted.out).map(({ result }) => result)]).toEqual([0, ['posted', 'posted']]);
});

test('a batch gives one result a line, goes on after a refusal, and does not post twice when run again', async () => {
  const { env, folder, keys } = await tradersWorld();
  const [good, small, second] = [swaps.good, swaps.small, swaps.second].map((tx, index) => lineOf(tx, `c${index}`));
  const file = writeLines(folder, [good, small, second]);
  const post = ['--sandbox', 'comment', 'post', '--file', file, '--key-file', keys.evm, '--format', 'ndjson'];
  const first = await run(post, { env });
  expect(first.code).toBe(10);
  expect(rows(first.out)).toMatchObject([
    { line: 1, result: 'posted', uid: expect.any(String), commentText: 'c0' },
    { line: 2, result: 'refused', reason: expect.stringContaining('less than 10') },
    { line: 3, result: 'posted', commentText: 'c2' },
  ]);
  expect(JSON.parse(first.err).error).toMatchObject({ code: 'partial', message: '1 of 3 comments were refused' });
  // The same comments in another order are still the same comments.
  writeLines(folder, [lineOf(swaps.third, 'new'), second, good]);
  const again = await run(post, { env });
  expect(rows(again.out).map(({ result }) => result)).toEqual(['posted', 'posted before', 'posted before']);
});

test('of several comments on one swap, those that are posted are not posted again', async () => {
  const taken: object[] = [];
  const service = await stub(({ method, body }, response) => {
    const { signature: _, ...sent } = JSON.parse(body || '{}');
    const comment = { uid: `u-${taken.length}`, timestamp: 1, ...sent };
    if (method === 'POST') taken.push(comment);
    response.end(JSON.stringify(method === 'POST' ? comment : { [swaps.good]: { comments: taken, insights: [] } }));
  });
  const folder = temporaryFolder();
  const file = writeLines(folder, [lineOf(swaps.good, 'one'), lineOf(swaps.good, 'two')]);
  const words = `comment post --file ${file} --key-file ${writeKeys(folder).evm} --service-name Example --format ndjson`;
  const results = async () => rows((await run(words, { env: service.env })).out).map(({ result }) => result);
  expect([...(await results()), ...(await results())]).toEqual(['posted', 'posted', 'posted before', 'posted before']);
});

/** Posts three comments to a service that takes comments, and does with the n-th POST what the script says. */
async function batchOfThree(nth: number, act: 'lose the answer' | 'lose the request') {
  const taken: Record<string, unknown>[] = [];
  const service = await stub((seen: Seen, response) => {
    if (seen.method === 'GET') {
      const hash = new URL(seen.url, 'http://stub').searchParams.get('transactionHashes') ?? '';
      const comments = taken.filter(({ transactionHash }) => transactionHash === hash);
      response.end(JSON.stringify({ [hash]: { comments, insights: [] } }));
      return;
    }
    const count = service.requests.filter(({ method }) => method === 'POST').length;
    const { signature: _, ...sent } = JSON.parse(seen.body);
    const comment = { uid: `u-${sent.commentText}`, timestamp: 1, ...sent };
    if (count !== nth || act !== 'lose the request') taken.push(comment);
    if (count === nth) response.destroy();
    else response.end(JSON.stringify(comment));
  });
  const folder = temporaryFolder();
  const lines = [swaps.good, swaps.second, swaps.third].map((tx, index) => lineOf(tx, `c${index}`));
  const argv = `comment post --file ${writeLines(folder, lines)} --key-file ${writeKeys(folder).evm} --service-name Example`;
  const post = () =>
    run(`${argv} --format ndjson`, { env: { ...service.env, SOTRA_DATA_DIR: folder }, skipWaits: true });
  return { post, uids: () => taken.map(({ uid }) => uid) };
}

test('an answer lost in the middle of a batch is looked up; the batch goes on, each comment posted once', async () => {
  const { post, uids } = await batchOfThree(2, 'lose the answer');
  const { code, out } = await post();
  expect([code, rows(out).map(({ uid }) => uid)]).toEqual([0, ['u-c0', 'u-c1', 'u-c2']]);
  expect(uids()).toEqual(['u-c0', 'u-c1', 'u-c2']);
});

test('an interrupted batch exits with 10, and the same command resumes it', async () => {
  const { post, uids } = await batchOfThree(2, 'lose the request');
  const first = await post();
  expect([first.code, rows(first.out).map(({ uid }) => uid)]).toEqual([10, ['u-c0']]);
  expect(first.err).toContain('stopped with 2 of 3 comments left; line 2:');
  const { out } = await post();
  expect(rows(out).map(({ result }) => result)).toEqual(['posted before', 'posted', 'posted']);
  expect(uids()).toEqual(['u-c0', 'u-c1', 'u-c2']);
});
