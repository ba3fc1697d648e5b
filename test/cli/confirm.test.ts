import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyDemo } from '../support/demo.ts';
import { answering, failure, run, temporaryFolder } from '../support/harness.ts';

const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
const [trader, token] = ['0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', '0x940181a94a35a4569e4529a3cdfb74e38fd98631'];
const sign = `comment sign gm --chain base --tx 0x${'12'.repeat(32)} --token ${token} --service-name Example --key-env KEY`;

async function place() {
  const folder = temporaryFolder();
  const service = await answering({ state: 'deleted' });
  const env = { ...service.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, KEY: `0x${'0'.repeat(63)}1` };
  const staging = { baseUrl: service.url, apiKey: 'a-stored-key' };
  const settings = { version: 1, contexts: { staging }, aliases: { me: 'ext:1' } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings));
  writeFileSync(join(folder, 'taken'), 'what was there');
  writeFileSync(join(folder, 'secret'), 'whsec_test', { mode: 0o600 });
  writeFileSync(join(folder, 'trades.csv'), `time,trader,token,side,amount,usd\nnever,${trader},${token},buy,1,1\n`);
  writeFileSync(join(folder, 'list'), '{"addressOrUid":"ext:1","targets":["ext:2"]}\n');
  copyDemo(join(folder, 'world.db'), Date.now());
  const trade = `sandbox trade --chain base --trader ${trader} --token ${token} --side buy --amount 5 --usd 10`;
  await run(`${trade} --db ${folder}/world.db`, { env });
  return { folder, env, service };
}

type Place = Awaited<ReturnType<typeof place>>;

const has = (name: string, text: string) => (at: Place) => textOf(at, name).includes(text);
const hasNot = (name: string, text: string) => (at: Place) => !has(name, text)(at);
const isSent = ({ service }: Place) => service.requests.length > 0;
const textOf = ({ folder }: Place, name: string) => readFileSync(join(folder, name), 'utf8');
const toLine = (words: string, { folder, service }: Place) =>
  words.replaceAll('FOLDER', folder).replace('URL', service.url);

const isReset = async ({ folder }: Place) => {
  const { out } = await run(`sandbox reset --db ${folder}/world.db --dry-run --quiet --no-input`);
  const { err } = await run(`sandbox reset --db ${folder}/world.db --no-input`);
  return out !== '' && !err.includes('1 trade');
};

/** A line that cannot be undone, the question that it asks, and whether it was done. */
const irreversible: readonly [line: string, question: string, isDone: (at: Place) => boolean | Promise<boolean>][] = [
  [`webhook delete ${uid}`, `Delete webhook ${uid} with its addresses and its secret?`, isSent],
  ['profile delete-name ext:1', 'Remove the name and avatar of ext:1 at your partner?', isSent],
  ['profile set-name ext:1 --clear', 'Remove the name and avatar of ext:1 at your partner?', isSent],
  ['profile set-name ext:1 --clear-avatar', 'Remove the avatar of ext:1 at your partner?', isSent],
  ['request DELETE /v1/x', 'Send DELETE /v1/x?', isSent],
  ['auth logout --context staging', 'Remove the API key of context staging?', hasNot('config.json', 'a-stored-key')],
  ['context remove staging', 'Remove context staging and its key?', hasNot('config.json', 'staging')],
  ['alias set @me ext:2', 'Replace alias @me (ext:1)?', has('config.json', 'ext:2')],
  ['alias remove @me', 'Remove alias @me (ext:1)?', hasNot('config.json', '"me"')],
  ['sandbox reset --db FOLDER/world.db', 'Reset FOLDER/world.db, including 1 trade that you added?', isReset],
  [`${sign} --out FOLDER/taken`, 'Replace FOLDER/taken (--out)?', hasNot('taken', 'what was there')],
  ['bundle --out FOLDER/taken', 'Replace FOLDER/taken (--out)?', has('taken', '"sotra"')],
  [
    'follow bulk --file FOLDER/list --report FOLDER/taken',
    'Replace FOLDER/taken (--report)?',
    has('taken', '"status":"applied"'),
  ],
  [
    'webhook exam URL/hook --secret-file FOLDER/secret --junit FOLDER/taken',
    'Replace FOLDER/taken (--junit)?',
    has('taken', '<testsuite name="webhook exam"'),
  ],
  [
    'sandbox import FOLDER/trades.csv --chain base --db FOLDER/world.db --rejects FOLDER/taken',
    'Replace FOLDER/taken (--rejects)?',
    has('taken', '"line":2'),
  ],
  [
    `webhook add-addresses ${uid} --file FOLDER/trades.csv --column usd --rejects FOLDER/taken`,
    'Replace FOLDER/taken (--rejects)?',
    has('taken', '"line":2'),
  ],
];

test.each(irreversible)(
  'sotra %s asks on a terminal, needs --yes elsewhere, and ends with 2 without it',
  async (words, question, isDone) => {
    const here = await place();
    const { env, folder } = here;
    const line = toLine(words, here);
    const asked = `${question.replace('FOLDER', folder)} [y/N] `;
    const piped = await run(line, { env });
    expect(piped).toEqual(failure(2, ': stdin is not a terminal\nhint: Add --yes to do it without asking.\n'));
    expect(await run(`${line} --no-input`, { env, answers: [] })).toEqual(failure(2, ': --no-input is set\n'));
    const refused = await run(line, { env, answers: ['n'] });
    expect(refused).toEqual(failure(2, ': the answer was not yes\n'));
    expect(refused.err).toContain(asked);
    expect(await isDone(here)).toBe(false);
    expect((await run(line, { env, answers: ['y'], skipWaits: true })).err).toContain(asked);
    expect(await isDone(here)).toBe(true);
  },
);

test('--yes does it without a question, even without a terminal', async () => {
  const here = await place();
  for (const [line, , isDone] of irreversible) {
    here.service.requests.splice(0);
    const { err } = await run(`${toLine(line, here)} --yes --no-input`, { env: here.env, skipWaits: true });
    expect([line, err, await isDone(here)]).toEqual([line, expect.not.stringContaining('[y/N]'), true]);
  }
});

test('what loses nothing asks nothing: an alias that stays the same, a world without additions, a file that is new', async () => {
  const { env, folder } = await place();
  const reset = `sandbox reset --db ${folder}/new.db`;
  for (const line of ['alias set @me ext:1', reset, reset, `${sign} --out ${folder}/new.json`])
    expect([line, (await run(line, { env })).code]).toEqual([line, 0]);
  expect(existsSync(join(folder, 'new.json'))).toBe(true);
});
