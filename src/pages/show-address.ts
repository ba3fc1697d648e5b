import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from '../context.ts';
import type { Io } from '../lib/io.ts';
import type { ServedPage } from './serve.ts';

export interface PageInput {
  open?: boolean | undefined;
  readyFile?: string | undefined;
}

type Page = Pick<ServedPage, 'url' | 'newUrl' | 'closing'>;

/**
 * Prints the link of a page on stderr and opens the browser if asked to; with a ready file and no browser, prints nothing. Enter on a terminal
 * prints another link, for another browser.
 */
export async function showAddress(page: Page, { open, readyFile }: PageInput, context: Context): Promise<void> {
  const { io, options } = context;
  const renews = io.in.isTTY === true && !options.noInput && io.in.isForeground?.() !== false;
  const more = renews ? '; press Enter for a new one' : '';
  if (open || readyFile === undefined) await io.err.write(`Open this link, which works once${more}: ${page.url}\n`);
  if (renews) void renew(page, io);
  if (open) await openBrowser(page, io);
}

async function renew({ newUrl, closing }: Page, io: Io): Promise<void> {
  const lines = io.in[Symbol.asyncIterator]();
  const end = () => void lines.return?.();
  closing.addEventListener('abort', end, { once: true });
  try {
    for (let next = await lines.next(); !next.done && !closing.aborted; next = await lines.next())
      await io.err.write(`Open this link, which works once: ${newUrl()}\n`);
  } catch {
    // The terminal is gone, or the command ends.
  } finally {
    closing.removeEventListener('abort', end);
  }
}

/** Through a private file: every local user can read the arguments of a program. */
async function openBrowser({ url, closing }: Page, io: Io): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-open-'));
  const file = join(folder, 'open.html');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  closing.addEventListener('abort', remove, { once: true });
  const text = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${url}"><title>sotra</title>\n`;
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  const { default: start } = await import('open');
  const program = io.env['BROWSER'];
  await start(pathToFileURL(file).href, program ? { app: { name: program } } : {}).catch(() =>
    io.err.write('No browser can be started here: open the address above by hand.\n'),
  );
}
