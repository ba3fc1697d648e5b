import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lineWidth } from '../../src/lib/io.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';

// What random input has found, one by one.

test('a watch from a moment beyond the calendar is refused', async () => {
  const { code, err } = await run('feed actor ext:a --watch 1h --newer-than 9999999999999999');
  expect([code, err]).toEqual([2, expect.stringContaining('--newer-than 9999999999999999: ')]);
});

test('the clock of the sandbox stays within the calendar', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  await run('sandbox reset --empty', { env });
  const { code, err } = await run('sandbox advance 999999999999d', { env });
  expect([code, err]).toEqual([2, expect.stringContaining('after the year 9999')]);
  expect((await run('sandbox reset --as-of 9999999999999999', { env })).code).toBe(2);
  expect((await run('sandbox status', { env })).code).toBe(0);
});

test.each([
  ['120', 80, 120],
  ['-5', 80, 80],
  ['Infinity', 100, 100],
  ['1e9', undefined, 80],
  ['0', 90, 90],
  ['12345', undefined, 80],
  ['', 0, 80],
])('COLUMNS=%s on a terminal of %s columns makes lines of %i', (asked, terminal, width) => {
  expect(lineWidth({ COLUMNS: asked }, terminal)).toBe(width);
});

const wallet = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

// What every plain object seems to have: a name from outside may be one of them.
describe.each(['constructor', '__proto__', 'toString'])('the name %s', (name) => {
  const place = () => {
    const folder = temporaryFolder();
    return { folder, env: { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder } };
  };

  test('is no context and no alias before it is saved, and one like any other afterwards', async () => {
    const { env } = place();
    const commands = [`--context ${name} leaderboard list`, `context show ${name}`, `context remove ${name} --yes`];
    for (const argv of [...commands, `alias remove ${name} --yes`, `--sandbox profile get @${name}`])
      expect(await run(argv, { env })).toMatchObject({ code: 2, out: '' });
    // Names of contexts and aliases begin with a letter or digit.
    const code = name === '__proto__' ? 2 : 0;
    expect((await run(`context set ${name} --base-url https://a.example.com`, { env })).code).toBe(code);
    expect((await run(`context show ${name}`, { env })).code).toBe(code);
    expect((await run(`alias set ${name} ${wallet}`, { env })).code).toBe(code);
    expect((await run(`--sandbox profile get @${name}`, { env })).code).toBe(code);
    expect((await run(`alias remove ${name} --yes`, { env })).code).toBe(code);
    expect((await run(`alias remove ${name} --yes`, { env })).code).toBe(2);
  });

  test('is a column of a file of trades', async () => {
    const { folder, env } = place();
    const [csv, ndjson] = [join(folder, 't.csv'), join(folder, 't.ndjson')];
    writeFileSync(
      csv,
      `${name},trader,token,side,usd,amount,time\nbase,${wallet},${wallet},buy,1,1,2026-01-01T00:00:00Z\n`,
    );
    writeFileSync(
      ndjson,
      `{"${name}":"base","trader":"${wallet}","token":"${wallet}","side":"buy","usd":1,"amount":1,"time":"2026-01-01T00:00:00Z"}\n`,
    );
    for (const file of [csv, ndjson]) {
      const imported = await run(`sandbox import ${file} --map ${name}=chain --db ${file}.db --json`, { env });
      expect({ ...JSON.parse(imported.out), err: imported.err }).toMatchObject({ imported: 1, rejected: 0, err: '' });
    }
  });

  test('is a transaction, a field and a header of an answer', async () => {
    const body = `{"${name}":{"comments":[],"insights":[]}}`;
    const service = await stub((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.appendHeader(name, 'v').appendHeader(name, 'w').end(body);
    });
    const { env } = place();
    const all = { env: { ...service.env, ...env } };
    for (const flags of ['', '--json', '--format csv']) {
      const listed = await run(`comment list 0x${'1'.repeat(64)} --chain base ${flags}`, all);
      expect(listed.code).toBe(0);
      if (flags === '--json') expect(listed.out).toContain(`"${name}": {`);
    }
    const sent = await run('request GET /v1/x --verbose --json', all);
    expect(sent).toMatchObject({ code: 0 });
    expect(sent.err).toContain(`${name.toLowerCase()}: v`);
    expect(Object.keys(JSON.parse(sent.out))).toEqual([name]);
  });

  test('is what was asked of the sandbox', async () => {
    const { env } = place();
    const answer = await run(`--sandbox request GET /v1/swap-comments?chain=base&transactionHashes=${name}`, { env });
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.out).toContain(`"${name}": {`);
  });
});
