import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as launcher, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** A browser of its own package, or an installed Chrome where that one does not run; it closes when the test ends. */
export async function openBrowser(): Promise<Browser> {
  const installed = ['/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
  const executablePath =
    process.platform === 'linux' ? await chromium.executablePath() : (installed.find(existsSync) ?? '');
  // Pages are held apart as in every browser, which that package turns off.
  const args = chromium.args.filter((each) => !/web-security|insecure|isolat/.test(each));
  const browser = await launcher.launch({ executablePath, args });
  onTestFinished(() => browser.close());
  return browser;
}

/** What the page's console and its errors say. */
export function complaintsOf(tab: Page): string[] {
  const said: string[] = [];
  tab.on('console', (line) => ['error', 'warning'].includes(line.type()) && said.push(line.text()));
  tab.on('pageerror', (error) => said.push(error.message));
  return said;
}
