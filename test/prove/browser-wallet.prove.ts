import { verify } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { recoverMessageAddress } from 'viem';
import { expect, test } from 'vitest';
import { failure, temporaryFolder } from '../support/harness.ts';
import { naughty } from '../support/hostile/corpus.ts';
import { degen, evmTrader, recode, solanaComment, solanaTrader, swaps, tradersWorld } from '../support/traders.ts';
import {
  evmWallet,
  openTabs,
  openWallets,
  signOn,
  solanaWallet,
  startSigning,
  type TestWallet,
} from '../support/wallet-page.ts';

const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--text', 'gm'];
const sign = ['comment', 'sign', ...base, '--service-name', 'Example', '--browser', '--json'];
const exactly = (name: string) => ({ name, exact: true });

async function start(wallet: Partial<TestWallet> = {}, argv: readonly string[] = sign, browser?: BrowserContext) {
  const tabs = browser ?? (await openTabs());
  const started = await startSigning(argv);
  const opened = await openWallets(tabs, started.ui, [{ ...evmWallet, ...wallet }]);
  return { ...started, ...opened, tabs };
}

const resultOn = (tab: Page) => tab.locator('.result').textContent();

test('an EVM or Solana wallet gets requests only for accounts and for a signature of the exact text, which other libraries verify', async () => {
  const tabs = await openTabs();
  const exact = `Example Swap Comment:\nChain: base\nToken Address: ${degen}\nTxn Hash: ${swaps.good}\nComment: gm`;
  const evm = await start({ gives: 'bare' }, sign, tabs);
  await signOn(evm.tab, 'Test Wallet');
  const made = JSON.parse((await evm.ended).out);
  expect([made.message, await recoverMessageAddress(made)]).toEqual([exact, evmTrader.address]);
  expect(await evm.calls()).toEqual([
    { method: 'eth_requestAccounts' },
    { method: 'personal_sign', params: [`0x${Buffer.from(exact).toString('hex')}`, evmWallet.accounts[0]] },
  ]);
  expect([evm.complaints, existsSync(evm.ready)]).toEqual([[], false]);
  const signer = ['--signer', `solana:${solanaTrader.address}`];
  const { ui, ended } = await startSigning(['comment', 'sign', ...solanaComment, ...signer, '--browser', '--json']);
  const { tab, calls } = await openWallets(tabs, ui, [evmWallet, solanaWallet]);
  expect(await tab.locator('.wallets button').allTextContents()).toEqual(['Test Phantom']);
  await signOn(tab, 'Test Phantom');
  const { message, signature, signerAddress } = JSON.parse((await ended).out);
  expect((await calls()).map(({ method }) => method)).toEqual(['connect', 'signMessage']);
  const x = Buffer.from(solanaTrader.keypair.slice(32)).toString('base64url');
  const key = { format: 'jwk' as const, key: { kty: 'OKP', crv: 'Ed25519', x } };
  const isSigned = verify(null, Buffer.from(message), key, Buffer.from(recode(signature, 'hex'), 'hex'));
  expect([signerAddress, isSigned]).toEqual([solanaTrader.address, true]);
});

test('a locked wallet, one that waits already and a refused connection are put right on the page', async () => {
  const tabs = await openTabs();
  const cases = [
    ['connect', 4100, 'locked', 'Unlock it, then try again'],
    ['connect', -32002, 'Request already pending', 'It is already waiting for you'],
    ['connect', 4001, 'User rejected the request.', 'you refused to connect Test Wallet'],
    ['sign', 4100, 'not authorized', 'Unlock it, then try again'],
  ] as const;
  for (const [at, code, message, said] of cases) {
    const { tab, ended, shown } = await start({ fails: { at, code, message, times: 1 } }, sign.slice(0, -1), tabs);
    await tab.getByRole('button', exactly('Test Wallet')).click();
    if (at === 'sign') await tab.getByRole('button', exactly('Sign')).click();
    await tab.getByText(said).waitFor();
    await expect.poll(() => shown.err).toContain(`The page says: `);
    if (at === 'sign') await tab.getByRole('button', exactly('Sign')).click();
    else await signOn(tab, 'Test Wallet');
    expect([at, code, (await ended).code]).toEqual([at, code, 0]);
  }
});

