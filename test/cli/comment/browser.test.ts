import { verify } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { recoverMessageAddress } from 'viem';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { some } from '../../support/size.ts';
import { degen, evmTrader, solanaComment, solanaTrader, swaps, tradersWorld } from '../../support/traders.ts';
import {
  evmWallet,
  openTabs,
  openWallets,
  signOn,
  solanaWallet,
  startSigning,
  type TestWallet,
} from '../../support/wallet-page.ts';

const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen];
const sign = ['comment', 'sign', ...base, '--text', 'gm', '--service-name', 'Example', '--browser'];
const exact = `Example Swap Comment:\nChain: base\nToken Address: ${degen}\nTxn Hash: ${swaps.good}\nComment: gm`;

async function violations(tab: Page): Promise<string[]> {
  await tab.evaluate(axe.source);
  const { violations } = await tab.evaluate<axe.AxeResults>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

test('a wallet is shown the exact text and asked for nothing but its accounts and a signature, and the comment is posted', async () => {
  const { env } = await tradersWorld();
  const text = 'gm\r\n\u202Eevil <img src=x onerror="document.title=1">\n ';
  const argv = ['--sandbox', 'comment', 'post', ...base, '--text', text, '--browser', '--json'];
  const { ui, ended, ready } = await startSigning(argv, { env });
  const { tab, complaints, calls } = await openWallets(await openTabs(), ui, [
    { ...evmWallet, name: '<b>Other</b>\u200B' },
    { ...evmWallet, gives: 'bare' },
  ]);
  const shown = 'evil <img src=x onerror="document.title=1">';
  expect(await tab.locator('.message').textContent()).toContain(`gmU+000DLFU+202E${shown}LF END`);
  expect(await tab.locator('.wallets button').allTextContents()).toEqual(['<b>Other</b>U+200B', 'Test Wallet']);
  await tab.getByRole('button', { name: 'Test Wallet' }).press('Enter');
  await tab.getByRole('radio').waitFor();
  expect(await violations(tab)).toEqual([]);
  await tab.getByRole('button', { name: 'Sign', exact: true }).press('Enter');
  const { code, out } = await ended;
  const message = exact.replace('Example', 'Sandbox').slice(0, -2) + text;
  expect(await calls()).toEqual([
    { method: 'eth_requestAccounts' },
    { method: 'personal_sign', params: [`0x${Buffer.from(message).toString('hex')}`, evmWallet.accounts[0]] },
  ]);
  expect([code, JSON.parse(out).commentText, JSON.parse(out).signerAddress]).toEqual([
    0,
    text,
    evmTrader.address.toLowerCase(),
  ]);
  await expect.poll(() => tab.locator('.result').textContent()).toBe('Signed and posted.');
  expect([await tab.title(), await violations(tab), complaints, existsSync(ready)]).toEqual([
    'Signed · sotra',
    [],
    [],
    false,
  ]);
});

test('a wallet of Solana signs by the Wallet Standard and one of EVM by EIP-6963, and others verify what they signed', async () => {
  const browser = await openTabs();
  const evm = await startSigning([...sign, '--json']);
  await signOn((await openWallets(browser, evm.ui, [evmWallet, solanaWallet])).tab, 'Test Wallet');
  const made = JSON.parse((await evm.ended).out);
  expect([made.message, await recoverMessageAddress(made)]).toEqual([exact, evmTrader.address]);
  const { ui, ended } = await startSigning([
    'comment',
    'sign',
    ...solanaComment,
    '--browser',
    '--encoding',
    'hex',
    '--json',
  ]);
  const { tab, calls } = await openWallets(browser, ui, [evmWallet, solanaWallet]);
  expect(await tab.locator('.wallets button').allTextContents()).toEqual(['Test Phantom']);
  await signOn(tab, 'Test Phantom');
  const { message, signature, signerAddress } = JSON.parse((await ended).out);
  expect((await calls()).map(({ method }) => method)).toEqual(['connect', 'signMessage']);
  const x = Buffer.from(solanaTrader.keypair.slice(32)).toString('base64url');
  const key = { format: 'jwk' as const, key: { kty: 'OKP', crv: 'Ed25519', x } };
  expect([signerAddress, verify(null, Buffer.from(message), key, Buffer.from(signature, 'hex'))]).toEqual([
    solanaTrader.address,
    true,
  ]);
});

const browserOf = async (wallet: Partial<TestWallet>, argv = sign, browser?: ReturnType<typeof openTabs>) => {
  const started = await startSigning(argv);
  const opened = await openWallets(await (browser ?? openTabs()), started.ui, [{ ...evmWallet, ...wallet }]);
  return { ...started, ...opened };
};

test('what the wallet refuses or signs otherwise ends the command with 11 and its reason, on the page too', async () => {
  const browser = openTabs();
  const other = '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF';
  const cases: [Partial<TestWallet>, string][] = [
    [{ fails: { at: 'sign', code: 4001, message: 'User rejected the request.', times: 1 } }, 'refused in the wallet'],
    [{ gives: `0x${'ab'.repeat(130)}` }, 'its signature (EIP-1271) has 130 bytes, not 65'],
    [{ accounts: [other, evmTrader.address] }, `the wallet signed with ${evmTrader.address}, not with ${other}`],
    [{ gives: `0x${'ab'.repeat(96)}${'6492'.repeat(16)}` }, 'its signature is wrapped (ERC-6492)'],
  ];
  for (const [wallet, reason] of some(cases, 2)) {
    const { tab, ended } = await browserOf(wallet, sign, browser);
    await signOn(tab, 'Test Wallet');
    const { code, out, err } = await ended;
    expect([code, out, err.includes(reason)]).toEqual([11, '', true]);
    await expect.poll(() => tab.locator('.result').textContent()).toContain(reason);
  }
});

test('an account that --signer does not name cannot sign; cancelling and the time limit end the command', async () => {
  const browser = openTabs();
  const wanted = '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF';
  const first = await browserOf({}, [...sign, '--signer', wanted], browser);
  await first.tab.getByRole('button', { name: 'Test Wallet' }).click();
  await expect.poll(() => first.tab.getByRole('alert').textContent()).toContain('offers other accounts');
  expect(await first.tab.getByRole('button', { name: 'Sign', exact: true }).isDisabled()).toBe(true);
  await first.tab.getByRole('button', { name: 'Cancel' }).click();
  expect(await first.ended).toMatchObject({ code: 11, out: '' });
  const second = await browserOf({ hangs: true }, [...sign, '--timeout', '2s'], browser);
  await signOn(second.tab, 'Test Wallet');
  expect((await second.ended).code).toBe(124);
  await expect.poll(() => second.tab.locator('.result').textContent()).toContain('within 2 s');
});

test('a batch is signed one after the other; what was posted before it was left is not signed again', async () => {
  const { env, folder } = await tradersWorld();
  const file = join(folder, 'batch.ndjson');
  const lines = [swaps.good, swaps.second, swaps.third].map((tx, index) => ({
    ...{ chain: 'base', transactionHash: tx, tokenAddress: degen },
    commentText: `comment ${index}`,
  }));
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const argv = ['--sandbox', 'comment', 'post', '--from', file, '--browser', '--format', 'ndjson'];
  const browser = await openTabs();
  const first = await startSigning(argv, { env });
  const fails = { at: 'sign', code: 4001, message: 'no', times: 1, after: 1 } as const;
  const { tab } = await openWallets(browser, first.ui, [{ ...evmWallet, fails }]);
  expect(await tab.locator('.message').count()).toBe(3);
  await signOn(tab, 'Test Wallet');
  const left = await first.ended;
  expect([left.code, left.out.match(/"result":"[^"]*"/g), left.err]).toEqual([
    10,
    ['"result":"posted"'],
    expect.stringContaining('stopped with 2 of 3 comments left; line 2: refused in the wallet'),
  ]);
  const second = await startSigning(argv, { env });
  const again = await openWallets(browser, second.ui, [evmWallet]);
  await signOn(again.tab, 'Test Wallet');
  const { code, out } = await second.ended;
  expect([code, out.match(/"result":"[^"]*"/g)]).toEqual([
    0,
    ['"result":"posted before"', '"result":"posted"', '"result":"posted"'],
  ]);
  expect((await again.calls()).map(({ method }) => method)).toEqual([
    'eth_requestAccounts',
    'personal_sign',
    'personal_sign',
  ]);
});

test('on a terminal without a key, Enter is the browser; flags of the page need it, and a key is not given with it', async () => {
  const words = sign.slice(0, -1);
  const failing = join(temporaryFolder(), 'browser');
  writeFileSync(failing, '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  const asked = await run([...words, '--timeout', '1ms'], { answers: [''], env: { BROWSER: failing } });
  expect([asked.code, asked.err]).toEqual([
    124,
    expect.stringMatching(
      /^Press Enter to sign with your wallet in the browser, or type the key\.\n.*its address works once: http:\/\/127/s,
    ),
  ]);
  const refused = async (more: string) => (await run([...words, ...more.split(' ')])).err;
  expect(await refused('--open')).toContain('--open would do nothing without --browser');
  expect(await refused(`--browser --signer ${solanaTrader.address}`)).toContain(': must be an EVM address');
  expect(await refused('--browser --key-env KEY')).toContain('--key-env and --browser contradict each other');
  const dry = await run([...sign, '--dry-run']);
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('  5  Comment: | gm\n')]);
});
