import { readdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { start } from '../support/processes.ts';
import { long } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';
import { until } from '../support/until.ts';

const count = 4;

/** Takes comments; the first POST waits until `release`. */
async function slowService() {
  const taken: Record<string, unknown>[] = [];
  const held: (() => void)[] = [];
  const service = await stub(({ method, url, body }, response: ServerResponse) => {
    response.setHeader('content-type', 'application/json');
    if (method === 'GET') {
      const hash = new URL(url, 'http://stub').searchParams.get('transactionHashes') ?? '';
      const comments = taken.filter(({ transactionHash }) => transactionHash === hash);
      return void response.end(JSON.stringify({ [hash]: { comments, insights: [] } }));
    }
    const { signature: _, ...sent } = JSON.parse(body);
    const comment = { uid: `c${taken.length}`, timestamp: 1, ...sent };
    taken.push(comment);
    const answer = () => response.end(JSON.stringify(comment));
    if (taken.length === 1) held.push(answer);
    else answer();
  });
  return { env: service.env, taken, held };
}

async function batch() {
  const folder = temporaryFolder();
  writeKeys(folder);
  const comments = Array.from({ length: count }, (_, index) => ({
    chain: 'base',
    transactionHash: `0x${(index + 1).toString(16).padStart(64, '0')}`,
    tokenAddress: degen,
    commentText: `comment ${index}`,
  }));
  const file = join(folder, 'comments.ndjson');
  writeFileSync(file, comments.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const service = await slowService();
  const data = join(folder, 'data');
  const env = { ...service.env, SOTRA_DATA_DIR: data, SOTRA_CONFIG_DIR: folder };
  const argv = ['comment', 'post', '--file', file, '--key-file', join(folder, 'evm.hex'), '--service-name', 'Example'];
  const begin = () => {
    const one = start([...argv, '--format', 'ndjson'], env);
    onTestFinished(() => void one.child.kill('SIGKILL'));
    return one;
  };
  /** The same command, in this process. */
  const act = () => run([...argv, '--format', 'ndjson'], { env });
  return { ...service, begin, act, data };
}

const allOnce = Array.from({ length: count }, (_, index) => `comment ${index}`);
const texts = (taken: readonly Record<string, unknown>[]) => taken.map(({ commentText }) => commentText);

test('a second process with the same batch of comments is exit 3 and posts nothing', async () => {
  const { taken, held, begin, act } = await batch();
  const first = begin();
  await until(() => held.length === 1, 'the first comment arrives');
  const second = await act();
  expect([second.code, second.out]).toEqual([3, '']);
  expect(second.err).toContain('is in use by another process');
  held[0]?.();
  expect(await first.ended).toBe(0);
  expect(texts(taken)).toEqual(allOnce);
});

test('the batch of a process that was killed is taken over, and no comment is posted twice', async () => {
  const { taken, held, begin, act, data } = await batch();
  const first = begin();
  await until(() => held.length === 1, 'the first comment arrives');
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await act();
  expect(second.code).toBe(0);
  expect(second.out.trim().split('\n')).toHaveLength(count);
  expect(texts(taken)).toEqual(allOnce);
  expect(readdirSync(data).filter((name) => !/^posted-comments-[0-9a-f]{16}\.ndjson(\.lock)?$/.test(name))).toEqual([
    'history',
  ]);
});

long('Ctrl-C in a batch ends with 130 at once; the same command goes on', async () => {
  const { taken, held, begin } = await batch();
  const first = begin();
  await until(() => held.length === 1, 'the first comment arrives');
  first.child.kill('SIGINT');
  expect(await first.ended).toBe(130);
  expect(first.printed.err).toContain('it is unknown whether the comment was posted');
  const second = begin();
  expect(await second.ended).toBe(0);
  expect(texts(taken)).toEqual(allOnce);
});