test('without a wallet, or with an account of none, the page says what to do and cannot sign', async () => {
  const tabs = await openTabs();
  const { ui, ended } = await startSigning([...sign, '--timeout', '3s']);
  const { tab } = await openWallets(tabs, ui, []);
  await tab.getByText('No EVM wallet was found in this browser.').waitFor();
  expect(await tab.getByRole('button', exactly('Sign')).isDisabled()).toBe(true);
  expect((await ended).code).toBe(124);
  for (const accounts of [[], null as never]) {
    const empty = await start({ accounts }, sign, tabs);
    await empty.tab.getByRole('button', exactly('Test Wallet')).click();
    await empty.tab.getByText('Test Wallet gave no account: unlock it').waitFor();
  }
  const odd = await start({ accounts: ['0x12'] }, sign, tabs);
  await signOn(odd.tab, 'Test Wallet');
  await odd.tab.getByText('account 0x12: must be an EVM address').waitFor();
});

test('a closed tab, Ctrl-C and a wallet that fails end the command, and nothing is signed', async () => {
  const tabs = await openTabs();
  const closed = await start({ hangs: true }, sign, tabs);
  await signOn(closed.tab, 'Test Wallet');
  await closed.tab.close();
  expect(await closed.ended).toMatchObject(failure(11, 'the page was closed'));
  const stopped = await start({ hangs: true }, sign, tabs);
  await signOn(stopped.tab, 'Test Wallet');
  await stopped.tab.getByText('Confirm in your wallet').waitFor();
  stopped.stop();
  expect((await stopped.ended).code).toBe(130);
  await expect.poll(() => resultOn(stopped.tab)).toContain('interrupted');
  const fails = { at: 'sign', code: -32603, message: 'no \u202E device', times: 9 } as const;
  const failing = await start({ fails }, sign, tabs);
  await signOn(failing.tab, 'Test Wallet');
  expect(await failing.ended).toMatchObject({ code: 11, err: expect.stringContaining('no <U+202E> device') });
});

