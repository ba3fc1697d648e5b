import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';

const signer = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
const comment =
  '--chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm';
/** Over the text of the sandbox. */
const signature =
  '0xd295006801756382610ed2ad14fdab264e0d366423790afa93134a437ff8a5543a335a95eebfef1dca0dc26ae12b9a8bef546f5d21ba94b1eda165bd5644b2901c';

/** Signs with a command, which finds what it is given in files beside it. */
async function signBy(command: string, more = `--signer ${signer}`, options: Parameters<typeof run>[1] = {}) {
  const argv = `--sandbox comment sign ${comment} ${more} --json`.split(' ').filter(Boolean);
  return run([...argv, '--signer-command', command], options);
}

test('a command gets the exact text and signs it; the API key is not in its environment', async () => {
  const folder = temporaryFolder();
  const [text, env] = [join(folder, 'text'), join(folder, 'env')];
  const command = `cat > '${text}'; env > '${env}'; echo ${signature}`;
  const secret = { SOTRA_API_KEY: 'key-that-stays', HOME: folder, PATH: String(process.env['PATH']) };
  const { code, out } = await signBy(command, undefined, { env: secret });
  expect(code).toBe(0);
  const signed = JSON.parse(out);
  expect(signed).toMatchObject({ signature, signerAddress: signer, commentText: 'gm' });
  expect(readFileSync(text, 'utf8')).toBe(signed.message);
  expect(readFileSync(env, 'utf8')).toContain(`HOME=${folder}`);
  expect(readFileSync(env, 'utf8')).not.toContain('key-that-stays');
});

const unverified = 'the signature just made does not verify (';

test.each([
  ['exit 3', '--signer-command ended with 3: nothing was signed'],
  ['true', '--signer-command printed no signature'],
  ['echo 0x12', unverified],
  [`echo ${signature.replace('d2', 'd3')}`, unverified],
  ["printf '%04096d' 0", unverified],
  ["printf '%04097d' 0", '--signer-command printed more than a signature'],
])('what is no signature of the signer is not used: %s', async (command, message) => {
  const { code, out, err } = await signBy(command);
  expect([code, out, JSON.parse(err).error.message.slice(0, message.length)]).toEqual([11, '', message]);
});

test('a command that is not used any more is ended, and what it prints on is not read', async () => {
  const pid = join(temporaryFolder(), 'pid');
  expect((await signBy(`echo $$ > '${pid}'; exec yes 0123456789`)).code).toBe(11);
  const isThere = () => spawnSync('kill', ['-0', readFileSync(pid, 'utf8').trim()]).status === 0;
  onTestFinished(() => void spawnSync('kill', ['-9', readFileSync(pid, 'utf8').trim()]));
  await expect.poll(isThere).toBe(false);
});

test('a command that takes too long is ended, and so is one when the user gives up', async () => {
  const late = await signBy('exec sleep 60', `--signer ${signer} --timeout 100ms`);
  expect([late.code, JSON.parse(late.err).error]).toMatchObject([
    124,
    {
      message: '--signer-command did not sign within 0.1 s: nothing was signed',
      hint: expect.stringMatching(/^Wait longer: --timeout 200ms\./),
    },
  ]);
  const left = join(temporaryFolder(), 'left');
  onTestFinished(() => void spawnSync('kill', [readFileSync(left, 'utf8').trim()]));
  const leaving = await signBy(`sleep 60 & echo $! > '${left}'; echo 0x12`, `--signer ${signer} --timeout 500ms`);
  expect(leaving.code).toBe(124);
  const stopping = new AbortController();
  const started = join(temporaryFolder(), 'started');
  const stopped = signBy(`touch '${started}'; exec sleep 60`, undefined, { signal: stopping.signal });
  await expect.poll(() => existsSync(started)).toBe(true);
  stopping.abort();
  expect(await stopped).toMatchObject({ code: 130 });
});

test('comment post signs by a command too, one or many; a dry run does not start it', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, PATH: String(process.env['PATH']) };
  const words = `--sandbox comment post ${comment} --signer ${signer} --yes --json`.split(' ');
  const command = ['--signer-command', `touch '${join(folder, 'started')}'; echo ${signature}`];
  const dry = await run([...words, ...command, '--dry-run'], { env });
  expect([dry.code, JSON.parse(dry.out)]).toMatchObject([0, { layout: 'five-line', commentText: 'gm' }]);
  expect(existsSync(join(folder, 'started'))).toBe(false);
  const shown = await run([...words.slice(0, -2), ...command, '--curl'], { env });
  expect(shown.out).toContain(signature);
  // It is sent: the sandbox looks into the trade.
  const posted = await run([...words, ...command], { env });
  expect([posted.code, JSON.parse(posted.err).error.message]).toEqual([
    6,
    expect.stringContaining("that trade is not the signer's own"),
  ]);
  await run([...words, command.join('=')], { env });
  const log = readFileSync(join(folder, 'history', 'calls.ndjson'), 'utf8');
  expect([log.includes('/v1/swap-comments'), log.includes('touch ')]).toEqual([true, false]);
  const file = join(folder, 'many.ndjson');
  const [, , chain, , transactionHash, , tokenAddress] = ['', ...comment.split(' ')];
  writeFileSync(file, `${JSON.stringify({ chain, transactionHash, tokenAddress, commentText: 'gm' })}\n`);
  const many = await run(
    [...`--sandbox comment sign --file ${file} --signer ${signer} --json`.split(' '), ...command],
    { env },
  );
  expect(JSON.parse(many.out)).toMatchObject([{ signature, signerAddress: signer }]);
});
