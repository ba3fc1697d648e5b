import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../../support/harness.ts';

const comment = '2f991d88-4e6a-54f7-b130-a9788a9a06ab';
const token = '0x940181a94a35a4569e4529a3cdfb74e38fd98631';
const wallet = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf';
const copy = `comment copy ${comment} --token ${token} --chain base --actor-address ${wallet}`;

function place() {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  return { env, sotra: (argv: string, options = {}) => run(`--sandbox ${argv}`, { env, ...options }) };
}

test('the same intent within a day is asked about on a terminal, refused elsewhere, and sent with --again', async () => {
  const { sotra } = place();
  expect((await sotra(copy)).code).toBe(0);
  expect(await sotra(copy)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error: this intent was sent at .* already, and would count twice\nhint: Add --again/),
  });
  expect(await sotra(`${copy} --again`)).toMatchObject({ code: 0, err: '' });
  expect(await sotra(copy, { answers: ['n'] })).toMatchObject({ code: 2 });
  expect(await sotra(copy, { answers: ['y'] })).toMatchObject({ code: 0 });
  expect(await sotra(copy.replace(wallet, token))).toMatchObject({ code: 0, err: '' });
  expect(await sotra(copy, { now: Date.now() + 86_400_001 })).toMatchObject({ code: 0, err: '' });
});

test('an intent that was refused may be sent again, one whose answer was lost is asked about', async () => {
  const { env } = place();
  const failing = await stub((_, response) => {
    response.statusCode = failing.requests.length === 1 ? 400 : 503;
    response.end('{"error":"no"}');
  });
  const all = { ...env, ...failing.env };
  expect((await run(`${copy} --retries 0`, { env: all })).code).toBe(6);
  expect((await run(`${copy} --retries 0`, { env: all })).code).toBe(8);
  expect((await run(`${copy} --retries 0`, { env: all })).code).toBe(2);
  expect(failing.requests).toHaveLength(2);
});

test('typing comment copies says what to type now', async () => {
  const { code, err } = await run('comment copies');
  expect([code, err]).toEqual([2, expect.stringContaining('sotra history lists the calls that sent intents')]);
});
