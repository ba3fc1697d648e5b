import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
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
