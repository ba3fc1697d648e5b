import { type Browser, chromium } from 'playwright-core';
import { browserArgs, browserPath } from './chromium.ts';

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await browserPath(), args: browserArgs });
}
