import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as launcher } from 'playwright-core';

/** A browser of its own package, or an installed Chrome where that one does not run. */
export async function launchBrowser(): Promise<Browser> {
  const installed = ['/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
  const executablePath =
    process.platform === 'linux' ? await chromium.executablePath() : (installed.find(existsSync) ?? '');
  // Pages are held apart as in every browser, which that package turns off.
  const args = chromium.args.filter((each) => !/web-security|insecure|isolat/.test(each));
  return launcher.launch({ executablePath, args });
}
