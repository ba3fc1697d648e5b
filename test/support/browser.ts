import axe from 'axe-core';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { launchBrowser } from './chromium.ts';

/** A browser that closes when the test ends. */
export async function openBrowser(): Promise<Browser> {
  const browser = await launchBrowser();
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

/** What axe-core finds on a page. */
export async function violationsOf(tab: Page): Promise<string[]> {
  await tab.evaluate(axe.source);
  const { violations } = await tab.evaluate<axe.AxeResults>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** The rows of a table, without its head. */
export function tableRows(tab: Page, table: string): Locator {
  return tab.getByRole('table', { name: table }).locator('tbody tr:has(th)');
}

/** How much two pixels may differ in a channel, and the share of pixels that may differ more: text is drawn otherwise on other machines. */
const [maxStep, maxShare] = [48, 0.02];

/** Whether two PNG files of one size show the same, compared by a browser. */
export async function samePicture(context: BrowserContext, one: Buffer, other: Buffer): Promise<boolean> {
  const tab = await context.newPage();
  try {
    const share = await tab.evaluate<number>(`(async () => {
      const read = async (text) => {
        const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
        const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
        canvas.drawImage(picture, 0, 0);
        return canvas.getImageData(0, 0, picture.width, picture.height);
      };
      const [one, other] = [await read('${one.toString('base64')}'), await read('${other.toString('base64')}')];
      if (one.width !== other.width || one.height !== other.height) return 1;
      let different = 0;
      for (let at = 0; at < one.data.length; at += 4)
        if ([0, 1, 2].some((channel) => Math.abs(one.data[at + channel] - other.data[at + channel]) > ${maxStep})) different += 1;
      return different / (one.width * one.height);
    })()`);
    return share <= maxShare;
  } finally {
    await tab.close();
  }
}