test('a page of an earlier run, a second use and another sender sign nothing', async () => {
  const first = await start({ hangs: true });
  await signOn(first.tab, 'Test Wallet');
  first.stop();
  await first.ended;
  const second = await start({ hangs: true }, sign, first.tabs);
  await signOn(second.tab, 'Test Wallet');
  await second.tab.getByText('Confirm in your wallet').waitFor();
  const { origin } = new URL(second.ui);
  const asked = (path: string, body: unknown, headers: Record<string, string>) =>
    fetch(`${origin}/api/wallet/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, ...headers },
      body: JSON.stringify(body),
    });
  const own = { 'x-sotra-session': await second.tab.evaluate<string>(`sessionStorage.getItem('sotra-session')`) };
  const state = await (await asked('account', { address: evmTrader.address }, own)).json();
  const { id } = (state as { asked: { id: string } }).asked;
  const good = await (async () => {
    const { ui, ended } = await startSigning(sign);
    const { tab } = await openWallets(first.tabs, ui, [evmWallet]);
    await signOn(tab, 'Test Wallet');
    return JSON.parse((await ended).out).signature as string;
  })();
  const body = { id, signature: good };
  const statusOf = async (sent: unknown, headers: Record<string, string>) =>
    (await asked('signature', sent, headers)).status;
  expect(await statusOf(body, {})).toBe(401);
  expect(await statusOf(body, { 'x-sotra-session': 'AAAA' })).toBe(401);
  expect(await statusOf(body, { ...own, origin: 'http://127.0.0.1:1' })).toBe(403);
  expect(await statusOf({ ...body, id: 'of-another-run' }, own)).toBe(400);
  expect(await statusOf(body, own)).toBe(200);
  // The command ends with the first.
  expect(await statusOf(body, own).catch(() => 'gone')).not.toBe(200);
  expect(JSON.parse((await second.ended).out).signature).toBe(good);
  expect(await statusOf(body, own).catch(() => 'gone')).toBe('gone');
});

test('names of wallets and texts of comments stay text: 200 naughty ones are signed byte for byte', async () => {
  const folder = temporaryFolder();
  const texts = naughty.filter((text) => text !== '' && !/\p{Surrogate}/u.test(text)).slice(0, 200);
  const hash = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;
  const fixed = { chain: 'base', tokenAddress: degen };
  const lines = texts.map((commentText, index) => ({ ...fixed, transactionHash: hash(index + 1), commentText }));
  const file = join(folder, 'naughty.ndjson');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { ui, ended } = await startSigning([
    ...['comment', 'sign', '--file', file, '--service-name', 'Example', '--browser', '--format', 'ndjson'],
  ]);
  const named = naughty.slice(0, 500).map((name) => ({ ...evmWallet, name }));
  const { tab, complaints, calls } = await openWallets(await openTabs(), ui, [...named, evmWallet]);
  expect(await tab.locator('.wallets button').count()).toBe(named.length + 1);
  expect(await tab.locator('#app img, #app script, #app svg, #app iframe').count()).toBe(0);
  await signOn(tab, 'Test Wallet');
  const signed = (await ended).out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const asked = (await calls()).slice(1).map(({ params }) => params?.[0]);
  expect(asked).toEqual(signed.map(({ message }) => `0x${Buffer.from(message).toString('hex')}`));
  expect(signed.map(({ commentText }) => commentText)).toEqual(texts);
  for (const each of signed) expect(await recoverMessageAddress(each)).toBe(evmTrader.address);
  expect([signed.length, complaints, await tab.title()]).toEqual([200, [], 'Signed · sotra']);
}, 120_000);

test('the page works from 360 to 1920 pixels, light and dark, by keyboard alone and for axe', async () => {
  const { tab, ended } = await start();
  await tab.evaluate(axe.source);
  await tab.getByRole('button', exactly('Test Wallet')).focus();
  await tab.keyboard.press('Enter');
  await tab.getByRole('radio').waitFor();
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 768, 1920]) {
      await tab.emulateMedia({ colorScheme });
      await tab.setViewportSize({ width, height: 800 });
      const { violations } = await tab.evaluate<axe.AxeResults>('axe.run()');
      const isWider = await tab.evaluate<boolean>(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      );
      expect([colorScheme, width, violations.map((each) => each.id), isWider]).toEqual([colorScheme, width, [], false]);
    }
  const focused = () => tab.evaluate<string>('document.activeElement.textContent || document.activeElement.type');
  await tab.keyboard.press('Tab');
  expect(await focused()).toBe('radio');
  await tab.keyboard.press('Tab');
  expect(await focused()).toBe('Sign');
  await tab.keyboard.press('Enter');
  expect((await ended).code).toBe(0);
});

const plainSign = sign.slice(0, -1);

test('what the wallet refuses or signs otherwise ends the command with 11 and its reason, on the page too', async () => {
  const browser = await openTabs();
  const solanaSign = ['comment', 'sign', ...solanaComment, '--browser'];
  const other = '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF';
  const refusal = { at: 'sign', code: 4001, message: 'User rejected the request.', times: 1 } as const;
  const cases: [argv: readonly string[], wallet: Partial<TestWallet>, reason: string][] = [
    [plainSign, { fails: refusal }, 'refused in the wallet'],
    [plainSign, { gives: `0x${'ab'.repeat(130)}` }, 'its signature (EIP-1271 or ERC-6492) has 130 bytes, not 65'],
    [plainSign, { accounts: [other, evmTrader.address] }, `the signature of ${evmTrader.address}, not of ${other}`],
    [solanaSign, { ...solanaWallet, gives: 'changed' }, 'the wallet failed: it signed another text than it was given'],
    [solanaSign, { ...solanaWallet, gives: `0x${'11'.repeat(64)}` }, 'signed another text, or with another account'],
    [solanaSign, { ...solanaWallet, gives: '0x1122' }, 'is not base58 text of 64 bytes'],
  ];
  for (const [argv, wallet, reason] of cases) {
    const { tab, ended } = await start(wallet, argv, browser);
    await signOn(tab, wallet.name ?? 'Test Wallet');
    expect(await ended).toMatchObject(failure(11, reason));
    await expect.poll(() => resultOn(tab)).toContain(reason);
  }
});

test('an account that --signer does not name cannot sign; cancelling and the time limit end the command', async () => {
  const browser = await openTabs();
  const wanted = '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF';
  const first = await start({}, [...plainSign, '--signer', wanted], browser);
  await first.tab.getByRole('button', { name: 'Test Wallet' }).click();
  await expect.poll(() => first.tab.getByRole('alert').textContent()).toContain('offers other accounts');
  expect(await first.tab.getByRole('button', { name: 'Sign', exact: true }).isDisabled()).toBe(true);
  await first.tab.getByRole('button', { name: 'Cancel' }).click();
  expect(await first.ended).toMatchObject({ code: 11, out: '' });
  const second = await start({ hangs: true }, [...plainSign, '--timeout', '2s'], browser);
  await signOn(second.tab, 'Test Wallet');
  expect((await second.ended).code).toBe(124);
  await expect.poll(() => resultOn(second.tab)).toContain('within 2 s');
});

test('a batch is signed one after the other; what was posted before it was left is not signed again', async () => {
  const { env, folder } = await tradersWorld();
  const file = join(folder, 'batch.ndjson');
  const lines = [swaps.good, swaps.second, swaps.third].map((tx, index) => ({
    chain: 'base',
    transactionHash: tx,
    tokenAddress: degen,
    commentText: `gm ${index}\r\n\u202Eevil`,
  }));
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const argv = ['--sandbox', 'comment', 'post', '--file', file, '--browser', '--format', 'ndjson'];
  const browser = await openTabs();
  const first = await startSigning(argv, { env });
  const fails = { at: 'sign', code: 4001, message: 'no', times: 1, after: 1 } as const;
  const { tab } = await openWallets(browser, first.ui, [{ ...evmWallet, fails }]);
  expect(await tab.locator('.message').count()).toBe(3);
  expect(await tab.locator('.message').first().textContent()).toContain('gm 0U+000DLFU+202Eevil');
  await signOn(tab, 'Test Wallet');
  const left = await first.ended;
  expect([left.code, left.out.match(/"result":"[^"]*"/g), left.err]).toEqual([
    10,
    ['"result":"posted"'],
    expect.stringContaining('stopped with 2 of 3 comments left; line 2: refused in the wallet'),
  ]);
  const second = await startSigning(argv, { env });
  const again = await openWallets(browser, second.ui, [{ ...evmWallet, name: '<b>Other</b>\u200B' }]);
  await signOn(again.tab, '<b>Other</b>U+200B');
  const { code, out } = await second.ended;
  expect([code, ...(out.match(/"result":"[^"]*"/g) ?? [])]).toEqual([
    0,
    '"result":"posted before"',
    '"result":"posted"',
    '"result":"posted"',
  ]);
  await expect.poll(() => resultOn(again.tab)).toBe('Signed and posted.');
  const asked = (await again.calls()).map(({ method }) => method);
  expect(asked).toEqual(['eth_requestAccounts', 'personal_sign', 'personal_sign']);
  writeFileSync(file, `${JSON.stringify(lines[0])}\n`.repeat(2));
  const twice = await start({}, ['--sandbox', 'comment', 'sign', '--file', file, '--browser'], browser);
  await signOn(twice.tab, 'Test Wallet');
  expect((await twice.ended).code).toBe(0);
  await expect.poll(() => twice.tab.locator('.status').allTextContents()).toEqual(['signed', 'signed']);
});
