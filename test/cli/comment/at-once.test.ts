import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../../support/harness.ts';
import { degen, writeKeys } from '../../support/traders.ts';
import { until } from '../../support/until.ts';

test('a second command with the same batch of comments is exit 3 and posts nothing', async () => {
  const folder = temporaryFolder();
  const { evm } = writeKeys(folder);
  const file = join(folder, 'comments.ndjson');
  const lines = [1, 2].map((number) => {
    const transactionHash = `0x${String(number).repeat(64)}`;
    return JSON.stringify({ chain: 'base', transactionHash, tokenAddress: degen, commentText: `comment ${number}` });
  });
  writeFileSync(file, lines.join('\n'));
  const taken: string[] = [];
  let answerFirst: (() => void) | undefined;
  const service = await stub(({ method, url, body }, response) => {
    response.setHeader('content-type', 'application/json');
    const hash = new URL(url, 'http://stub').searchParams.get('transactionHashes') ?? '';
    if (method === 'GET') return void response.end(JSON.stringify({ [hash]: { comments: [], insights: [] } }));
    const { signature: _, ...sent } = JSON.parse(body);
    taken.push(sent.commentText);
    const answer = () => response.end(JSON.stringify({ uid: `c${taken.length}`, timestamp: 1, ...sent }));
    if (taken.length === 1) answerFirst = answer;
    else answer();
  });
  const env = { ...service.env, SOTRA_DATA_DIR: join(folder, 'data') };
  const post = () => run(`comment post --file ${file} --key-file ${evm} --service-name Example`, { env });
  const first = post();
  const answer = await until(() => answerFirst, 'the first comment arrives');
  const second = await post();
  expect([second.code, second.out, second.err]).toEqual([
    3,
    '',
    expect.stringContaining('is in use by another process'),
  ]);
  answer();
  expect([(await first).code, taken]).toEqual([0, ['comment 1', 'comment 2']]);
});
