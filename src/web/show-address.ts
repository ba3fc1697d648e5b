import { spawn } from 'node:child_process';
import type { Context } from '../context.ts';

export interface PageInput {
  open?: boolean | undefined;
  readyFile?: string | undefined;
}

/** Opens the page in the browser, or says where it is: on stderr, unless a ready file holds it. */
export async function showAddress(url: string, { open, readyFile }: PageInput, context: Context): Promise<void> {
  const { note, world } = context;
  if (open && (await openBrowser(url, world.system.platform, world.env['BROWSER'])))
    note('The page is open in the browser.');
  else if (readyFile === undefined || open) await world.io.err.write(`Page, its address works once: ${url}\n`);
}

/** Some that open addresses end at once, and say by their exit code whether they could; others stay. */
const openMs = 1000;

/** Starts what the system opens addresses with, or the program that `BROWSER` names; false where it cannot be started or fails. */
function openBrowser(url: string, platform: string, browser: string | undefined): Promise<boolean> {
  const openers: Record<string, string[]> = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] };
  const [program = '', ...argv] = browser ? [browser] : (openers[platform] ?? ['xdg-open']);
  return new Promise((resolve) => {
    const child = spawn(program, [...argv, url], { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
    child.unref();
    setTimeout(() => resolve(true), openMs).unref();
  });
}
