import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { allFaults, brokenService, inShort, kindOf, nodeWarnings, targetKinds } from '../support/hostile/faults.ts';
import { listen, send, signed } from '../support/listening.ts';
import { long, some } from '../support/size.ts';
import { until } from '../support/until.ts';

test('every fault of a target has its kind', () => {
  expect(Object.values(targetKinds).flat().sort()).toEqual([...allFaults].sort());
});

async function deliver(url: string, eventId: string): Promise<number> {
  const body = JSON.stringify({ events: [{ eventId, eventType: 'copyswap', walletAddresses: [] }] });
  return send(url, body, signed(body), '');
}

/** A folder whose listener stored two events while it forwarded them to a target that fails so. */
async function listenTo(fault: string) {
  const folder = temporaryFolder();
  const target = await brokenService({ fault, well: 0 });
  const { url, stop } = await listen(folder, `--forward-to ${target.url}/hook`, undefined, {}, { skipWaits: true });
  expect([await deliver(url, 'one'), await deliver(url, 'two')]).toEqual([200, 200]);
  const enough = { taken: 2, passing: 3, moved: 3, refusing: 11, silent: 1, gone: 0 }[kindOf(fault)] ?? 0;
  await until(() => target.requests.length >= enough);
  const outcome = await stop();
  target.close();
  return { folder, env: { SOTRA_DATA_DIR: folder }, outcome, requests: target.requests };
}

const faults = some(allFaults, 8);

test.each(faults)('webhook listen takes and stores every event, also where its target has %s', async (fault) => {
  const { env, outcome, requests } = await listenTo(fault);
  expect(outcome.code).toBe(0);
  expect(requests.every((method) => method === 'POST')).toBe(true);
  const { out } = await run('webhook events --json', { env });
  expect(JSON.parse(out).map(({ eventId }: { eventId: string }) => eventId)).toEqual(['two', 'one']);
  const kind = kindOf(fault);
  if (kind === 'taken') expect(requests).toEqual(['POST', 'POST']);
  // What is not taken is not given up: it waits for the next start.
  if (['passing', 'moved', 'silent', 'gone'].includes(kind)) expect(outcome.err).toContain('2 deliveries wait to be');
  if (kind === 'refusing')
    expect(outcome.err).toMatch(/event one was not accepted in 10 tries \(HTTP \d{3}\): set aside/);
});

test('a silent target of a dozen webhooks gets the first event of each, and nothing but our own words is on stderr', async () => {
  const { folder } = await listenTo('garbage');
  const warnings = nodeWarnings();
  const target = await brokenService({ fault: 'no first byte', well: 0 });
  const { url, stop } = await listen(folder, `--forward-to ${target.url}/hook`);
  for (let path = 0; path < 12; path += 1) expect(await deliver(`${url}/${path}`, `event ${path}`)).toBe(200);
  await until(() => target.requests.length === 12);
  expect((await stop()).err).toContain('12 deliveries wait to be');
  expect(warnings).toEqual([]);
});

test.each([
  ['webhook replay one', 3, 10],
  ['webhook trigger copyswap --secret-file @/secret', 1, 9],
])('%s tries %i times and ends with %i where a target does not take the event', async (line, tries, failed) => {
  const { folder, env } = await listenTo('garbage');
  const cells = await Promise.all(
    faults.map(async (fault) => {
      const target = await brokenService({ fault, well: 0 });
      const patience = kindOf(fault) === 'silent' ? '--timeout 400ms' : '';
      const argv = `${line.replace('@', folder)} --to ${target.url}/hook --json ${patience}`;
      const { code, out } = await run(argv, { env: { ...env, SOTRA_CONFIG_DIR: folder }, skipWaits: true });
      target.close();
      return [fault, code, inShort(target.requests), JSON.parse(out)[0].error === 'no answer within 0.4 s'];
    }),
  );
  const expected = (kind: string) => {
    if (kind === 'taken') return [0, 'POST 1', false];
    return [failed, kind === 'gone' ? '' : `POST ${tries}`, kind === 'silent'];
  };
  expect(cells).toEqual(faults.map((fault) => [fault, ...expected(kindOf(fault))]));
});

long(
  'webhook replay sends nothing behind an event that was not answered in time, and what follows a failure',
  async () => {
    const { env } = await listenTo('garbage');
    const outcomes = [];
    for (const [fault, more] of [
      ['no first byte', '--timeout 400ms'],
      ['500', ''],
    ] as const) {
      const target = await brokenService({ fault, well: 0 });
      const { code, out } = await run(`webhook replay one two --to ${target.url}/hook --json ${more}`, {
        env,
        skipWaits: true,
      });
      target.close();
      const errors = JSON.parse(out).map(({ error }: { error: string }) => error);
      outcomes.push([fault, code, target.requests.length, errors]);
    }
    expect(outcomes).toEqual([
      ['no first byte', 10, 3, ['no answer within 0.4 s', 'not sent: one was not answered']],
      ['500', 10, 6, ['HTTP 500', 'HTTP 500']],
    ]);
  },
);

test('Ctrl-C ends webhook replay and webhook trigger while their target is silent', async () => {
  const { env, folder } = await listenTo('garbage');
  for (const argv of ['webhook replay one', `webhook trigger copyswap --secret-file ${folder}/secret`]) {
    const target = await brokenService({ fault: 'no first byte', well: 0 });
    const stopping = new AbortController();
    const ended = run(`${argv} --to ${target.url}/hook --json`, { env, signal: stopping.signal });
    await until(() => target.requests.length > 0);
    stopping.abort();
    const { code, out, err } = await ended;
    expect([argv, code, out]).toEqual([argv, 130, '']);
    expect(JSON.parse(err).error.message).toMatch(/^interrupted while waiting for the answer of http:/);
  }
});
