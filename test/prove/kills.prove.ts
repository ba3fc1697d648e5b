import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Outcome, run, type Seen, stub, temporaryFolder, until } from '../support/harness.ts';
import { manyAddresses, serve, start } from '../support/processes.ts';
import { degen, writeKeys } from '../support/traders.ts';
import { keepWebhooks } from '../support/upload-place.ts';

const destination = 'http://127.0.0.1:9/hook';

test('100 kills of one upload of 300,000 addresses: one webhook is made, and it gets them all', async () => {
  const folder = temporaryFolder();
  const list = manyAddresses(300_000);
  writeFileSync(join(folder, 'addresses.txt'), `${list.join('\n')}\n`);
  const held = new Set<string>();
  const made: object[] = [];
  const service = { slowMs: 700, changes: 0, puts: 0 };
  const { env } = await stub(async ({ method, body }, response) => {
    response.setHeader('content-type', 'application/json');
    if (method === 'GET') return void response.end(JSON.stringify(made));
    service.changes += 1;
    // A kill meanwhile: half of these requests are applied, and their answer is lost.
    await delay(service.slowMs * Math.random());
    if (method === 'POST') made.push({ uid: `w-${made.length}`, destinationUrl: destination, secret: 'whsec_0' });
    else service.puts += 1;
    for (const address of JSON.parse(body).walletAddresses) held.add(address);
    await delay(service.slowMs * Math.random());
    response.end(JSON.stringify(made[0]));
  });
  const argv = `webhook register --url ${destination} --file ${folder}/addresses.txt --json`.split(' ');
  const all = { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const endedAlone: unknown[] = [];
  for (let number = 0; number < 100; number += 1) {
    const { child, ended, printed } = start(argv, all);
    const before = service.changes;
    // One in five at any moment from the start on; the others once there is something to lose.
    if (number % 5 > 0) await until(() => service.changes > before || child.exitCode !== null, 'the upload goes on');
    await delay(Math.random() * 1500);
    child.kill('SIGKILL');
    const code = await ended;
    if (code !== null) endedAlone.push([code, printed.err]);
  }
  service.slowMs = 0;
  const puts = service.puts;
  expect(await start(argv, all).ended).toBe(0);
  process.stdout.write(`${puts} PUTs before the last run, ${service.puts} in all\n`);
  expect([endedAlone, made.length, held.size]).toEqual([[], 1, 300_000]);
  // Each kill may cost the four chunks that were on their way.
  expect(service.puts).toBeLessThan(299 + 100 * 4);
});

interface Work {
  argv: string;
  /** What the service does with a request, and its answer. */
  answer: (seen: Seen) => readonly [status: number, value: unknown];
  /** Looks at what there is after the command was killed and run again to its end. */
  check: (folder: string, again: Outcome) => void;
  /** Made before each run. */
  before?: (env: Record<string, string>, folder: string) => Promise<void>;
}

const addresses = manyAddresses(2500);
const fewer = addresses.slice(100);
const ofUpload = `--url ${destination} --file FOLDER/addresses.txt --secret-file FOLDER/secret`;
const secretIn = (folder: string) => readFileSync(join(folder, 'secret'), 'utf8');

/** A registration; the service may return the secret in its first answer alone. */
function registration(toldOnce: boolean): Work {
  const { answer, hooks, holds } = keepWebhooks({ toldOnce });
  return {
    argv: `webhook register ${ofUpload}`,
    answer: ({ method, url, body }) => answer(method, url, body),
    check: (folder, { code, err }) => {
      expect(hooks).toHaveLength(1);
      // A command that was killed before the answer came has lost what the service does not tell again.
      if (toldOnce && code === 10) return expect(err).toContain('its secret was in an answer that was lost');
      expect([code, holds('w-0'), secretIn(folder)]).toEqual([0, addresses.toSorted(), 'whsec_0\n']);
    },
  };
}

/** A second sync of a list that lost some addresses, by a new webhook. */
function replacement(): Work {
  const { answer, hooks, holds } = keepWebhooks();
  return {
    before: async (env, folder) => {
      const line = `webhook sync ${ofUpload}`.replaceAll('FOLDER', folder);
      expect(await run(line, { env })).toMatchObject({ code: 0 });
      writeFileSync(join(folder, 'addresses.txt'), `${fewer.join('\n')}\n`);
    },
    argv: `webhook sync ${ofUpload} --replace --yes`,
    answer: ({ method, url, body }) => answer(method, url, body),
    check: (folder, { code }) => {
      const [hook] = hooks;
      expect([code, hooks.length, hook?.uid === 'w-0']).toEqual([0, 1, false]);
      expect(holds(hook?.uid ?? '')).toEqual(fewer.toSorted());
      expect(secretIn(folder).split('\n').slice(0, 2)).toEqual([hook?.secret, 'whsec_0']);
    },
  };
}

const targetsIn = (text: string) => new Set([...text.matchAll(/0x[0-9a-f]{40}/g)].map(([address]) => address));

function follows(): Work {
  const applied = new Set<string>();
  return {
    argv: 'follow bulk --file FOLDER/follows.ndjson',
    answer: ({ body }) => {
      for (const target of targetsIn(body)) applied.add(target);
      return [200, { targetProfiles: [] }];
    },
    check: (folder, { code }) => {
      const undo = readdirSync(join(folder, 'undo')).map((name) => readFileSync(join(folder, 'undo', name), 'utf8'));
      const known = targetsIn(undo.join(''));
      expect([code, applied.size, [...applied].filter((target) => !known.has(target))]).toEqual([0, 2500, []]);
    },
  };
}

function comments(): Work {
  const posted: Record<string, unknown>[] = [];
  return {
    argv: 'comment post --file FOLDER/comments.ndjson --key-file FOLDER/evm.hex --service-name Example',
    answer: ({ method, url, body }) => {
      const hash = new URL(url, 'http://stub').searchParams.get('transactionHashes') ?? '';
      const known = posted.filter(({ transactionHash }) => transactionHash === hash);
      if (method === 'GET') return [200, { [hash]: { comments: known, insights: [] } }];
      const { signature: _, ...sent } = JSON.parse(body);
      posted.push({ uid: `c${posted.length}`, timestamp: 1, ...sent });
      return [200, posted.at(-1)];
    },
    check: (_, { code }) =>
      expect([code, posted.map(({ commentText }) => commentText)]).toEqual([0, ['one', 'two', 'three']]),
  };
}

function writeInputs(folder: string): void {
  writeKeys(folder);
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  write('addresses.txt', addresses);
  write(
    'follows.ndjson',
    addresses.map((each) => JSON.stringify({ addressOrUid: 'ext:me', targets: [each] })),
  );
  write(
    'comments.ndjson',
    ['one', 'two', 'three'].map((commentText, index) =>
      JSON.stringify({
        chain: 'base',
        transactionHash: `0x${String(index).repeat(64)}`,
        tokenAddress: degen,
        commentText,
      }),
    ),
  );
}

test.each<[name: string, of: () => Work]>([
  ['webhook register', () => registration(false)],
  ['webhook register, its secret told once', () => registration(true)],
  ['webhook sync --replace', replacement],
  ['follow bulk', follows],
  ['comment post --file', comments],
])('%s, killed at each of its requests, whether it arrived or not: the same command completes it', async (_, of) => {
  let kills = 0;
  for (let at = 1, isOver = false; !isOver; at += 1)
    for (const arrives of [true, false]) {
      const [folder, { argv, answer, check, before }] = [temporaryFolder(), of()];
      writeInputs(folder);
      const killed: { child?: ChildProcess } = {};
      let count = 0;
      const service = await stub((seen, response) => {
        if (killed.child !== undefined) count += 1;
        const isNow = count === at && killed.child?.kill('SIGKILL');
        if (isNow && !arrives) return void response.destroy();
        const [status, value] = answer(seen);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      });
      const env = { ...service.env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
      await before?.(env, folder);
      const line = argv.replaceAll('FOLDER', folder);
      const { child, ended } = start(line.split(' '), env);
      killed.child = child;
      isOver = (await ended) !== null;
      if (!isOver) kills += 1;
      check(folder, await run(line, { env, skipWaits: true }));
    }
  expect(kills).toBeGreaterThan(2);
});

test('what a sandbox answered to eight clients is there after each of 15 kills', async () => {
  const folder = temporaryFolder();
  const headers = { authorization: 'Bearer sandbox-key-a', 'content-type': 'application/json' };
  const acknowledged = manyAddresses(8).map((follower) => ({ follower, targets: new Set<string>() }));
  const written = () => acknowledged.reduce((sum, { targets }) => sum + targets.size, 0);
  let next = 0;
  for (let kills = 0; kills < 15; kills += 1) {
    const { url, child } = await serve(folder, ['--empty']);
    const before = written();
    const writing = acknowledged.map(async ({ follower, targets }) => {
      for (;;) {
        next += 1;
        const target = `0x${(next + 1_000_000).toString(16).padStart(40, '0')}`;
        const request = { method: 'PUT', headers, body: JSON.stringify({ targets: [target] }) };
        const answer = await fetch(`${url}/v1/addresses/${follower}/follow`, request).catch(() => undefined);
        if (answer === undefined) return;
        expect(answer.status).toBe(200);
        targets.add(target);
      }
    });
    await until(() => written() > before);
    await delay(Math.random() * 300);
    child.kill('SIGKILL');
    await Promise.all(writing);
    rmSync(join(folder, 'ready.json'));
  }
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  for (const { follower, targets } of acknowledged) {
    const { out } = await run(`--sandbox profile follows ${follower} --all --format ndjson`, { env });
    const held = targetsIn(out.toLowerCase());
    expect([follower, [...targets].filter((target) => !held.has(target))]).toEqual([follower, []]);
  }
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  'an import that %s ends has stored all or nothing, and the next is whole',
  async (signal) => {
    const folder = temporaryFolder();
    const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const file = join(folder, 'trades.csv');
    const traders = manyAddresses(300);
    const rows = Array.from(
      { length: 60_000 },
      (_, index) => `${1_700_000_000 + index},base,${traders[index % 300]},${degen},buy,1,10`,
    );
    writeFileSync(file, ['time,chain,trader,token,side,amount,usd', ...rows].join('\n'));
    const first = start(['sandbox', 'import', file, '--json'], env);
    await until(() => existsSync(join(folder, 'sandbox.db')), 'it has begun');
    first.child.kill(signal);
    expect(await first.ended).toBe(signal === 'SIGINT' ? 130 : null);
    if (signal === 'SIGINT') expect(first.printed.err).toMatch(/interrupted at row [\d,]+; trades stored: 0"/);
    const second = start(['sandbox', 'import', file, '--json'], env);
    expect(await second.ended).toBe(0);
    const { imported, repeated } = JSON.parse(second.printed.out);
    expect([imported, repeated]).toEqual(imported === 0 ? [0, 60_000] : [60_000, 0]);
  },
);
