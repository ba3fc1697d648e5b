import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/files/sqlite.ts';
import { cardOf } from '../support/feed-cards.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { start } from '../support/processes.ts';
import { some } from '../support/size.ts';
import { until } from '../support/until.ts';

const execute = promisify(execFile);
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';

function place(more: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, ...more };
  const begin = (argv: string) => {
    const one = start(argv.replaceAll('FOLDER', folder).split(' '), env);
    onTestFinished(() => void one.child.kill('SIGKILL'));
    return one;
  };
  const act = (argv: string) => run(argv.replaceAll('FOLDER', folder), { env });
  return { folder, begin, act };
}

test.each(some(signals, 1))('sandbox simulate: %s ends it, and what it made so far is kept', async (signal) => {
  const { begin, act } = place();
  const trades = async () => JSON.parse((await act('sandbox status --json')).out).trades as number;
  const before = await trades();
  const { child, printed, ended } = begin('sandbox simulate --rate 50/s --for 10m --json');
  for (const end = Date.now() + 30_000; (await trades()) < before + 20; )
    if (Date.now() > end) throw new Error(`no trades: ${printed.err}`);
  child.kill(signal);
  expect(await ended).toBe(0);
  const made = JSON.parse(printed.out).trades;
  expect(made).toBeGreaterThanOrEqual(20);
  expect(await trades()).toBe(before + made);
});

test.each(some(signals, 1))(
  'sandbox start --detach: %s before it answers ends it with 130, and no server is left',
  async (signal) => {
    const { folder, begin } = place();
    // The server waits for its database, so that it does not answer before the signal comes.
    const holder = connect(join(folder, 'sandbox.db'));
    holder.exec('BEGIN EXCLUSIVE');
    const { child, printed, ended } = begin('sandbox start --detach --port 0 --json');
    await until(() => existsSync(join(folder, 'sandbox.log')), 'the server begins');
    child.kill(signal);
    expect(await ended).toBe(130);
    holder.exec('ROLLBACK');
    holder.close();
    expect(printed).toEqual({ out: '', err: expect.stringContaining('interrupted') });
    // What has the log open runs still.
    const open = () =>
      execute('bash', ['--norc', '-c', `ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c '${folder}/' || true`]);
    for (const end = Date.now() + 20_000; Number((await open()).stdout) > 0; )
      if (Date.now() > end) throw new Error('the server runs still');
    expect(existsSync(join(folder, 'sandbox-ready.json'))).toBe(false);
  },
);

test.each(some(signals, 1))(
  'feed actor --watch: %s ends it with 130, says where it was, and the same command goes on there',
  async (signal) => {
    const cards = [cardOf('n1', 1_700_000_001)];
    const service = await stub((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ items: cards, pagination: {} }));
    });
    const { begin } = place(service.env);
    const argv = `feed actor ${wallet} --watch 100ms --format ndjson`;
    const first = begin(argv);
    await until(() => first.printed.err.includes('Watching from'), 'it watches');
    cards.unshift(cardOf('n2', 1_700_000_002));
    await until(() => first.printed.out.includes('"n2"'), 'the new card');
    first.child.kill(signal);
    expect(await first.ended).toBe(130);
    expect(first.printed.err).toContain('stopped at 2023-11-14T22:13:22Z, after 1 card');
    cards.unshift(cardOf('n3', 1_700_000_003));
    const second = begin(`${argv} --max 1`);
    expect(await second.ended).toBe(0);
    expect(second.printed.out).toContain('"n3"');
    expect(second.printed.out).not.toContain('"n2"');
  },
);
