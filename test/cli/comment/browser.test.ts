import { verify } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { recoverMessageAddress } from 'viem';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';
import { long } from '../../support/size.ts';
import {
  bonk,
  degen,
  evmTrader,
  recode,
  solanaComment,
  solanaTrader,
  swaps,
  tradersWorld,
} from '../../support/traders.ts';
import { evmWallet, openTabs, openWallets, signOn, solanaWallet, startSigning } from '../../support/wallet-page.ts';

const base = ['--chain', 'base', '--tx', swaps.good, '--token', degen];
const sign = ['comment', 'sign', ...base, '--text', 'gm', '--service-name', 'Example', '--browser'];
const exact = `Example Swap Comment:\nChain: base\nToken Address: ${degen}\nTxn Hash: ${swaps.good}\nComment: gm`;

async function violations(tab: Page): Promise<string[]> {
  await tab.evaluate(axe.source);
  const { violations } = await tab.evaluate<axe.AxeResults>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

long(
  'a wallet is shown the exact text and asked for nothing but its accounts and a signature, and the comment is posted',
  async () => {
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
  },
);

long(
  'a wallet of Solana signs by the Wallet Standard and one of EVM by EIP-6963, and others verify what they signed',
  async () => {
    const browser = await openTabs();
    const evm = await startSigning([...sign, '--json']);
    await signOn((await openWallets(browser, evm.ui, [evmWallet, solanaWallet])).tab, 'Test Wallet');
    const made = JSON.parse((await evm.ended).out);
    expect([made.message, await recoverMessageAddress(made)]).toEqual([exact, evmTrader.address]);
    const { ui, ended } = await startSigning(['comment', 'sign', ...solanaComment, '--browser', '--json']);
    const { tab, calls } = await openWallets(browser, ui, [evmWallet, solanaWallet]);
    expect(await tab.locator('.wallets button').allTextContents()).toEqual(['Test Phantom']);
    await signOn(tab, 'Test Phantom');
    const { message, signature, signerAddress } = JSON.parse((await ended).out);
    expect((await calls()).map(({ method }) => method)).toEqual(['connect', 'signMessage']);
    const x = Buffer.from(solanaTrader.keypair.slice(32)).toString('base64url');
    const key = { format: 'jwk' as const, key: { kty: 'OKP', crv: 'Ed25519', x } };
    expect([
      signerAddress,
      verify(null, Buffer.from(message), key, Buffer.from(recode(signature, 'hex'), 'hex')),
    ]).toEqual([solanaTrader.address, true]);
  },
);

test('on a terminal without a key, Enter is the browser; flags of the page need it, and a key is not given with it', async () => {
  const words = sign.slice(0, -1);
  const [failing, opened] = [join(temporaryFolder(), 'browser'), join(temporaryFolder(), 'opened')];
  writeFileSync(failing, `#!/bin/sh\necho "$1" > '${opened}'\nexit 3\n`, { mode: 0o755 });
  const asked = await run([...words, '--timeout', '1ms'], { answers: [''], env: { BROWSER: failing } });
  expect([asked.code, asked.err]).toEqual([
    124,
    expect.stringMatching(
      /^Press Enter to sign with your wallet in the browser, or type the key\.\n.*which works once: http:\/\/127/s,
    ),
  ]);
  await expect.poll(() => existsSync(opened)).toBe(true);
  const named = await run([...sign, '--timeout', '1ms'], { env: { BROWSER: failing } });
  expect([named.code, named.err]).toEqual([124, expect.stringContaining('which works once: http://127')]);
  const refused = async (more: string) => (await run([...words, ...more.split(' ')])).err;
  expect(await refused(`--browser --signer ${solanaTrader.address}`)).toContain(': must be an EVM address');
  const onSolana = ['--chain', 'solana', '--tx', swaps.solana, '--token', bonk];
  const other = await run([
    'comment',
    'sign',
    ...onSolana,
    '--text',
    'gm',
    '--service-name',
    'Example',
    '--browser',
    '--signer',
    evmTrader.address,
  ]);
  expect([other.code, other.err]).toEqual([
    2,
    expect.stringContaining(': must be a Solana address (32 bytes in base58)'),
  ]);
  expect(await refused('--browser --key-env KEY')).toContain('--key-env and --browser contradict each other');
  const dry = await run([...sign, '--dry-run']);
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('  5  Comment: | gm\n')]);
});
