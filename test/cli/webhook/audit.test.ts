import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { findNats, startCluster } from '../../support/nats-server.ts';
import { freePorts } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

const wallet = 'ext:auditor';
const trader = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf';
const [first, second] = ['0x940181a94a35a4569e4529a3cdfb74e38fd98631', '0x4ed4e862860bed51a9570b96d89af5e1b0efefed'];

/** A webhook of the sandbox whose listener is in this process, and a trader whom its wallet follows. `inbox`: the flags of its store. */
async function audited(inbox = '') {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const sotra = (argv: string) => run(`${argv} --sandbox`, { env });
  const [port] = await freePorts(1);
  const secretFile = join(folder, 'hook.secret');
  const made = await sotra(
    `webhook register --url http://127.0.0.1:${port}/hook --wallet-addresses ${wallet} --secret-file ${secretFile} --json`,
  );
  const { uid } = JSON.parse(made.out);
  await sotra(`follow add ${wallet} ${trader}`);
  const listening = async () => {
    const ended = new AbortController();
    const ready = join(folder, `ready-${Math.random()}`);
    const argv = `webhook listen --port ${port} --secret-file ${secretFile} --ready-file ${ready}${inbox}`;
    const outcome = run(argv, { env, signal: ended.signal });
    await until(() => existsSync(ready), 'webhook listen');
    return async () => {
      ended.abort();
      await outcome;
    };
  };
  const buy = (token: string) =>
    sotra(`sandbox trade --chain base --trader ${trader} --token ${token} --side buy --amount 5 --usd 10`);
  return { folder, env, uid, sotra, listening, buy };
}

test('a buy that came is in order, one whose delivery was lost is missing, with --check exit 10', async () => {
  const { folder, env, uid, sotra, listening, buy } = await audited();
  const stop = await listening();
  await buy(first);
  await expect.poll(async () => (await run('webhook events', { env })).out).toContain('new-feed-item');
  expect(await sotra(`webhook audit ${uid} --check`)).toMatchObject({
    code: 0,
    err: expect.stringContaining('1 event expected by the feeds of 1 wallet: 0 missing, 0 late, 0 doubled, 0 pending.'),
  });
  await stop();
  await buy(second);
  const pending = JSON.parse((await sotra(`webhook audit ${uid} --since 1h --json`)).out);
  expect(pending).toMatchObject({ expected: 2, received: 1, missing: 0, pending: 1, unlisted: [] });
  const { out, code } = await sotra(`webhook audit ${uid} --since 1h --late 1ms --check --json`);
  expect(code).toBe(10);
  // The one that came is late too where a second began meanwhile.
  expect(JSON.parse(out)).toMatchObject({
    ...{ uid, wallets: 1, expected: 2, received: 1, missing: 1, doubled: 0 },
    findings: expect.arrayContaining([
      expect.objectContaining({
        ...{ state: 'missing', kind: 'new-feed-item', why: 'first-buy', trader, chain: 'base', token: second },
        reason: 'others came around that time, and this did not',
      }),
    ]),
  });
  const other = join(folder, 'other.txt');
  writeFileSync(other, 'ext:nobody\n');
  const elsewhere = JSON.parse((await sotra(`webhook audit ${uid} --file ${other} --json`)).out);
  expect(elsewhere).toMatchObject({ expected: 0, missing: 0, unlisted: [wallet] });
  expect((await sotra(`webhook audit ${uid} --file ${other}`)).err).toContain(
    `Deliveries came for 1 wallet that this machine did not upload to ${uid}: ${wallet}`,
  );
  expect(readFileSync(join(folder, 'hook.secret'), 'utf8')).toMatch(/^whsec_/);
});

test('a webhook that this machine uploaded nothing to needs the file of its wallets', async () => {
  const { code, err } = await run('--sandbox webhook audit 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e');
  expect([code, err]).toEqual([5, expect.stringContaining('Name them with --file')]);
});

test.skipIf(findNats() === undefined)(
  'deliveries in an inbox on a NATS server are audited as those of this machine',
  async () => {
    const { servers, end } = await startCluster(1);
    onTestFinished(end);
    const inbox = ` --inbox nats://127.0.0.1:${servers[0]?.port}/AUDIT`;
    expect(await run(`inbox create --replicas 1 --yes${inbox}`)).toMatchObject({ code: 0 });
    const { env, uid, sotra, listening, buy } = await audited(inbox);
    const stop = await listening();
    await buy(first);
    await expect.poll(async () => (await run(`webhook events${inbox}`, { env })).out).toContain('new-feed-item');
    await stop();
    await buy(second);
    const { out, code } = await sotra(`webhook audit ${uid} --since 1h --late 1ms --check --json${inbox}`);
    expect(code).toBe(10);
    expect(JSON.parse(out)).toMatchObject({
      ...{ expected: 2, received: 1, missing: 1, doubled: 0 },
      findings: expect.arrayContaining([expect.objectContaining({ state: 'missing', token: second })]),
    });
    const [server] = servers;
    await server?.end();
    expect(await sotra(`webhook audit ${uid}${inbox}`)).toMatchObject({
      code: 9,
      err: expect.stringContaining(`127.0.0.1:${server?.port}`),
    });
  },
);
