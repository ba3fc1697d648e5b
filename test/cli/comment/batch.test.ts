import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, type Seen, stub, temporaryFolder } from '../../support/harness.ts';
import { degen, evmTrader, swaps, tradersWorld, writeKeys } from '../../support/traders.ts';

const lineOf = (tx: string, text: string) => ({
  chain: 'base',
  transactionHash: tx,
  tokenAddress: degen,
  commentText: text,
});

function writeLines(folder: string, lines: readonly object[]): string {
  const file = join(folder, 'comments.ndjson');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const rows = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

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
  const keyed = await run(['--sandbox', 'comment', 'post', '--file', out, '--key-file', keys.evm], { env });
  expect([keyed.code, keyed.err]).toEqual([
    2,
    'error: --key-file is not needed: every line is already signed\nhint: Omit it.\n',
  ]);
  const posted = await run(['--sandbox', 'comment', 'post', '--file', out, '--format', 'ndjson'], { env });
  expect([posted.code, rows(posted.out).map(({ result }) => result)]).toEqual([0, ['posted', 'posted']]);
});

test('a batch gives one result a line, goes on after a refusal, and does not post twice when run again', async () => {
  const { env, folder, keys } = await tradersWorld();
  const file = writeLines(folder, [
    lineOf(swaps.good, 'one'),
    lineOf(swaps.small, 'too small'),
    lineOf(swaps.second, 'two'),
  ]);
  const post = ['--sandbox', 'comment', 'post', '--file', file, '--key-file', keys.evm, '--format', 'ndjson'];
  const first = await run(post, { env });
  expect(first.code).toBe(10);
  expect(rows(first.out)).toMatchObject([
    { line: 1, result: 'posted', uid: expect.any(String), commentText: 'one' },
    { line: 2, result: 'refused', reason: expect.stringContaining('less than 10') },
    { line: 3, result: 'posted', commentText: 'two' },
  ]);
  expect(JSON.parse(first.err).error).toMatchObject({ code: 'partial', message: '1 of 3 comments were refused' });
  // The same comments in another file and order are still the same comments.
  const again = writeLines(temporaryFolder(), [
    lineOf(swaps.third, 'new'),
    lineOf(swaps.second, 'two'),
    lineOf(swaps.good, 'one'),
  ]);
  const second = await run(
    post.map((word) => (word === file ? again : word)),
    { env },
  );
  expect([second.code, rows(second.out).map(({ result }) => result)]).toEqual([
    0,
    ['posted', 'posted before', 'posted before'],
  ]);
});

/** A service that takes comments, and does with the n-th POST what the script says. */
async function takingComments(nth: number, act: 'lose the answer' | 'lose the request') {
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
  return { service, taken };
}

test('an answer lost in the middle of a batch is looked up; the batch goes on, each comment posted once', async () => {
  const folder = temporaryFolder();
  const keys = writeKeys(folder);
  const { service, taken } = await takingComments(2, 'lose the answer');
  const file = writeLines(
    folder,
    [swaps.good, swaps.second, swaps.third].map((tx, index) => lineOf(tx, `c${index}`)),
  );
  const post = ['comment', 'post', '--file', file, '--key-file', keys.evm, '--service-name', 'Example'];
  const { code, out } = await run([...post, '--format', 'ndjson'], { env: service.env });
  expect([code, rows(out).map(({ uid }) => uid)]).toEqual([0, ['u-c0', 'u-c1', 'u-c2']]);
  expect(taken.map(({ uid }) => uid)).toEqual(['u-c0', 'u-c1', 'u-c2']);
});

test('an interrupted batch exits with 10, and the same command resumes it', async () => {
  const folder = temporaryFolder();
  const keys = writeKeys(folder);
  const { service, taken } = await takingComments(2, 'lose the request');
  const env = { ...service.env, SOTRA_DATA_DIR: join(folder, 'data') };
  const file = writeLines(
    folder,
    [swaps.good, swaps.second, swaps.third].map((tx, index) => lineOf(tx, `c${index}`)),
  );
  const post = [
    'comment',
    'post',
    '--file',
    file,
    '--key-file',
    keys.evm,
    '--service-name',
    'Example',
    '--format',
    'ndjson',
  ];
  const first = await run(post, { env, skipWaits: true });
  expect([first.code, rows(first.out).map(({ uid }) => uid)]).toEqual([10, ['u-c0']]);
  expect(JSON.parse(first.err.trim().split('\n').at(-1) ?? '').error.message).toContain(
    'stopped with 2 of 3 comments left; line 2:',
  );
  const second = await run(post, { env });
  expect([second.code, rows(second.out).map(({ result }) => result)]).toEqual([
    0,
    ['posted before', 'posted', 'posted'],
  ]);
  expect(taken.map(({ uid }) => uid)).toEqual(['u-c0', 'u-c1', 'u-c2']);
});
