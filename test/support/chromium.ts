import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import type { Browser } from 'playwright-core';

const installed = ['/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** A browser of its own package, unpacked before the tests, or an installed Chrome if that one does not run. */
export async function browserPath(): Promise<string> {
  const unpacked = process.env['SOTRA_TEST_BROWSER'];
  if (unpacked !== undefined) return unpacked;
  return process.platform === 'linux' ? chromium.executablePath() : (installed.find(existsSync) ?? '');
}

/** With the isolation of sites and the other protections that the package turns off. */
const browserArgs = [
  ...chromium.args.filter((each) => !/web-security|insecure|isolat|gl=|angle|swiftshader|gpu/.test(each)),
  '--disable-gpu',
];

export async function launchBrowser(): Promise<Browser> {
  // Loaded only here: unpacking the browser does not need it.
  const playwright = await import('playwright-core');
  return playwright.chromium.launch({ executablePath: await browserPath(), args: browserArgs });
}
